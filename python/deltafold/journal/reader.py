"""Reading a log: every line verified, every record judged by the rules, nothing skipped in silence.

Two things can stand where a record should: a **torn tail** (bad bytes with no valid record behind them, what
a crash leaves; it was never acknowledged) and **damage** (everything else).
"""

from __future__ import annotations

import contextlib
import re
import shlex
from typing import TYPE_CHECKING, Final

from deltafold.journal import record, rules
from deltafold.journal.errors import JournalCorrupt, Place, UnknownFormat
from deltafold.journal.record import BadLine, Event
from deltafold.journal.state import State, advance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltafold.journal.stores.base import Line, ReadLog

_START = re.compile(rb'\{"seq":[0-9]')
_SEAL = re.compile(rb',"crc":"[0-9a-f]{8}"\}')
_NESTED_STARTS: Final = 4
_NESTED_SEALS: Final = 3
_MIN_FOREIGN: Final = 40


class Reader:
    """Reads one log from its first record on.

    Iterate `events()`; then (or whenever it stops) `state`, `salt`, `size` (bytes of the records so far) and
    `torn` (bytes of a torn tail behind them) say how far it came. Memory does not grow with the log.
    """

    def __init__(self, log: ReadLog) -> None:
        """Prepare; nothing is read yet."""
        self.log = log
        self.state = State(session=log.session)
        self.salt: bytes | None = None
        self.size = 0
        self.torn = 0

    def events(self) -> Iterator[Event]:
        """Yield every record's event.

        Raises `JournalCorrupt` or `UnknownFormat` at the first that may not be there.
        """
        for _line, event in self.records():
            yield event

    def records(self) -> Iterator[tuple[Line, Event]]:
        """Yield every record as its line and its event; raises as `events` does.

        Asked again, it goes on where it stopped: with what was appended meanwhile.
        """
        self.torn = 0
        lines = self.log.lines(seq=self.state.next_seq, offset=self.size)
        for line in lines:
            if self.salt is None:
                self.salt = record.salt_of(line.data)
            try:
                event = record.decode(line.data, self.salt or b"")
            except BadLine as bad:
                if bad.sealed:
                    raise self.corrupt(line, "J1", bad.reason) from None
                self._end_at(line, lines, bad.reason)
                return
            self._judge(line, event)
            advance(self.state, event)
            self.size = line.offset + line.size
            yield line, event

    def _judge(self, line: Line, event: Event) -> None:
        verdict = rules.admit(self.state, event)
        if verdict is None:
            return
        if verdict.name == "shape" and _format_of(event) is not None:
            place = self._place(line)
            raise UnknownFormat(
                f"format {_format_of(event)} is not known to this version; nothing was touched; {place}",
                session=place.session,
                location=place.location,
            )
        raise self.corrupt(line, verdict.rule, verdict.reason)

    def _end_at(self, bad: Line, rest: Iterable[Line], reason: str) -> None:
        """Decide whether the log ends torn at this line; raise when it is damage."""
        if not self.log.tears:
            raise self.corrupt(bad, "J1", reason)
        torn = bad.size
        if bad.size > len(bad.data):
            raise self.corrupt(bad, "J1", f"a line longer than {record.MAX_LINE} bytes: no writer left that")
        first = self.state.next_seq == 0
        behind = holds_record(bad.data, self.salt, from_start=False, first=first)
        for line in rest if not behind else ():
            torn += line.size
            behind = holds_record(line.data, self.salt, from_start=True, first=first)
            if behind:
                break
            if line.size > len(line.data):
                raise self.corrupt(
                    line, "J1", f"a line longer than {record.MAX_LINE} bytes: no writer left that"
                )
        if behind:
            raise self.corrupt(bad, "J1", f"{reason}, and a valid record stands behind it")
        self.torn = torn

    def _place(self, line: Line) -> Place:
        return Place(self.log.session, self.log.location, self.state.next_seq, line.offset)

    def corrupt(self, line: Line, rule: str, reason: str) -> JournalCorrupt:
        """Return the error that names this line as the first fault."""
        return JournalCorrupt(
            self._place(line),
            rule,
            reason,
            backup=self.log.backup(),
            command=export_command(self.log.location),
        )


def export_command(location: str) -> str:
    """Return the command that shows everything of a log that can still be decoded."""
    return f"deltafold journal export {shlex.quote(location)}"


def _format_of(event: Event) -> int | None:
    """Return the format number of a first record that differs from ours."""
    if event.seq != 0 or event.type != "session/start":
        return None
    number = event.data.get("format")
    return number if type(number) is int and number != 1 else None


def refuse_unknown_format(log: ReadLog) -> None:
    """Raise `UnknownFormat` for a log whose first record is whole and names a format that is not ours."""
    with contextlib.suppress(JournalCorrupt):
        next(Reader(log).events(), None)


def holds_record(data: bytes, salt: bytes | None, *, from_start: bool, first: bool) -> bool:
    """Whether a record of this log stands in these bytes: at their start (when asked), or anywhere behind.

    Where the first record is bad (`first`) its salt cannot be trusted, so anything that has the form of a
    record counts: a log is never thrown away as torn because its salt was hit. Linear in the bytes: a record
    is looked for between a start and the few seals that follow it.
    """
    return any(True for _ in records_within(data, salt, from_start=from_start, by_form=first))


def records_within(
    data: bytes, salt: bytes | None, *, from_start: bool, by_form: bool
) -> Iterator[tuple[int, int]]:
    """Yield start and end of each record of this log in these bytes, as `holds_record` finds them."""
    starts = [match.start() for match in _START.finditer(data) if from_start or match.start() > 0]
    if not starts:
        return
    seals = [match.end() for match in _SEAL.finditer(data)]
    for index, end in enumerate(seals):
        oldest = seals[index - _NESTED_SEALS] if index >= _NESTED_SEALS else 0
        near = [start for start in _before(starts, end) if start >= oldest]
        for start in near:
            whole = data[start:end] + b"\n"
            if salt is not None and record.verified(whole, salt):
                yield start, end
                break
            if by_form and end - start > _MIN_FOREIGN:
                yield start, end
                break


def _before(starts: list[int], end: int) -> list[int]:
    """Return the last few starts before a position, the earliest first."""
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < end:
            low = middle + 1
        else:
            high = middle
    return starts[max(0, low - _NESTED_STARTS) : low]
