"""The result: an immutable value that says what came, whole or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from deltafold import _arguments, _shape
from deltafold.events import ByValue

if TYPE_CHECKING:
    from deltafold.errors import DeltafoldError

End: TypeAlias = Literal["open", "done", "finished", "cut"]
Status: TypeAlias = Literal["complete", "truncated", "invalid", "unnamed"]
Kind: TypeAlias = Literal["function", "custom", "legacy-function"]
IdSource: TypeAlias = Literal["wire", "synthetic", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Quirk(ByValue):
    """A departure that was tolerated (Q1): how often, and where first.

    `detail` is for people and takes no part in comparisons.
    """

    kind: str
    count: int
    frame: int | None
    choice: int | None
    call: int | None
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolCall(ByValue):
    """One tool call.

    `position` counts the calls of its choice by first appearance, `index` is the wire's own (I2) or None.
    `arguments` is the text as sent (A1). `status` is A4, `executable` A5. `extra` holds unknown members of
    its entries (X2). `item_id` is the Responses item (W3), `blocks_before` how many blocks stand before it.
    """

    choice: int
    position: int
    index: int | None
    id: str
    name: str
    arguments: str
    kind: Kind
    id_source: IdSource
    status: Status
    executable: bool
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    item_id: str | None = None
    blocks_before: int = 0

    def parse(self) -> dict[str, Any]:
        """Give the arguments as a dict, strictly (A7); MalformedToolCall unless `status` is complete."""
        return _arguments.parse(self)

    def partial(self) -> Any:  # noqa: ANN401
        """Give the arguments as far as they are certain, for display only (A7); None when nothing is.

        The outermost container and those that are not whole are new in each answer; what is whole within them
        may be shared by the answers for one call.
        """
        return _arguments.partial(self.arguments, self.choice, self.position, self.id)

    def recovered(self) -> str | None:
        """Give the last whole arguments of a call that sent them repeatedly (A6), or None."""
        return _arguments.recovered(self)


@dataclass(frozen=True, slots=True, eq=False)
class Choice(ByValue):
    """One answer. Texts are None until something non-empty came (X1); `logprobs` and `extra` are X2."""

    index: int
    content: str | None
    reasoning: str | None
    refusal: str | None
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    logprobs: dict[str, Any] | None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    reasoning_member: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Completion(ByValue):
    """A response: everything that came, how it ended (E3), what failed (E6), what was odd (Q1).

    `blocks` are Anthropic's content blocks or the items of Responses that are no calls, in order. `extra`
    are the kept members beside the choices (X2).
    """

    wire: str
    id: str | None
    model: str | None
    created: int | float | None
    choices: tuple[Choice, ...]
    usage: dict[str, Any] | None
    end: End
    error: DeltafoldError | None
    quirks: tuple[Quirk, ...]
    blocks: tuple[dict[str, Any], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def _first(self) -> Choice | None:
        return next((choice for choice in self.choices if choice.index == 0), None)

    @property
    def content(self) -> str | None:
        """The answer of choice 0."""
        first = self._first()
        return first.content if first else None

    @property
    def reasoning(self) -> str | None:
        """The reasoning of choice 0."""
        first = self._first()
        return first.reasoning if first else None

    @property
    def refusal(self) -> str | None:
        """The refusal of choice 0."""
        first = self._first()
        return first.refusal if first else None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of choice 0."""
        first = self._first()
        return first.tool_calls if first else ()

    @property
    def finish_reason(self) -> str | None:
        """The finish reason of choice 0, raw (E1)."""
        first = self._first()
        return first.finish_reason if first else None

    @property
    def has_calls(self) -> bool:
        """Whether any choice has a call, whatever its finish reason (E4)."""
        return any(choice.tool_calls for choice in self.choices)

    @property
    def executable_calls(self) -> tuple[ToolCall, ...]:
        """The calls of all choices that may be executed (A5)."""
        return tuple(call for choice in self.choices for call in choice.tool_calls if call.executable)

    def check(self) -> Completion:
        """Give the completion itself, or raise its error, or IncompleteStream when it was cut (E5)."""
        _shape.check(self)
        return self

    def to_message(self, choice: int = 0) -> dict[str, Any] | list[dict[str, Any]]:
        """Give the assistant message to send back (X6); for Responses the list of input items."""
        return _shape.to_message(self, choice)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values."""
        return _shape.to_dict(self)

    def to_json(self) -> bytes:
        """Give `to_dict()` as JSON in UTF-8."""
        return _shape.to_json(self)
