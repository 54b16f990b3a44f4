"""What lies in a log, piece by piece, whatever its state: the common ground of check, export and repair.

A survey goes on where a reader stops. It knows bytes, seals and seqs; what the records mean is judged
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from deltafold.journal import onebit, record
from deltafold.journal.reader import records_within
from deltafold.journal.record import BadLine, Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.journal.stores.base import Line, ReadLog

Kind = Literal["record", "bad-crc", "foreign", "other-start", "other-record", "unreadable", "torn"]
NO_END: Final = "no LF behind it"
_PROBE: Final = 64
_MAX_HELD: Final = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a log.

    kind: `record` (verified), `bad-crc` (the form of a record, its check value wrong), `foreign` (anything
    else), `unreadable` (sealed, but no object with a record's members), `other-start` and `other-record`
    (whole records of another log), `torn` (what a crash left at the end). `data` are its bytes, but for
    stretches of foreign or torn bytes, which have only their first part.
    """

    kind: Kind
    offset: int
    size: int
    data: bytes
    event: Event | None = None
    why: str = ""

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.size


class Survey:
    """Goes through a log once.

    `salt` is the log's, known once the first line was seen; `header_intact` whether that line verified.
    """

    def __init__(self, log: ReadLog) -> None:
        """Prepare; nothing is read yet."""
        self.log = log
        self.salt: bytes | None = None
        self.header_intact = True
        self._other: bytes | None = None

    def known_salt(self) -> bytes | None:
        """Return the log's salt without going through it."""
        for line in self.log.lines():
            self._read_header(line)
            break
        return self.salt

    def again(self, start: int) -> Iterator[Piece]:
        """Yield the pieces once more, from a log that begins further on; all before it is not of this log."""
        self.header_intact = True
        yield Piece("other-record", 0, start, b"", why="the log of another session")
        for line in self.log.lines(seq=0, offset=start):
            yield from self._split(line)

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces in order.

        Bad pieces at the end, with no record behind them, come as one `torn` piece.
        """
        held: list[Piece] = []
        for line in self.log.lines():
            if line.offset == 0:
                self._read_header(line)
            for piece in self._split(line):
                if piece.kind in {"bad-crc", "foreign"} or piece.why == NO_END:
                    _hold(held, piece)
                    continue
                yield from held
                held.clear()
                yield piece
        yield from self._tail(held)

    def _tail(self, held: list[Piece]) -> Iterator[Piece]:
        if not held:
            return
        formed = held[0].offset == 0 and any(piece.kind == "bad-crc" for piece in held[1:])
        behind = any(piece.kind == "record" for piece in held[1:])
        if not self.log.tears or formed or behind:
            yield from held  # nothing tears there, or (what may be) records stand behind the first bad byte
            return
        size = held[-1].end - held[0].offset
        yield replace(held[0], kind="torn", size=size, why="nothing valid stands behind it")

    def _read_header(self, line: Line) -> None:
        self.salt = record.salt_of(line.data)
        self.header_intact = self.salt is not None and record.verified(line.data, self.salt)
        if self.header_intact:
            return
        for salt in (self.salt, onebit.header_salt(line.data)):
            if salt is not None and self._fits(salt):
                self.salt = salt
                return

    def _fits(self, salt: bytes) -> bool:
        """Whether some early line verifies under a salt that the broken first line shows."""
        lines = islice(self.log.lines(), 1, _PROBE)
        return any(record.verified(line.data, salt) for line in lines)

    def _split(self, line: Line) -> Iterator[Piece]:
        """Yield what one line holds: mostly one record; otherwise what can be told of it."""
        salt = self.salt or b""
        if line.size > len(line.data):
            yield Piece("foreign", line.offset, line.size, line.data[:1024], why="longer than any record")
            return
        try:
            event = record.decode(line.data, salt)
        except BadLine as bad:
            if bad.sealed:
                yield Piece("unreadable", line.offset, line.size, line.data, why=bad.reason)
            else:
                yield from self._split_bad(line, bad.reason)
            return
        self._other = None
        yield Piece("record", line.offset, line.size, line.data, event)

    def _split_bad(self, line: Line, why: str) -> Iterator[Piece]:
        other = self._other_log(line.data)
        if other is not None:
            yield Piece(other[0], line.offset, line.size, line.data, other[1], "a record of another log")
            return
        position = 0
        for start, end in records_within(line.data, self.salt, from_start=True, by_form=False):
            if start < position:
                continue
            if start > position:
                yield _bad(line, position, start, "foreign", "bytes between records")
            event = record.decode(line.data[start:end] + b"\n", self.salt or b"")
            ended = line.data[end : end + 1] == b"\n"
            position = end + ended
            data = line.data[start:position]
            yield Piece("record", line.offset + start, len(data), data, event, "" if ended else NO_END)
        if position < len(line.data):
            formed = position == 0 and _formed(line.data)
            yield _bad(line, position, len(line.data), "bad-crc" if formed else "foreign", why)

    def _other_log(self, data: bytes) -> tuple[Kind, Event] | None:
        """Return what a line is when it is a whole record of another log that began in this file."""
        salt = record.salt_of(data)
        if salt is not None and salt != self.salt and record.verified(data, salt):
            self._other = salt
            return "other-start", record.decode(data, salt)
        if self._other is not None and record.verified(data, self._other):
            return "other-record", record.decode(data, self._other)
        return None


def _formed(data: bytes) -> bool:
    try:
        record.opened(data)
    except BadLine:
        return False
    return True


def _bad(line: Line, start: int, end: int, kind: Kind, why: str) -> Piece:
    data = line.data[start:end]
    event = record.opened(data) if kind == "bad-crc" else None
    return Piece(kind, line.offset + start, end - start, data, event, why)


def _hold(held: list[Piece], piece: Piece) -> None:
    """Keep a bad piece until it is known what stands behind it; long stretches are kept as one."""
    if len(held) >= _MAX_HELD or (held and held[-1].kind == piece.kind == "foreign"):
        last = held[-1]
        held[-1] = replace(last, size=piece.end - last.offset, data=(last.data + piece.data)[:65_536])
    else:
        held.append(piece)
