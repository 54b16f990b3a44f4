"""J1 to J8: one table of named predicates over one state machine, and one function that asks them.

`admit` is the only judge. The writer calls it before a byte is written, the reader on every record, and so do
the closers of an interrupted turn, the import of foreign histories and repair. So whatever was written can be
read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from deltafold.journal import shapes, state, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.journal.record import Event
    from deltafold.journal.state import State

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", re.ASCII)
_MAX_TYPE: Final = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why an event may not follow: the rule (`J1` to `J8`), the predicate's name, and the reason in words."""

    rule: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One predicate: `complaint(state, event)` is None when the event passes.

    `types`: those it has a say on.
    """

    rule: str
    name: str
    complaint: Callable[[State, Event], str | None]
    types: frozenset[str] | None = None


def admit(before: State, event: Event) -> Verdict | None:
    """Judge whether `event` may follow; None means that it may.

    The predicates are asked in the table's order, so each may rely on those above it. Nothing is changed: the
    state goes on by `state.advance`.
    """
    for rule in _BY_TYPE.get(event.type, _FOR_ALL) if type(event.type) is str else _FOR_ALL:
        reason = rule.complaint(before, event)
        if reason is not None:
            return Verdict(rule.rule, rule.name, reason)
    return None


# The record itself (J1)


def _sequence(before: State, event: Event) -> str | None:
    if type(event.seq) is not int:
        return "seq is not a whole number"
    return None if event.seq == before.next_seq else f"seq is {event.seq}, expected {before.next_seq}"


def _instant(_before: State, event: Event) -> str | None:
    if type(event.time) is not str or _INSTANT.fullmatch(event.time) is None:
        return "time is not an RFC 3339 instant in UTC with microseconds"
    try:
        datetime.fromisoformat(event.time)
    except ValueError as error:
        return f"time is no instant: {error}"
    return None


def _json_values(_before: State, event: Event) -> str | None:
    data: object = event.data
    return values.complaint(cast("object", data)) if isinstance(data, dict) else "data is not an object"


def _known_type(_before: State, event: Event) -> str | None:
    if type(event.type) is not str or not 0 < len(event.type) <= _MAX_TYPE:
        return "type is not a short string"
    wrong = values.text_complaint(event.type)
    if wrong is not None or event.type in shapes.SHAPES:
        return wrong
    return (
        None if event.data.get("ignorable") is True else f"type {event.type!r} is not known and not ignorable"
    )


def _shape(_before: State, event: Event) -> str | None:
    return shapes.complaint(event.type, event.data) if event.type in shapes.SHAPES else None


def _start_first(before: State, event: Event) -> str | None:
    if (before.next_seq == 0) == (event.type == "session/start"):
        return None
    return (
        "session/start is the first record"
        if before.next_seq == 0
        else "session/start is the first record only"
    )


def _own_session(before: State, event: Event) -> str | None:
    if before.session in {"", event.data["session"]}:
        return None
    return f"the log belongs to session {event.data['session'][:80]!r}, not to {before.session[:80]!r}"


# The calls of a message (J2, J3, J7)


def _identities(_before: State, event: Event) -> str | None:
    if event.type == "tool/call":
        return _identity(event.data["call_id"], "call_id") or _identity(event.data["name"], "name")
    if event.type == "tool/result":
        return _identity(event.data["call_id"], "call_id")
    for position, call in enumerate(state.calls_of(event.data["message"])):
        wrong = _identity(call.call_id, "id") or _identity(call.name, "name")
        if wrong is not None:
            return f"call {position} of the message: {wrong}"
    return None


def _identity(text: str, what: str) -> str | None:
    if not text:
        return f"the {what} is empty"
    return (
        None
        if len(text) <= shapes.MAX_IDENTITY
        else f"the {what} is longer than {shapes.MAX_IDENTITY} characters"
    )


def _unique_ids(_before: State, event: Event) -> str | None:
    seen: set[str] = set()
    for call in state.calls_of(event.data["message"]):
        if call.call_id in seen:
            return f"the id {call.call_id[:80]!r} comes twice in one message"
        seen.add(call.call_id)
    return None


def _written_calls(_before: State, event: Event) -> str | None:
    entries: list[dict[str, Any]] | None = event.data["message"].get("tool_calls")
    if entries is None:
        return None
    if not entries:
        return "an empty tool_calls is not written"
    for position, entry in enumerate(entries):
        arguments = "" if entry["type"] == "custom" else entry["function"]["arguments"]
        if arguments and not values.is_strict_object(arguments):
            return f"the arguments of call {position} are neither one strict JSON object nor empty"
    return None


def _executable(before: State, _event: Event) -> str | None:
    if not before.cut:
        return None
    return "the response was cut (A5): its calls are not executable"


# Pairing, by position: only the last assistant message has calls (J4, J5, J6)


def _call_follows(before: State, event: Event) -> str | None:
    call = before.calls.get(event.data["call_id"])
    if call is None:
        return "the last assistant message holds no call of this id"
    if call.started or call.answered:
        return "the call was started before" if call.started else "the call has its result already"
    if (call.name, call.arguments) != (event.data["name"], event.data["arguments"]):
        return "name or arguments differ from those in the assistant message"
    return None


def _result_pairs(before: State, event: Event) -> str | None:
    source = event.data["source"]
    if source["kind"] != "tool":
        return "source.kind is not 'tool'"
    if source["call_id"] != event.data["call_id"]:
        return "source.call_id differs from call_id"
    call = before.calls.get(event.data["call_id"])
    if call is None:
        return "no call of this id is open"
    return "the call has its result already" if call.answered else None


def _calls_answered(before: State, _event: Event) -> str | None:
    if not before.unanswered:
        return None
    waiting = ", ".join(repr(call.call_id[:80]) for call in before.open_calls[:3])
    return f"{before.unanswered} call(s) of the last assistant message have no result ({waiting})"


# How turns nest: J8


def _turns(before: State, event: Event) -> str | None:
    if event.type.startswith("session/"):
        return None
    if event.type == "turn/start":
        return None if before.turn is None else f"turn {before.turn} is still open"
    if before.turn is None:
        return "outside of a turn"
    if event.type == "turn/end" and event.data["turn"] != before.turn:
        return f"the open turn is {before.turn}, not {event.data['turn']}"
    return None


_MESSAGES: Final = frozenset({"user/message", "assistant/message", "turn/end"})
_WITH_IDS: Final = frozenset({"assistant/message", "tool/call", "tool/result"})
_ASSISTANT: Final = frozenset({"assistant/message"})

RULES: Final = (
    Rule("J1", "sequence", _sequence),
    Rule("J1", "instant", _instant),
    Rule("J1", "json-values", _json_values),
    Rule("J1", "known-type", _known_type),
    Rule("J1", "shape", _shape),
    Rule("J1", "start-first", _start_first),
    Rule("J1", "own-session", _own_session, frozenset({"session/start"})),
    Rule("J2", "identities", _identities, _WITH_IDS),
    Rule("J3", "unique-ids", _unique_ids, _ASSISTANT),
    Rule("J7", "written-calls", _written_calls, _ASSISTANT),
    Rule("J8", "turns", _turns),
    Rule("J7", "executable", _executable, frozenset({"tool/call"})),
    Rule("J4", "call-follows", _call_follows, frozenset({"tool/call"})),
    Rule("J5", "result-pairs", _result_pairs, frozenset({"tool/result"})),
    Rule("J6", "calls-answered", _calls_answered, _MESSAGES),
)
"""The whole judgement, in the order in which it is asked.

A call that is not executable for another reason than its message's finish reason (truncated or invalid
arguments) is answered in the same write as its message, so J4 refuses its `tool/call`.
"""

_FOR_ALL: Final = tuple(rule for rule in RULES if rule.types is None)
_BY_TYPE: Final = {
    kind: tuple(rule for rule in RULES if rule.types is None or kind in rule.types) for kind in shapes.SHAPES
}
