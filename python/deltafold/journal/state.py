"""What the records so far amount to: the state that the rules judge the next one by."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from deltafold.journal.record import Event

CUT_REASONS: Final = frozenset(
    {
        "aborted",
        "cancelled",
        "content_filter",
        "error",
        "failed",
        "incomplete",
        "length",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "recitation",
        "safety",
    }
)
"""The finish reasons of A5, in small letters, after which no call may run."""


@dataclass(slots=True)
class Call:
    """One call of the last assistant message."""

    call_id: str
    name: str
    arguments: str
    started: bool = False
    answered: bool = False


@dataclass(slots=True)
class State:
    """The state after a number of admitted records. Only `advance` changes it."""

    session: str = ""
    """The session that this log must belong to; empty until it is known."""
    next_seq: int = 0
    turn: int | None = None
    """The open turn, None outside of one."""
    last_turn: int = -1
    """The highest turn number so far."""
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    """The calls of the last assistant message by id, in order."""
    unanswered: int = 0
    """How many of them have no result."""
    cut: bool = False
    """The last assistant message's finish reason says that it was cut (A5)."""
    last_type: str = ""
    """The type of the last record."""

    @property
    def closed(self) -> bool:
        """The last record is that of a clean close."""
        return self.last_type == "session/close"

    @property
    def at_rest(self) -> bool:
        """Nothing is waited for: no turn is open, or its last word is an answer without calls."""
        return self.turn is None or (self.last_type == "assistant/message" and not self.calls)

    @property
    def open_calls(self) -> list[Call]:
        """The calls of the last assistant message that have no result, in order."""
        return [call for call in self.calls.values() if not call.answered]

    def copy(self) -> State:
        """Return a state that goes on by itself, for judging several records before any is written."""
        return replace(self, calls={call_id: replace(call) for call_id, call in self.calls.items()})


def calls_of(message: dict[str, Any]) -> list[Call]:
    """Return the calls of an assistant message that fits the shapes of J1."""
    calls: list[Call] = []
    for entry in message.get("tool_calls", ()):
        kind = entry["type"]
        body = entry[kind]
        calls.append(Call(entry["id"], body["name"], body["input" if kind == "custom" else "arguments"]))
    return calls


def advance(state: State, event: Event) -> None:
    """Take an admitted event into the state."""
    data = event.data
    state.next_seq += 1
    state.last_type = event.type
    match event.type:
        case "session/start":
            state.session = data["session"]
        case "turn/start":
            state.turn = data["turn"]
            state.last_turn = max(state.last_turn, data["turn"])
            _set_calls(state, [])
        case "turn/end":
            state.turn = None
            _set_calls(state, [])
        case "user/message":
            _set_calls(state, [])
        case "assistant/message":
            _set_calls(state, calls_of(data["message"]))
            state.cut = (data["finish_reason"] or "").lower() in CUT_REASONS
        case "tool/call":
            state.calls[data["call_id"]].started = True
        case "tool/result":
            state.calls[data["call_id"]].answered = True
            state.unanswered -= 1
        case _:
            pass


def _set_calls(state: State, calls: list[Call]) -> None:
    state.calls = {call.call_id: call for call in calls}
    state.unanswered = len(state.calls)
