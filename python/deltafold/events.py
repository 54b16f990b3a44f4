"""What happened, as it happens: small values in the order of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from deltafold.completion import ToolCall

_MISSING = object()


_FOR_PEOPLE = frozenset({"detail"})
"""Members that never count in a comparison (Q1)."""


def compared_names(value: object) -> list[str]:
    """Give the names of the members that count in a comparison."""
    names: tuple[str, ...] = getattr(type(value), "__match_args__", ())
    return [name for name in names if name not in _FOR_PEOPLE]


def equal(value: object, other: object) -> bool:
    """Compare a value with one of the same class name and members, of whichever engine."""
    if type(other) is not type(value) and type(other).__name__ != type(value).__name__:
        return False
    return all(getattr(value, name) == getattr(other, name, _MISSING) for name in compared_names(value))


def hashed(value: object) -> int:
    """Hash what is compared; a value with a dict in it is not hashable."""
    return hash((type(value).__name__, *(getattr(value, name) for name in compared_names(value))))


class ByValue:
    """Equality by class name and members, so that the values of both engines compare."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Compare with a value of the same kind, of whichever engine."""
        return equal(self, other)

    def __hash__(self) -> int:
        """Hash the members; a value with a dict in it is not hashable."""
        return hashed(self)


@dataclass(frozen=True, slots=True, eq=False)
class TextDelta(ByValue):
    """More of a choice's answer: `text` is never empty (X1)."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ReasoningDelta(ByValue):
    """More of a choice's reasoning: `text` is never empty (X1)."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class RefusalDelta(ByValue):
    """More of a choice's refusal: `text` is never empty (X1)."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolCallStart(ByValue):
    """A call is identified; the identity shown here never changes (I11). `call` is its position."""

    choice: int
    call: int
    id: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolCallDelta(ByValue):
    """More of a call's arguments (A1): `arguments` is never empty and comes after the call's start."""

    choice: int
    call: int
    arguments: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolCallEnd(ByValue):
    """A call is over (A3); `tool_call` is the whole of it."""

    choice: int
    call: int
    tool_call: ToolCall


@dataclass(frozen=True, slots=True, eq=False)
class Finish(ByValue):
    """A finish reason that differs from the one that stood (E1), raw."""

    choice: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Usage(ByValue):
    """Token counts as sent (U1); the last one stands."""

    usage: dict[str, Any]


Event: TypeAlias = (
    TextDelta | ReasoningDelta | RefusalDelta | ToolCallStart | ToolCallDelta | ToolCallEnd | Finish | Usage
)
"""Any event."""
