"""From damaged lines to rows in sequence.

Unreadable bytes out, duplicates out, gaps filled, forks put to the operator.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from deltafold.harness.document import Line
from deltafold.harness.faults.lines import looks_like_turn_end, unparsable_kind
from deltafold.harness.js import UNDEFINED, JsonValue, Record, as_int, as_record, deep_equal, stringify
from deltafold.harness.repair.draft import Change, Draft, Row
from deltafold.harness.repair.gaps import Situation, fill
from deltafold.harness.rows import pack_events

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORD_START: Final = re.compile(rb'\{"type":"')
_SALVAGE_TRIES: Final = 16
_LOOK_AHEAD: Final = 8


def rows_in_sequence(draft: Draft) -> list[Row]:
    """Return the rows of a log in sequence from seq 0, with the draft's choice where a fork stands."""
    return _Sequencer(draft).run(_readable_rows(draft))


def _readable_rows(draft: Draft) -> list[Row]:
    """Return the rows that hold events, in file order; everything else goes to quarantine."""
    rows: list[Row] = []
    for line in draft.document.lines:
        rows.extend(_salvaged(draft, line))
    return rows


def _salvaged(draft: Draft, line: Line) -> Iterator[Row]:
    kind = unparsable_kind(line)
    record = as_record(line.value)
    if kind is None and record is not None and record.get("type") == "session" and "seq" not in record:
        _drop(draft, line, "line-not-event", "a second header line: two files were joined here")
        return
    if kind is None:
        if not line.ended:
            draft.note(Change("line-torn", "the line is whole but had no end", "derived", line=line.number))
        yield Row.of(line)
        return
    mended = _mended_row(draft, line) if kind == "row-malformed" else None
    if mended is not None:
        yield mended
        return
    parts = list(_parts(line)) if kind in ("line-unparsable", "line-nul") else []
    for raw, whole in parts:
        if whole:
            draft.note(
                Change(kind, "a whole record was joined to other bytes", "recovered", line=line.number)
            )
            yield Row(raw, line.frame, None)
        elif raw:
            draft.take_out(raw, f"{kind}: bytes that are no record", line.number)
    draft.losses.append(line.number)
    if not parts:
        _drop(draft, line, "line-torn" if not line.ended else kind, _loss(line, kind))


def _mended_row(draft: Draft, line: Line) -> Row | None:
    """Return a packed row whose texts are whole, its time gaps set to nothing; None where more is wrong."""
    data = as_record((as_record(line.value) or {}).get("data")) or {}
    members = data.get("args", data.get("texts"))
    if not isinstance(members, list):
        return None
    row = Row.of(line)
    times: list[JsonValue] = [0] * (len(members) - 1)
    row.put(("data", "dt"), times)
    if not row.events:
        return None
    draft.note(
        Change(
            "row-malformed",
            "the times between its members do not fit and are lost",
            "derived",
            line=line.number,
        )
    )
    return row


def _loss(line: Line, kind: str) -> str:
    size = len(line.raw)
    if kind == "line-blank":
        return "an empty line"
    if looks_like_turn_end(line.raw):
        return f"{size} bytes that were a turn/end; how that turn ended is lost"
    what = "the unfinished last line" if not line.ended else "a line that holds no event"
    return f"{what}, {size} bytes"


def _drop(draft: Draft, line: Line, kind: str, why: str) -> None:
    draft.take_out(line.raw, why, line.number)
    draft.note(Change(kind, why, "removed", line=line.number))
    if kind != "line-blank":
        draft.lost.append(f"line {line.number}: {why}")


def _parts(line: Line) -> Iterator[tuple[bytes, bool]]:
    """Split a line in which a whole record follows other bytes: a torn write, NULs, a lost line end."""
    starts = [match.start() for match in _RECORD_START.finditer(line.raw) if match.start() > 0]
    for start in starts[:_SALVAGE_TRIES]:
        tail = _probe(line.raw[start:], line)
        if tail is not None and _first_seq(tail) is not None:
            head = _probe(line.raw[:start], line)
            yield line.raw[:start], head is not None and _first_seq(head) is not None
            yield line.raw[start:], True
            return


def _probe(raw: bytes, line: Line) -> list[Record] | None:
    parsed = Line(0, 0, raw, ended=True, frame=line.frame, last_frame=line.frame)
    return parsed.records or None


def _first_seq(records: list[Record]) -> int | None:
    seq = as_int(records[0].get("seq", UNDEFINED))
    return seq if seq is not None and seq >= 0 else None


class _Sequencer:
    """Puts rows into sequence. `first` and `last` say which branch of a fork is kept; None stops at it."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rows: list[Row] = []
        self.events: list[Record] = []
        self.situation = Situation()
        self.stopped = False
        self.ahead: list[Row] = []

    def run(self, rows: list[Row]) -> list[Row]:
        for at, row in enumerate(rows):
            if self.stopped:
                self.draft.take_out(row.raw, "behind a fork", row.number)
                continue
            following = rows[at + 1].events if at + 1 < len(rows) else []
            self.ahead = rows[at : at + _LOOK_AHEAD]
            self.take(row, _first_seq(following) if following else None)
        return self.rows

    def take(self, row: Row, next_seq: int | None) -> None:
        expected = len(self.events)
        first = _first_seq(row.events)
        if first == expected:
            self.append(row)
        elif first is not None and first < expected and self.known(row, first):
            self.repeat(row, first)
        elif next_seq == expected + len(row.events) or (first is None and next_seq is None):
            self.renumber(row, first)
        elif first is None:
            self.drop(row, "seq-invalid", "no usable seq, and its place cannot be told")
        elif first > expected:
            self.gap(row, first)
        else:
            self.fork(row, first)

    def append(self, row: Row) -> None:
        self.rows.append(row)
        self.events.extend(row.events)
        for event in row.events:
            self.situation.take(event)

    def known(self, row: Row, first: int) -> bool:
        """Tell whether all records of the row that are known already are identical."""
        pairs = zip(row.events, self.events[first:], strict=False)
        return all(deep_equal(event, seen) for event, seen in pairs)

    def repeat(self, row: Row, first: int) -> None:
        """Drop an exact duplicate; of a packed row that goes further keep the rest."""
        fresh = row.events[len(self.events) - first :]
        self.drop(row, "seq-duplicate", "stands twice, identical", lost=False)
        for record in pack_events(fresh):
            self.append(Row.fresh(record, row.frame))

    def renumber(self, row: Row, first: int | None) -> None:
        """Set the seq of a single row that stands between its neighbours with a wrong one."""
        expected = len(self.events)
        row.put(("seq0",) if row.packed else ("seq",), expected)
        why = "its neighbours prove its seq"
        old = None if first is None else str(first)
        change = Change("seq-invalid", why, "derived", expected, row.number, "seq", old, str(expected))
        self.draft.note(change)
        self.append(row)

    def drop(self, row: Row, kind: str, why: str, *, lost: bool = True) -> None:
        seq = _first_seq(row.events)
        self.draft.take_out(row.raw, why, row.number, seq)
        self.draft.note(Change(kind, why, "removed", seq, row.number))
        if lost:
            self.draft.lost.append(f"line {row.number}: {why}")

    def gap(self, row: Row, first: int) -> None:
        expected, missing = len(self.events), first - len(self.events)
        if not self.draft.may_fill(missing):
            self.stopped = True
            return
        for event in fill(self.situation, self.placed(row), expected, missing):
            fresh = Row.fresh(event, row.frame)
            rebuilt = "inserted" not in (as_record(event["data"]) or {})
            what = (
                f"lost; {event['type']} rebuilt from its neighbours"
                if rebuilt
                else "lost; a placeholder keeps its seq"
            )
            seq = as_int(event["seq"])
            change = Change(
                "seq-gap", what, "derived" if rebuilt else "placeholder", seq, new=stringify(event["type"])
            )
            self.draft.note(change)
            self.append(fresh)
        self.draft.lost.append(f"seq {expected} to {first - 1}: {missing} record(s)")
        self.draft.losses.append(row.number or 0)
        self.append(row)

    def placed(self, row: Row) -> Record:
        """Return the first event from here on that names its turn: it proves what must stand before it."""
        events = [event for near in self.ahead for event in near.events]
        placed = (event for event in events if "turn" in (as_record(event.get("data")) or {}))
        return next(placed, row.events[0])

    def fork(self, row: Row, first: int) -> None:
        draft = self.draft
        draft.forks.append(first)
        if draft.options.fork == "last" and len(draft.forks) == 1:
            self.cut_back(first)
            self.take(row, None)
            return
        if draft.options.fork == "last":
            draft.blocked.append(
                "more than one fork: two writers wrote at once; only the first branch can be kept"
            )
        elif draft.options.fork is None:
            draft.blocked.append(f"a fork at seq {first}: choose --fork first or --fork last")
        self.stopped = True
        draft.losses.append(row.number or 0)
        draft.take_out(row.raw, "the other branch of a fork", row.number, first)
        draft.note(
            Change("seq-fork", "the first branch is kept, this one put aside", "removed", first, row.number)
        )
        draft.lost.append(f"seq {first}: the branch that begins at line {row.number}")

    def cut_back(self, seq: int) -> None:
        """Take the first branch out again from `seq` on."""
        kept, at = list[Row](), 0
        for row in self.rows:
            size = len(row.events)
            if at + size <= seq:
                kept.append(row)
            else:
                self.draft.take_out(row.raw, "the other branch of a fork", row.number, at)
                change = Change(
                    "seq-fork", "the last branch is kept, this one put aside", "removed", at, row.number
                )
                self.draft.note(change)
                kept.extend(
                    Row.fresh(record, row.frame) for record in pack_events(row.events[: max(0, seq - at)])
                )
            at += size
        self.draft.lost.append(f"seq {seq} to {at - 1}: the first branch of the fork")
        self.draft.losses.append(1 << 62)
        self.rows, self.events, self.situation = [], [], Situation()
        for row in kept:
            self.append(row)
