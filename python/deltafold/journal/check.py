"""Checking sessions: what a reader would say of each, and every fault by name.

One bad session never hides the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from deltafold.journal import quarantine, record
from deltafold.journal.errors import JournalCorrupt, JournalMissing, UnknownFormat
from deltafold.journal.faults import Fault, FaultFinder
from deltafold.journal.reader import Reader, export_command
from deltafold.journal.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.journal.record import Event
    from deltafold.journal.stores.base import ReadLog
    from deltafold.journal.targets import Target

    Progress = Callable[[int, int], None]

Status = Literal["clean", "torn", "damaged", "unreadable"]

EXIT_CODES: Final[dict[Status, int]] = {"clean": 0, "torn": 1, "damaged": 2, "unreadable": 3}
MAX_FAULTS: Final = 1000
"""Faults that a report lists; more are counted."""
_PROGRESS_EVERY: Final = 4096


@dataclass(slots=True)
class Report:
    """What is known of one session.

    status: `clean`, `torn` (a torn tail alone), `damaged`, or `unreadable`. records, size: what a reader
    accepts from the start. torn: bytes of the torn tail. faults: the first thousand, in order; `fault_count`
    counts all. interrupted: a turn is open. live: a writer had the session. notes: what is no fault of the
    history (a raw stream that is not there, say).
    """

    session: str
    location: str
    status: Status = "clean"
    records: int = 0
    size: int = 0
    torn: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])
    fault_count: int = 0
    interrupted: bool = False
    closed: bool = False
    live: bool = False
    error: str | None = None
    notes: list[str] = field(default_factory=list[str])

    @property
    def exit_code(self) -> int:
        """0 clean, 1 torn tail only, 2 damage, 3 cannot read."""
        return EXIT_CODES[self.status]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        faults = [
            {
                "kind": fault.kind,
                "rule": fault.rule,
                "seq": fault.seq,
                "offset": fault.offset,
                "bytes": fault.size,
                "reason": fault.reason,
                "advice": fault.advice,
            }
            for fault in self.faults
        ]
        return {
            "session": self.session,
            "file": self.location,
            "status": self.status,
            "exit": self.exit_code,
            "records": self.records,
            "bytes": self.size,
            "torn_bytes": self.torn,
            "interrupted": self.interrupted,
            "closed": self.closed,
            "live": self.live,
            "error": self.error,
            "faults": faults,
            "fault_count": self.fault_count,
            "notes": self.notes,
        }


def check(target: Target, progress: Progress | None = None) -> Report:
    """Check one session.

    `progress` is called now and then with the records and bytes read so far. Never raises for what it reads.
    """
    report = Report(target.session, target.label)
    try:
        with target.read() as log:
            report.location = log.location
            report.live = target.is_live()
            salt = _read(log, report, progress)
            if report.status == "damaged":
                _find_faults(log, report)
            _look_aside(log, report, salt)
    except (OSError, JournalMissing, UnknownFormat) as error:
        report.status = "unreadable"
        report.error = str(error)
    return report


def _read(log: ReadLog, report: Report, progress: Progress | None) -> bytes | None:
    """Read as every reader does; its verdict is the report's status. Returns the log's salt."""
    reader = Reader(log)
    raw = _RawNames(log)
    try:
        for event in reader.events():
            raw.see(event)
            if progress is not None and reader.state.next_seq % _PROGRESS_EVERY == 0:
                progress(reader.state.next_seq, reader.size)
    except JournalCorrupt as error:
        report.status = "damaged"
        report.error = str(error)
    report.notes.extend(raw.notes())
    report.session = reader.state.session or report.session
    report.records = reader.state.next_seq
    report.size = reader.size
    report.torn = reader.torn
    report.interrupted = reader.state.turn is not None
    report.closed = reader.state.closed
    if reader.torn:
        report.status = "torn"
        why = (
            "nothing valid stands behind it"
            if not report.live
            else "a writer is live: perhaps it is just writing"
        )
        report.faults = [Fault("torn-tail", "J1", reader.state.next_seq, reader.size, reader.torn, why)]
        report.fault_count = 1
        report.notes.extend(_glued(log, reader))
    return reader.salt


def _glued(log: ReadLog, reader: Reader) -> list[str]:
    """Note that another log begins whole in the tail: more than a crash leaves, though no reader takes it."""
    for line in log.lines(seq=reader.state.next_seq, offset=reader.size):
        salt = record.salt_of(line.data)
        if salt is not None and record.verified(line.data, salt):
            return [f"another log begins at byte {line.offset}: two files may have been glued together"]
    return []


class _RawNames:
    """Which of the raw streams that the history names are there."""

    def __init__(self, log: ReadLog) -> None:
        self._unread = ""
        try:
            self._there = set(log.raw_names())
        except OSError as error:
            self._there = set[str]()
            self._unread = f"the raw streams cannot be listed: {error}"
        self._named = 0
        self._missing = 0
        self._first = ""

    def see(self, event: Event) -> None:
        stream = event.data.get("stream") if event.type == "assistant/message" else None
        if stream is None:
            return
        self._named += 1
        if stream["file"] not in self._there:
            self._missing += 1
            self._first = self._first or stream["file"]

    def notes(self) -> list[str]:
        if self._unread or not self._missing:
            return [self._unread] if self._unread else []
        return [f"{self._missing} of {self._named} raw streams are not there (the first: {self._first})"]


def _find_faults(log: ReadLog, report: Report) -> None:
    for fault in FaultFinder(log.session).faults(Survey(log).pieces()):
        report.fault_count += 1
        if len(report.faults) < MAX_FAULTS:
            report.faults.append(fault)
    report.notes.append(f"everything that can be decoded: {export_command(log.location)}")


def _look_aside(log: ReadLog, report: Report, salt: bytes | None) -> None:
    """Note what is odd in the quarantine; it is beside the history."""
    try:
        broken = sum(not entry.intact for entry in quarantine.entries(log, salt))
    except OSError as error:
        report.notes.append(f"the quarantine cannot be read: {error}")
        return
    if broken:
        report.notes.append(f"{broken} line(s) of the quarantine do not verify")
