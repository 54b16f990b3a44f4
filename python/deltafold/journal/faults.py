"""Faults by name: what is wrong in a log that a reader refuses, each with its place, its rule and what to do.

The judge is `rules.admit`, as everywhere. After a fault the state goes on as if the record had been what its
place asks for, so that one fault is named once and not again by everything behind it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from deltafold.journal import rules, shapes, state
from deltafold.journal.state import State, advance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltafold.journal.record import Event
    from deltafold.journal.rules import Verdict
    from deltafold.journal.survey import Piece

ADVICE: Final = {
    "torn-tail": "nothing: it was never acknowledged; the next writer cuts it and keeps a copy",
    "bad-crc": "journal repair: one flipped bit is put back; otherwise what the other records prove",
    "foreign-bytes": "journal repair takes them out and keeps a copy",
    "two-files-glued": "journal repair keeps the log of this session",
    "seq-gap": "journal repair marks the gap; what stood there is lost unless a backup has it",
    "duplicate-identical": "journal repair drops the repeats",
    "duplicate-different": "two logs forked here: choose one with journal repair --keep first|last",
    "empty-id": "journal repair sets it in all linked records, from the raw stream where there is one",
    "unnamed-call": "journal repair moves the call to quarantine; a name is never invented",
    "mismatched-source": "journal repair sets the id that the open call has",
    "result-without-call": "journal repair moves it to quarantine",
    "second-result": "journal repair keeps the first and moves the other to quarantine",
    "call-without-result": "journal repair answers it: outcome-unknown when it had started, else not-started",
    "duplicate-id": "journal repair gives the later call an id of its own",
    "call-not-in-message": "journal repair moves it to quarantine",
    "broken-turn": "journal repair closes or opens the turn",
    "wrong-record": "journal repair moves it to quarantine",
}
"""Every kind of fault, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: its kind (a key of `ADVICE`), the rule it breaks, where it is, and the reason in words."""

    kind: str
    rule: str
    seq: int | None
    offset: int
    size: int
    reason: str

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE[self.kind]


_KIND_OF: Final = {
    "unique-ids": "duplicate-id",
    "call-follows": "call-not-in-message",
    "executable": "call-not-in-message",
    "calls-answered": "call-without-result",
    "turns": "broken-turn",
}

# What follows from a message that is lost is not a fault of its own; from one of these records on, all is
# known again.
_CONSEQUENCES: Final = frozenset({"call-not-in-message", "result-without-call", "call-without-result"})
_BEGINNINGS: Final = frozenset({"assistant/message", "user/message", "turn/start", "turn/end"})


class FaultFinder:
    """Names the faults of a log from its pieces. Memory: four bytes a record, to tell repeats from forks."""

    def __init__(self, session: str) -> None:
        """Begin before the first record."""
        self.state = State(session=session)
        self._seals = _Seals()
        self._explained = False
        self._message_lost = False

    def faults(self, pieces: Iterable[Piece]) -> Iterator[Fault]:
        """Yield the faults in the order of the log."""
        for piece in pieces:
            match piece.kind:
                case "record":
                    yield from self._record(piece)
                case "bad-crc":
                    yield self._fault("bad-crc", "J1", piece)
                    self._message_lost = True
                    if piece.event is not None and piece.event.seq == self.state.next_seq:
                        self._take_on_trust(piece.event)
                        self._seals.add(piece.event.seq, 0)
                case "unreadable":
                    yield self._fault("wrong-record", "J1", piece)
                    self.state.next_seq += 1
                    self._seals.add(self.state.next_seq - 1, _seal_of(piece))
                case "torn":
                    yield self._fault("torn-tail", "J1", piece)
                case "other-start":
                    yield self._fault("two-files-glued", "J1", piece)
                case "other-record":
                    pass  # its beginning was named
                case _:
                    yield self._fault("foreign-bytes", "J1", piece)
                    self._explained = True

    def _fault(self, kind: str, rule: str, piece: Piece, reason: str = "") -> Fault:
        seq = piece.event.seq if piece.event is not None and type(piece.event.seq) is int else None
        return Fault(kind, rule, seq, piece.offset, piece.size, reason or piece.why or kind)

    def _record(self, piece: Piece) -> Iterator[Fault]:
        event = piece.event
        assert event is not None  # noqa: S101  (a record piece has one)
        if type(event.seq) is int and event.seq != self.state.next_seq:
            yield from self._out_of_sequence(piece, event)
            if event.seq < self.state.next_seq:
                return
        if piece.why:
            yield self._fault("foreign-bytes", "J1", piece, "the record has no LF behind it")
        for verdict in self._verdicts(event):
            kind = kind_of(verdict, event, self.state)
            if not (self._message_lost and kind in _CONSEQUENCES):
                yield self._fault(kind, verdict.rule, piece, verdict.reason)
        if type(event.type) is str and event.type in _BEGINNINGS:
            self._message_lost = False
        self._take_on_trust(event)
        self._seals.add(self.state.next_seq - 1, _seal_of(piece))

    def _out_of_sequence(self, piece: Piece, event: Event) -> Iterator[Fault]:
        expected = self.state.next_seq
        if event.seq < expected:
            same = _seal_of(piece) == self._seals.of(event.seq)
            kind = "duplicate-identical" if same else "duplicate-different"
            yield self._fault(kind, "J1", piece, f"seq {event.seq} stands here again")
            return
        missing = event.seq - expected
        reason = f"{missing} record(s) from seq {expected} are missing" + (
            " where the bad bytes are" if self._explained else ""
        )
        yield self._fault("seq-gap", "J1", piece, reason)
        self.state.next_seq = event.seq
        self._message_lost = True

    def _verdicts(self, event: Event) -> Iterator[Verdict]:
        """Yield every complaint that stands by itself: after an unanswered call, what else there is."""
        self._explained = False
        verdict = rules.admit(self.state, event)
        if verdict is None:
            return
        yield verdict
        if verdict.name == "calls-answered":
            for call in self.state.open_calls:
                call.answered = True
            self.state.unanswered = 0
            again = rules.admit(self.state, event)
            if again is not None:
                yield again

    def _take_on_trust(self, event: Event) -> None:
        """Go on as if this record were what its place asks for."""
        trust(self.state, event)


class _Seals:
    """The check values by seq: runs without a gap, each an array."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._runs: list[array[int]] = []

    def add(self, seq: int, seal: int) -> None:
        if not self._runs or self._starts[-1] + len(self._runs[-1]) != seq:
            self._starts.append(seq)
            self._runs.append(array("I"))
        self._runs[-1].append(seal)

    def of(self, seq: int) -> int | None:
        place = bisect_right(self._starts, seq) - 1
        if place < 0 or seq - self._starts[place] >= len(self._runs[place]):
            return None
        return self._runs[place][seq - self._starts[place]]


def trust(before: State, event: Event) -> None:
    """Advance over a record that may be at fault: whatever it says that can be used is used."""
    before.next_seq += 1
    data: object = event.data
    if type(event.type) is not str or event.type not in shapes.SHAPES or not isinstance(data, dict):
        return
    if shapes.complaint(event.type, cast("dict[str, Any]", data)) is not None:
        return
    if event.type in {"tool/call", "tool/result"}:
        call = paired(before, event)
        if call is not None and event.type == "tool/call":
            call.started = True
        elif call is not None and not call.answered:
            call.answered = True
            before.unanswered -= 1
        before.last_type = event.type
        return
    before.next_seq -= 1
    advance(before, event)
    if event.type == "assistant/message":
        before.unanswered = len(before.calls)


def paired(before: State, event: Event) -> state.Call | None:
    """Return the call that a `tool/call` or `tool/result` means.

    The one of its id, of its source's, or by position the first that waits.
    """
    wanted = [event.data["call_id"]]
    if event.type == "tool/result":
        wanted.append(event.data["source"].get("call_id", ""))
    waiting = before.open_calls
    for call_id in wanted:
        call = before.calls.get(call_id)
        if call is not None and not call.answered and not (event.type == "tool/call" and call.started):
            return call
    if all(wanted) and event.type == "tool/call":
        return None
    if any(not call_id for call_id in wanted) or any(not call.call_id for call in waiting):
        return next(
            (call for call in waiting if call.started == (event.type == "tool/result")), None
        ) or next(iter(waiting), None)
    return None


def kind_of(verdict: Verdict, event: Event, before: State) -> str:
    """Return the kind of fault that a verdict on an event is."""
    if verdict.name == "identities":
        return "unnamed-call" if "" in _names(event) else "empty-id"
    if verdict.name == "result-pairs":
        return _result_kind(event.data, before)
    return _KIND_OF.get(verdict.name, "wrong-record")


def _names(event: Event) -> list[str]:
    """Return the names that a record with identities has for calls."""
    if event.type == "assistant/message":
        return [call.name for call in state.calls_of(event.data["message"])]
    return [event.data["name"]] if event.type == "tool/call" else []


def _result_kind(data: dict[str, Any], before: State) -> str:
    call = before.calls.get(data["call_id"])
    if data["source"]["kind"] != "tool" or data["source"]["call_id"] != data["call_id"]:
        return "mismatched-source"
    if call is not None and call.answered:
        return "second-result"
    return "result-without-call"


def _seal_of(piece: Piece) -> int:
    return int(piece.data.rstrip(b"\n")[-10:-2], 16)
