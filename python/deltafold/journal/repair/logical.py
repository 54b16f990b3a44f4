"""Second half of a repair: from a sequence of records to one that the rules admit.

The judge is `rules.admit`. What it refuses is mended by evidence (the linked records, the raw stream), or
goes to quarantine and leaves a placeholder, so that the records behind keep their seqs and their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from deltafold.journal import closers, rules
from deltafold.journal.faults import kind_of
from deltafold.journal.record import Event
from deltafold.journal.repair.messages import MessageMender, following
from deltafold.journal.repair.model import Aside, Change, Slot, filler
from deltafold.journal.repair.physical import Blocked
from deltafold.journal.state import State, advance

if TYPE_CHECKING:
    from deltafold.journal.repair.evidence import Evidence
    from deltafold.journal.rules import Verdict
    from deltafold.journal.state import Call

_TRIES: Final = 8
REPAIRED: Final = "repaired"


class Mender:
    """Goes through the records once; `slots` is the log to be."""

    def __init__(self, session: str, evidence: Evidence) -> None:
        """Begin before the first record."""
        self.state = State(session=session)
        self.slots: list[Slot] = []
        self.changes: list[Change] = []
        self.asides: list[Aside] = []
        self._evidence = evidence
        self._messages = MessageMender(evidence)
        self._turn_to_close: int | None = None

    def mend(self, given: list[Slot]) -> list[Slot]:
        """Return the records that the rules admit."""
        for position, slot in enumerate(given):
            self._one(slot, given, position)
        if self.state.turn is not None and self.state.turn == self._turn_to_close:
            self._close_turn()
        return self.slots

    def _close_turn(self) -> None:
        """Close the turn of a call that was never named, as a resume would: nothing can go on behind it."""
        for entry in closers.close_turn(self.state, REPAIRED):
            event = self._between(entry)
            self._change("unnamed-call", "inserted", self.slots[-1], f"{event.type} closes its turn", event)
            self._accept(Slot(event, None, None))

    def _one(self, slot: Slot, given: list[Slot], position: int) -> None:
        if slot.filler:
            slot.event = slot.event._replace(time=self._time())
            self._accept(slot)
            return
        if type(slot.event.type) is not str:
            self._set_aside(slot, "J1", "its type is no string", "wrong-record")
            return
        if not slot.proven:
            slot = self._proven(slot)
        for _ in range(_TRIES):
            slot = self._linked(slot)
            event = slot.event._replace(seq=self.state.next_seq)
            verdict = rules.admit(self.state, event)
            if verdict is None:
                self._accept(slot)
                return
            mended = self._mend(slot, verdict, given, position)
            if mended is None:
                return
            slot = mended
        self._set_aside(slot, "J1", "it cannot be made to fit", "wrong-record")

    def _accept(self, slot: Slot) -> None:
        advance(self.state, slot.event._replace(seq=self.state.next_seq))
        self._messages.accepted(slot.event)
        self.slots.append(slot)

    # A record whose check value is wrong

    def _proven(self, slot: Slot) -> Slot:
        """Return a record in its place that the others prove; what nothing proves is not taken over."""
        event = slot.event
        if event.type == "assistant/message":
            data = self._evidence.message_at(event)
            if data is not None:
                return self._rewrite(
                    slot, event._replace(data=data), "bad-crc", "rebuilt from the raw stream"
                )
        data = self._follows(event)
        if data is not None:
            why = "what it says follows from the records before it"
            return self._rewrite(slot, event._replace(data=data), "bad-crc", why)
        if event.type == "tool/result":
            waiting = [call for call in self.state.open_calls if call.started] or self.state.open_calls
            if waiting:
                data = _unknown(waiting[0])
                why = "its content is not proven: the call's outcome is unknown"
                self.asides.append(Aside("J1", "crc does not match", event.type, event.data))
                return self._rewrite(slot, event._replace(data=data), "bad-crc", why)
        return self._placeholder(slot, "J1", "its check value is wrong and nothing else proves it", "bad-crc")

    def _follows(self, event: Event) -> dict[str, Any] | None:
        """Return the data of a record that can say only one thing where it stands; None of any other."""
        state = self.state
        match event.type:
            case "turn/start" if state.turn is None:
                return {"turn": state.last_turn + 1}
            case "turn/end" if state.turn is not None and not state.unanswered:
                return {"turn": state.turn, "reason": REPAIRED}
            case "session/close":
                return {}
            case "tool/call" if rules.admit(state, event._replace(seq=state.next_seq)) is None:
                return dict(event.data)
            case _:
                return None

    # Records that mean a call

    def _linked(self, slot: Slot) -> Slot:
        """Return a `tool/call` or `tool/result` with the identity that its call has in the message."""
        event = slot.event
        if event.type not in {"tool/call", "tool/result"}:
            return slot
        data = self._messages.identified(self.state, event)
        if data is None or data == event.data:
            return slot
        kind = "mismatched-source" if _only_source(event.data, data) else "empty-id"
        return self._rewrite(
            slot, event._replace(data=data), kind, "the identity of the call that it belongs to"
        )

    # What the judge refuses

    def _mend(self, slot: Slot, verdict: Verdict, given: list[Slot], position: int) -> Slot | None:
        """Return the record as it may be admitted, or None when it has found its end."""
        kind = kind_of(verdict, slot.event, self.state)
        match verdict.name:
            case "own-session":
                raise Blocked(f"{verdict.reason}; a copied directory is renamed back, not repaired")
            case "start-first":
                return self._aside_or_blocked(slot, verdict)
            case "instant":
                time = self.slots[-1].event.time if self.slots else "1970-01-01T00:00:00.000000Z"
                return self._rewrite(
                    slot, slot.event._replace(time=time), "wrong-record", "the time of the one before"
                )
            case "identities" | "unique-ids" | "written-calls" if slot.event.type == "assistant/message":
                linked = following(given, position)
                event, why = self._messages.mended(slot.event, linked, self.asides)
                if self._messages.left_out:
                    self._turn_to_close = self.state.turn
                return self._rewrite(slot, event, kind, why)
            case "calls-answered":
                self._answer(slot)
                return slot
            case "turns":
                return self._turn(slot, verdict)
            case _:
                self._set_aside(slot, verdict.rule, verdict.reason, kind)
                return None

    def _aside_or_blocked(self, slot: Slot, verdict: Verdict) -> Slot | None:
        if self.state.next_seq == 0:
            raise Blocked("the log does not begin with session/start: no other record can be proven")
        self._set_aside(slot, verdict.rule, verdict.reason, "wrong-record")
        return None

    def _answer(self, before: Slot) -> None:
        """Give the open calls their results, where a placeholder stands if there is one."""
        for call in self.state.open_calls:
            data = _unknown(call)
            place = self._place_for_result(call)
            why = f"call {call.call_id!r} had no result: {data['error']}"
            if place is not None:
                event = Event(place.event.seq, place.event.time, "tool/result", data)
                place.event, place.line, place.filler = event, None, False
                call.answered = True
                self.state.unanswered -= 1
            else:
                event = Event(None, self._time(), "tool/result", data)
                self._accept(Slot(event, None, None))
            self._change("call-without-result", "inserted", before, why, event)

    def _place_for_result(self, call: Call) -> Slot | None:
        """Return a placeholder behind the call's own records in which its result may stand."""
        for slot in reversed(self.slots):
            if slot.filler:
                return slot
            event = slot.event
            if event.type == "assistant/message" or (
                event.type == "tool/call" and event.data["call_id"] == call.call_id
            ):
                return None
        return None

    def _turn(self, slot: Slot, verdict: Verdict) -> Slot | None:
        event = slot.event
        if event.type == "turn/end" and self.state.turn is not None:
            data = {**event.data, "turn": self.state.turn}
            return self._rewrite(
                slot, event._replace(data=data), "broken-turn", "the number of the open turn"
            )
        if event.type == "turn/end" or event.type in {"tool/call", "tool/result"}:
            self._set_aside(slot, verdict.rule, verdict.reason, "broken-turn")
            return None
        if event.type == "turn/start":
            added = self._between(("turn/end", {"turn": self.state.turn, "reason": REPAIRED}))
        else:
            added = self._between(("turn/start", {"turn": self.state.last_turn + 1}))
        if self.state.unanswered and event.type == "turn/start":
            self._answer(slot)
        self._put(slot, added)
        return slot

    def _between(self, entry: tuple[str, dict[str, Any]]) -> Event:
        return Event(None, self._time(), *entry)

    def _put(self, before: Slot, event: Event) -> None:
        """Put a record in; a placeholder directly before gives its place."""
        if self.slots and self.slots[-1].filler:
            place = self.slots[-1]
            place.event, place.filler = event._replace(seq=place.event.seq), False
            self.state.next_seq -= 1
            advance(self.state, place.event)
        else:
            self._accept(Slot(event, None, None))
        self._change("broken-turn", "inserted", before, f"{event.type} was missing", event)

    def _time(self) -> str:
        return str(self.slots[-1].event.time)

    # Changes

    def _rewrite(self, slot: Slot, event: Event, kind: str, why: str) -> Slot:
        if not why:
            return slot
        self._change(kind, "rewritten", slot, why, event)
        return Slot(event, None, slot.offset)

    def _set_aside(self, slot: Slot, rule: str, reason: str, kind: str) -> None:
        self._accept(self._placeholder(slot, rule, reason, kind))

    def _placeholder(self, slot: Slot, rule: str, reason: str, kind: str) -> Slot:
        event = slot.event
        self.asides.append(Aside(rule, reason, str(event.type), event.data))
        place = filler(event.seq, self._time() if self.slots else str(event.time), reason, kind)
        place.offset = slot.offset
        self._change(kind, "quarantined", slot, reason, place.event)
        return place

    def _change(self, kind: str, action: Any, slot: Slot, why: str, after: Event | None) -> None:  # noqa: ANN401
        seq = slot.event.seq if type(slot.event.seq) is int else None
        self.changes.append(Change(kind, action, seq, slot.offset, why, slot.line, after))


def _unknown(call: Call) -> dict[str, Any]:
    """Return the result of a call whose own is lost: unknown where it had started."""
    error = closers.OUTCOME_UNKNOWN if call.started else closers.NOT_STARTED
    source = {"kind": "tool", "call_id": call.call_id}
    content = closers.TEXTS[error]
    return {"call_id": call.call_id, "content": content, "is_error": True, "source": source, "error": error}


def _only_source(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return bool(before.get("call_id")) and before.get("source") != after.get("source")
