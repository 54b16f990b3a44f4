"""Identities: mended in a message and in all records that belong to its calls, or in none.

An id comes from the raw stream, else from the linked records, else it is made by I10; a name is never made. A
call without a name leaves the message, and what belongs to it goes to quarantine.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltafold.journal import shapes, values
from deltafold.journal.repair.model import Aside, Slot

if TYPE_CHECKING:
    from deltafold.journal.record import Event
    from deltafold.journal.repair.evidence import Evidence
    from deltafold.journal.state import Call, State


@dataclass(slots=True)
class Renamed:
    """A call whose id the message had otherwise: its old id, and its new one (None: it left the message)."""

    old: str
    new: str | None


class MessageMender:
    """Mends assistant messages, and tells the records that follow one which call they mean."""

    def __init__(self, evidence: Evidence) -> None:
        """Begin without a message."""
        self._evidence = evidence
        self._renamed: list[Renamed] = []
        self._pending: list[Renamed] | None = None

    def accepted(self, event: Event) -> None:
        """Note that a record entered the log: a message brings its own renamings, if any."""
        if event.type == "assistant/message":
            self._renamed = self._pending or []
            self._pending = None

    @property
    def left_out(self) -> bool:
        """Whether a call left the message that was mended last: it was never named."""
        return any(entry.new is None for entry in self._pending or ())

    # The message

    def mended(self, event: Event, linked: list[Slot], asides: list[Aside]) -> tuple[Event, str]:
        """Return a message that J2, J3 and J7 admit, and by what evidence."""
        data = copy.deepcopy(event.data)
        message = data["message"]
        if not message.get("tool_calls"):
            message.pop("tool_calls", None)
            if message.get("content") is None:
                message["content"] = ""
            return event._replace(data=data), "an empty tool_calls is left out"
        proof = self._evidence.calls_of(event)
        calls: list[dict[str, Any]] = message["tool_calls"]
        if proof is not None and len(proof) != len(calls):
            proof = _in_named_order(proof, calls)
        renamed: list[Renamed] = []
        kept: list[dict[str, Any]] = []
        reasons: list[str] = []
        taken = {call["id"] for call in calls}
        for position, call in enumerate(calls):
            proven = proof[position] if proof is not None else None
            known = _Known(position, proven, _records_of(linked, position, calls), taken, renamed, reasons)
            entry = _named(call, known)
            if entry is None:
                asides.append(Aside("J2", "the call was never named", "tool/call", call, _stream_of(data)))
            else:
                kept.append(_with_arguments(entry, proven, asides, reasons))
        self._pending = renamed
        message["tool_calls"] = kept
        if not kept:
            del message["tool_calls"]
            message["content"] = message.get("content") or ""
        _fit_native(message, calls, renamed)
        return event._replace(data=data), "; ".join(dict.fromkeys(reasons)) or "its calls are set right"

    # The records that belong to it

    def identified(self, before: State, event: Event) -> dict[str, Any] | None:
        """Return the data of a `tool/call` or `tool/result` with its call's identity.

        None when it means no call.
        """
        if shapes.complaint(event.type, event.data) is not None:
            return None
        call = self._meant(before, event)
        if call is None:
            return None
        data = {**event.data, "call_id": call.call_id}
        if event.type == "tool/call":
            data["name"] = event.data["name"] or call.name
        elif event.data["source"] != {"kind": "tool", "call_id": call.call_id}:
            data["source"] = {"kind": "tool", "call_id": call.call_id}
        return data

    def _meant(self, before: State, event: Event) -> Call | None:
        """Return the call that a record means.

        Its own id counts where the message had it so; else the ids that the message had before it was mended,
        by position; an empty id means the first call that waits. A source that alone has the right id is
        believed.
        """
        result = event.type == "tool/result"
        given = [event.data["call_id"]] + ([event.data["source"]["call_id"]] if result else [])
        for call_id in [one for one in given if one]:
            if any(entry.old == call_id and entry.new is None for entry in self._renamed):
                return None  # it belongs to a call that left the message
            names = [entry.new for entry in self._renamed if entry.old == call_id and entry.new is not None]
            call = _first_waiting(before, names or [call_id], result=result)
            if call is not None:
                return call
        if all(given):
            return None
        if any(entry.new is None and not entry.old for entry in self._renamed):
            return None  # it may belong to the call that was never named
        return _first_waiting(before, [entry.call_id for entry in before.open_calls], result=result)


@dataclass(slots=True)
class _Known:
    """What is known of one call of a message.

    Its place, what the stream proves, the records that belong to it.
    """

    position: int
    proven: dict[str, Any] | None
    records: list[Event]
    taken: set[str]
    renamed: list[Renamed]
    reasons: list[str]


def _named(call: dict[str, Any], known: _Known) -> dict[str, Any] | None:
    """Return a call with name and id, or None when nothing tells its name."""
    kind = call["type"]
    body = dict(call[kind])
    if not body["name"]:
        named: list[str] = [record.data["name"] for record in known.records if record.type == "tool/call"]
        proof: str = (known.proven or {}).get("name") or ""
        body["name"] = proof or next((name for name in named if name), "")
        if not body["name"]:
            known.renamed.append(Renamed(call["id"], None))
            known.reasons.append(f"call {known.position} was never named: it is set aside")
            return None
        source = "raw stream" if proof else "linked records"
        known.reasons.append(f"name of call {known.position} from the {source}")
    call_id = _identity(call["id"], known)
    known.renamed.append(Renamed(call["id"], call_id))
    return {**call, "id": call_id, kind: body}


def _identity(old: str, known: _Known) -> str:
    """Return a call's id: its own, that of the stream, that of the linked records, or one by I10."""
    used = {entry.new for entry in known.renamed}
    if old and old not in used:
        return old
    linked = [record.data["call_id"] for record in known.records if record.data["call_id"]]
    proof = (known.proven or {}).get("id") or ""
    whose = f"id of call {known.position}"
    if old:
        base, why = old, f"{whose} came twice: it is made anew (I10)"
    elif proof:
        base, why = proof, f"{whose} from the raw stream"
    elif linked:
        base, why = linked[0], f"{whose} from the linked records"
    else:
        base, why = f"call-{known.position}", f"{whose} is made (I10): there is no evidence of one"
    new, number = base, 1
    while new in used or (new != old and new in known.taken) or (new == old and number == 1):
        number += 1
        new = f"{base}-{number}"
    known.reasons.append(why)
    return new


def _first_waiting(before: State, call_ids: list[str], *, result: bool) -> Call | None:
    """Return the first of these calls that waits for such a record.

    Of results, those that had started come first.
    """
    found = [before.calls[call_id] for call_id in call_ids if call_id in before.calls]
    waiting = [call for call in found if not call.answered and (result or not call.started)]
    started = [call for call in waiting if call.started]
    return next(iter(started or waiting), None)


def following(given: list[Slot], position: int) -> list[Slot]:
    """Return the records behind the message at this position, up to the one that begins something new."""
    found: list[Slot] = []
    for place in range(position + 1, len(given)):
        kind = given[place].event.type
        if type(kind) is not str:
            continue
        if kind in {"user/message", "assistant/message", "turn/start", "turn/end"}:
            break
        found.append(given[place])
    return found


def _records_of(linked: list[Slot], position: int, calls: list[dict[str, Any]]) -> list[Event]:
    """Return the `tool/call` and `tool/result` that follow a message and belong to its call at this position.

    By id where the call has one that no other has; else the position-th of each type counts.
    """
    found: list[Event] = []
    counts = {"tool/call": 0, "tool/result": 0}
    call_id = calls[position]["id"]
    unique = call_id and [call["id"] for call in calls].count(call_id) == 1
    for slot in linked:
        event = slot.event
        if event.type not in counts or shapes.complaint(event.type, event.data) is not None:
            continue
        if (event.data["call_id"] == call_id) if unique else counts[event.type] == position:
            found.append(event)
        counts[event.type] += 1
    return found


def _in_named_order(proof: list[dict[str, Any]], calls: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the proof call by call where the message has more calls than the stream has named ones.

    None when it does not fit.
    """
    named = [call for call in calls if call[call["type"]]["name"]]
    if len(named) != len(proof):
        return None
    waiting = iter(proof)
    nothing = {"id": "", "name": "", "arguments": ""}
    return [next(waiting) if call[call["type"]]["name"] else nothing for call in calls]


def _with_arguments(
    call: dict[str, Any], proven: dict[str, Any] | None, asides: list[Aside], reasons: list[str]
) -> dict[str, Any]:
    """Return a call whose arguments J7 admits: those of the raw stream where the recorded ones are none."""
    if call["type"] != "function":
        return call
    arguments = call["function"]["arguments"]
    if not arguments or values.is_strict_object(arguments):
        return call
    proof = (proven or {}).get("arguments") or ""
    reasons.append(
        "arguments from the raw stream" if proof else "arguments that are no JSON object are set aside"
    )
    asides.append(Aside("J7", "arguments are not one strict JSON object", "tool/call", call))
    return {**call, "function": {**call["function"], "arguments": proof}}


def _fit_native(message: dict[str, Any], calls: list[dict[str, Any]], renamed: list[Renamed]) -> None:
    """Keep the other wire's form in step: as many places as there are calls."""
    native: dict[str, Any] = message.get("deltafold") or {}
    places: list[int] = native.get("before") or []
    if len(places) == len(calls):
        native["before"] = [
            place for place, entry in zip(places, renamed, strict=True) if entry.new is not None
        ]


def _stream_of(data: dict[str, Any]) -> str | None:
    stream: dict[str, Any] | None = data.get("stream")
    return None if stream is None else str(stream["file"])
