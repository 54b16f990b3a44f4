"""First half of a repair: from the pieces of a log to one record for each seq.

Flipped bits are put back, foreign and torn bytes left out, a glued log taken off, exact repeats dropped, gaps
marked. Two logs that forked are never merged: without a choice the plan is blocked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.journal import onebit, record, shapes
from deltafold.journal.record import Event
from deltafold.journal.repair.model import Change, Keep, Slot, filler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltafold.journal.survey import Piece

MAX_GAP: Final = 100_000
_SHOWN: Final = 4096


class Blocked(Exception):  # noqa: N818  (a state of the plan, told to the user)
    """The repair needs a choice, or evidence that is not there."""

    def __init__(self, reason: str, choices: list[str] | None = None) -> None:
        """Keep what to tell."""
        super().__init__(reason)
        self.reason = reason
        self.choices = choices or []


class Sequencer:
    """Brings pieces into sequence. `changes` collects what it does."""

    def __init__(self, salt: bytes, session: str, keep: Keep | None) -> None:
        """Begin before the first record."""
        self.salt = salt
        self.session = session
        self.keep = keep
        self.changes: list[Change] = []
        self.slots: list[Slot] = []
        self._skipping = False

    def take(self, pieces: Iterable[Piece]) -> list[Slot]:
        """Return one slot for each seq. Raises `Blocked`."""
        for slot in self._slots_of(list(pieces)):
            if not self._skipping:
                self._place(slot)
        return self.slots

    # From pieces to records

    def _slots_of(self, pieces: list[Piece]) -> Iterator[Slot]:
        position = 0
        while position < len(pieces):
            piece = pieces[position]
            following = pieces[position + 1] if position + 1 < len(pieces) else None
            position += 1
            if piece.kind == "record":
                yield self._whole(piece)
            elif piece.kind in {"bad-crc", "foreign"}:
                joined = self._joined(piece, following)
                if joined is not None:
                    position += 1
                    yield joined
                else:
                    yield from self._bad(piece)
            else:
                self._leave_out(piece)

    def _whole(self, piece: Piece) -> Slot:
        assert piece.event is not None  # noqa: S101  (a record piece has one)
        line = piece.data
        if not line.endswith(b"\n"):
            line += b"\n"
            why = "the record is whole, its line end is put back"
            self._note("foreign-bytes", "restored", piece, why, piece.event)
        return Slot(piece.event, line, piece.offset)

    def _joined(self, piece: Piece, following: Piece | None) -> Slot | None:
        """Return the record that a false line end has cut in two."""
        if following is None or following.kind not in {"bad-crc", "foreign"}:
            return None
        if piece.size > len(piece.data) or following.size > len(following.data):
            return None
        line = onebit.joined(piece.data, following.data, self.salt)
        if line is None:
            return None
        event = record.opened(line)
        self._note("bad-crc", "restored", piece, "one bit was flipped into a line end; it is put back", event)
        return Slot(event, line, piece.offset)

    def _bad(self, piece: Piece) -> Iterator[Slot]:
        if piece.size == len(piece.data):
            line = onebit.header(piece.data) if piece.offset == 0 else onebit.restored(piece.data, self.salt)
            if line is not None:
                event = record.opened(line)
                self._note("bad-crc", "restored", piece, "one bit was flipped; it is put back", event)
                yield Slot(event, line, piece.offset)
                return
        if piece.offset == 0:
            yield self._new_start(piece)
        elif piece.kind == "bad-crc" and piece.event is not None and type(piece.event.seq) is int:
            yield Slot(piece.event, None, piece.offset, proven=False)
        else:
            self._leave_out(piece)

    def _new_start(self, piece: Piece) -> Slot:
        """Rebuild the first record: session and salt are known, what else it said is not."""
        if not self.salt:
            raise Blocked("the first record is lost, and with it the salt: no other record can be proven")
        time = piece.event.time if piece.event is not None else "1970-01-01T00:00:00.000000Z"
        data = {
            "format": shapes.FORMAT,
            "session": self.session,
            "writer": "unknown",
            "salt": self.salt.hex(),
        }
        event = Event(0, time, "session/start", data)
        self._note(
            "bad-crc", "rewritten", piece, "rebuilt from the session's name and the salt that fits", event
        )
        return Slot(event, None, piece.offset)

    def _leave_out(self, piece: Piece) -> None:
        kinds = {"torn": "torn-tail", "other-start": "two-files-glued", "other-record": "two-files-glued"}
        kind = kinds.get(piece.kind, "wrong-record" if piece.kind == "unreadable" else "foreign-bytes")
        self._note(kind, "dropped", piece, piece.why or "not part of this log", None)

    def _note(self, kind: str, action: str, piece: Piece, why: str, after: Event | None) -> None:
        seq = piece.event.seq if piece.event is not None and type(piece.event.seq) is int else None
        if after is not None and type(after.seq) is int:
            seq = after.seq
        before = piece.data[:_SHOWN]
        self.changes.append(Change(kind, action, seq, piece.offset, why, before, after))  # type: ignore[arg-type]

    # From records to a sequence

    def _place(self, slot: Slot) -> None:
        seq = slot.event.seq
        expected = len(self.slots)
        if type(seq) is not int or seq < 0:
            self._drop(slot, "wrong-record", "its seq is no number")
        elif seq == expected:
            self.slots.append(slot)
        elif seq > expected:
            self._fill(slot, expected)
        elif not slot.proven:
            self._drop(slot, "bad-crc", "its check value is wrong and its seq is taken")
        else:
            self._again(slot, self.slots[seq])

    def _fill(self, slot: Slot, expected: int) -> None:
        missing = slot.event.seq - expected
        if not slot.proven and missing:
            self._drop(slot, "bad-crc", "its check value is wrong and its seq is out of sequence")
            return
        if missing > MAX_GAP or expected == 0:
            raise Blocked(f"{missing} records from seq {expected} are missing")
        time = self.slots[-1].event.time
        why = f"seq {expected} to {slot.event.seq - 1} were missing"
        self.slots += [filler(seq, time, why, "seq-gap") for seq in range(expected, slot.event.seq)]
        self.changes.append(Change("seq-gap", "marked", expected, slot.offset, why))
        self.slots.append(slot)

    def _again(self, slot: Slot, earlier: Slot) -> None:
        if earlier.filler or not earlier.proven:
            slot_seq = slot.event.seq
            self.slots[slot_seq] = slot
            self.changes.append(
                Change(
                    "seq-gap",
                    "restored",
                    slot_seq,
                    slot.offset,
                    "the record stands further on",
                    slot.line,
                    slot.event,
                )
            )
        elif slot.line == earlier.line:
            self._drop(slot, "duplicate-identical", "an exact repeat")
        else:
            self._fork(slot)

    def _fork(self, slot: Slot) -> None:
        """Two records of one seq that say different things: two histories, of which one is chosen."""
        seq = slot.event.seq
        ours = len(self.slots) - seq
        if self.keep is None:
            raise Blocked(
                f"two logs forked at seq {seq}: one goes on there with {ours} record(s), the other behind it",
                [
                    f"--keep first: the {ours} record(s) that stand first",
                    "--keep last: the records that stand behind",
                ],
            )
        if self.keep == "first":
            self._skipping = True
            self._drop(
                slot, "duplicate-different", "the other branch was chosen; this one is left out to its end"
            )
            return
        for dropped in self.slots[seq:]:
            self._drop(dropped, "duplicate-different", "the other branch was chosen")
        del self.slots[seq:]
        self.slots.append(slot)

    def _drop(self, slot: Slot, kind: str, why: str) -> None:
        seq = slot.event.seq if type(slot.event.seq) is int else None
        self.changes.append(Change(kind, "dropped", seq, slot.offset, why, slot.line))
