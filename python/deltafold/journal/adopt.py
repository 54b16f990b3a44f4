"""Taking over a history that another program kept, broken as it may be.

What can be told is kept: pairing by position where ids are empty, an id by I10 where there was none. What
cannot be told stays unknown, and what no history can hold (a call without a name, a result without a call)
goes to quarantine. Everything enters through the one judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from deltafold.journal import closers, values
from deltafold.journal.assistant import result_entry
from deltafold.journal.errors import Refused
from deltafold.journal.history import NATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltafold.journal.writer import Entry, Writer


@dataclass(slots=True)
class _Open:
    """A call of the last assistant message that has no result.

    The id it came with, its name, and its id in the journal.
    """

    given: str
    name: str
    call_id: str


@dataclass(slots=True)
class Adoption:
    """Goes through foreign chat messages.

    `notes` says what was changed or set aside, with the message's position.
    """

    writer: Writer
    notes: list[str] = field(default_factory=list[str])
    _open: list[_Open] = field(default_factory=list[_Open])

    def take(self, messages: Iterable[dict[str, Any]]) -> list[str]:
        """Write the messages as records.

        Whatever is still open at the end is answered as of unknown outcome.
        """
        for position, message in enumerate(messages):
            match _object(message).get("role"):
                case "user":
                    self._begin_turn()
                    self._put(position, ("user/message", {"message": message}))
                case "assistant":
                    self._assistant(position, message)
                case "tool" | "function":
                    self._result(position, message)
                case "system" | "developer":
                    self.notes.append(f"message {position}: instructions are no part of the history")
                case role:
                    self._set_aside(position, "J1", f"role {role!r}", "user/message", message)
        self._answer_open()
        return self.notes

    def _begin_turn(self) -> None:
        self._answer_open()
        state = self.writer.state
        entries: list[Entry] = []
        if state.turn is not None:
            entries.append(("turn/end", {"turn": state.turn, "reason": "done"}))
        self.writer.append([*entries, ("turn/start", {"turn": state.last_turn + 1})])

    def _answer_open(self) -> None:
        """Answer what was never answered: whether it ran is not known."""
        for waiting in self._open:
            entry = result_entry(
                waiting.call_id, closers.TEXTS[closers.OUTCOME_UNKNOWN], error=closers.OUTCOME_UNKNOWN
            )
            self.writer.append([entry])
            self.notes.append(f"call {waiting.call_id!r} had no result: {closers.OUTCOME_UNKNOWN}")
        self._open = []

    def _put(self, position: int, entry: Entry) -> bool:
        try:
            self.writer.append([entry])
        except Refused as refused:
            self.notes.append(f"message {position}: in quarantine ({refused.rule}: {refused.reason})")
            return False
        return True

    def _set_aside(self, position: int, rule: str, reason: str, kind: str, data: object) -> None:
        if self.writer.keep_refused:
            self.writer.quarantine(rule, reason, kind, data, None)
        self.notes.append(f"message {position}: in quarantine ({rule}: {reason})")

    def _assistant(self, position: int, message: dict[str, Any]) -> None:
        if self.writer.state.turn is None:
            self._begin_turn()
        self._answer_open()
        message = dict(message)
        message.pop(NATIVE, None)  # it has a place for each call of another journal's message
        given = self._calls_of(position, message)
        calls, waiting = self._calls(position, given)
        if calls:
            message["tool_calls"] = calls
        data = {"message": message, "finish_reason": "tool_calls" if calls else None}
        if self._put(position, ("assistant/message", data)):
            self._open = waiting

    def _calls(self, position: int, given: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[_Open]]:
        calls: list[dict[str, Any]] = []
        waiting: list[_Open] = []
        taken = {str(call.get("id")) for call in given}
        for number, call in enumerate(given):
            kind = "custom" if call.get("type") == "custom" else "function"
            body = _object(call.get(kind))
            name = body.get("name")
            if not isinstance(name, str) or not name:
                self._set_aside(position, "J2", "the call was never named", "tool/call", call)
                continue
            old = call.get("id")
            call_id = self._identity(position, number, old, taken, waiting)
            waiting.append(_Open(old if isinstance(old, str) else "", name, call_id))
            member = "arguments" if kind == "function" else "input"
            body[member] = self._arguments(position, number, body.get(member), kind)
            calls.append({**call, "id": call_id, "type": kind, kind: body})
        return calls, waiting

    def _calls_of(self, position: int, message: dict[str, Any]) -> list[dict[str, Any]]:
        """Take the calls out of a message, those of the legacy form too; what is no call is set aside."""
        given: object = message.pop("tool_calls", None)
        legacy: object = message.pop("function_call", None)
        entries: list[object] = list(cast("list[object]", given)) if isinstance(given, list) else [given]
        if legacy is not None:
            entries.append({"type": "function", "function": legacy})
        for entry in entries:
            if entry is not None and not isinstance(entry, dict):
                self._set_aside(position, "J1", "a call that is no object", "tool/call", entry)
        return [cast("dict[str, Any]", entry) for entry in entries if isinstance(entry, dict)]

    def _identity(self, position: int, number: int, old: object, taken: set[str], before: list[_Open]) -> str:
        """Return a call's id: the one it has, or one by I10 where it is empty or comes twice."""
        if isinstance(old, str) and old and all(call.call_id != old for call in before):
            return old
        base = old if isinstance(old, str) and old else f"call-{number}"
        new, count = base, 1
        while new in taken or any(call.call_id == new for call in before):
            count += 1
            new = f"{base}-{count}"
        self.notes.append(f"message {position}: call {number} had id {old!r}, now {new!r}")
        return new

    def _arguments(self, position: int, number: int, arguments: object, kind: str) -> str:
        if arguments in (None, ""):
            return ""
        if isinstance(arguments, str) and (kind == "custom" or values.is_strict_object(arguments)):
            return arguments
        self._set_aside(position, "J7", f"arguments of call {number}", "tool/call", {"arguments": arguments})
        return ""

    def _result(self, position: int, message: dict[str, Any]) -> None:
        waiting = self._paired(message)
        if waiting is None:
            self._set_aside(position, "J5", "no open call is meant by this result", "tool/result", message)
            return
        content = message.get("content")
        if self._put(position, result_entry(waiting.call_id, "" if content is None else content)):
            self._open.remove(waiting)

    def _paired(self, message: dict[str, Any]) -> _Open | None:
        """Return the call that a result means: by id, else (ids are empty) by position."""
        call_id = message.get("tool_call_id")
        if message["role"] == "function":
            return next((waiting for waiting in self._open if waiting.name == message.get("name")), None)
        if isinstance(call_id, str) and call_id:
            return next((waiting for waiting in self._open if waiting.given == call_id), None)
        unnamed = [waiting for waiting in self._open if not waiting.given]
        return next(iter(unnamed or self._open), None)


def _object(value: object) -> dict[str, Any]:
    """Return a copy of an object, an empty one of anything else."""
    return dict(cast("dict[str, Any]", value)) if isinstance(value, dict) else {}
