"""What happened, as it happens: small values in the order of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from deltafold.completion import ToolCall

_MISSING = object()


class ByValue:
    """Equality by class name and members, so that the values of both engines compare."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Compare with a value of the same kind, of whichever engine."""
        if type(other) is not type(self) and type(other).__name__ != type(self).__name__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name, _MISSING) for name in self.__match_args__)

    def __hash__(self) -> int:
        """Hash the members; a value with a dict in it is not hashable."""
        return hash((type(self).__name__, *(getattr(self, name) for name in self.__match_args__)))


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
