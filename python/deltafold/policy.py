"""The choices that the contract leaves open (I12), and the limits of a response (S8)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

Identity = Literal["first", "last"]
SharedIndex = Literal["split", "merge"]
MissingId = Literal["synthesize", "empty", "reject"]

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What to do where gateways disagree about tool calls (I12).

    identity: "first" accepted id and name stand, or the "last" replaces the one before.
    shared_index: a new call at an index in use is "split" off, or a usable index alone decides ("merge").
    missing_id: a call that never got an id gets one ("synthesize", I10), keeps "" ("empty"), or the
        response is refused with MalformedToolCall ("reject").
    """

    identity: Identity = "first"
    shared_index: SharedIndex = "split"
    missing_id: MissingId = "synthesize"

    def __post_init__(self) -> None:
        """Refuse a value that is none of the choices."""
        for name, choices in (
            ("identity", Identity),
            ("shared_index", SharedIndex),
            ("missing_id", MissingId),
        ):
            if getattr(self, name) not in get_args(choices):
                allowed = ", ".join(map(repr, get_args(choices)))
                raise ValueError(f"Policy.{name} is one of {allowed}, not {getattr(self, name)!r}")

    @classmethod
    def harness(cls) -> Policy:
        """What DeepSeek Harness 0.1.5 does: the last identity, an index is a call, no id is made up."""
        return cls(identity="last", shared_index="merge", missing_id="empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one response (S8); at the limit passes, one more is a LimitError.

    line: bytes of one line without its end. event: bytes of one event's joined data. choices, calls: of
    the response. text: bytes (UTF-8) that are kept in all. depth: levels of JSON nesting.
    """

    line: int = 32 * _MEBIBYTE
    event: int = 32 * _MEBIBYTE
    choices: int = 128
    calls: int = 4096
    text: int = 512 * _MEBIBYTE
    depth: int = 128

    def __post_init__(self) -> None:
        """Refuse anything but whole numbers from 1 up."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"Limits.{field.name} is a whole number from 1 up, not {value!r}")
