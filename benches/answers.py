"""What the loops written by hand build: an answer, and one small object for each delta.

The events are msgspec structs without garbage-collector tracking: of the small classes that Python offers
(slotted class, NamedTuple, dataclass, msgspec struct) these are made fastest, so both loops get them.
"""

from __future__ import annotations

import msgspec


class TextDelta(msgspec.Struct, gc=False):
    """A piece of text (or of reasoning) of a choice."""

    choice: int
    text: str


class ReasoningDelta(msgspec.Struct, gc=False):
    choice: int
    text: str


class ToolCallStart(msgspec.Struct, gc=False):
    choice: int
    index: int
    id: str
    name: str


class ToolCallDelta(msgspec.Struct, gc=False):
    choice: int
    index: int
    arguments: str


class Finish(msgspec.Struct, gc=False):
    choice: int
    reason: str


class CallState:
    """A call being put together."""

    __slots__ = ("fragments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self.fragments: list[str] = []

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)


class ChoiceState:
    """A choice being put together."""

    __slots__ = ("calls", "finish_reason", "reasoning", "text")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: dict[int, CallState] = {}
        self.finish_reason: str | None = None


class Answer:
    """What a loop ends with: joined texts, calls in order, reason and usage."""

    __slots__ = ("calls", "content", "finish_reason", "reasoning", "usage")

    def __init__(self, choices: dict[int, ChoiceState], usage: object) -> None:
        first = choices.get(0) or ChoiceState()
        self.content = "".join(first.text)
        self.reasoning = "".join(first.reasoning)
        self.calls = [(call.id, call.name, call.arguments) for call in first.calls.values()]
        self.finish_reason = first.finish_reason
        self.usage = usage
