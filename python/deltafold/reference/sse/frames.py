"""Frames for the assembler: events, error lines, and what is odd in the framing (S4 to S6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.reference.sse.lines import DataBuffer, LineReader, Oversize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.policy import Limits
    from deltafold.reference.sse.lines import Line


class Frame:
    """A dispatched event of the assembler: its type ("" when none came), its data, its place."""

    __slots__ = ("data", "event", "is_tail", "offset")

    def __init__(self, event: str, data: str, offset: int, *, is_tail: bool = False) -> None:
        """Keep what was read."""
        self.event = event
        self.data = data
        self.offset = offset
        self.is_tail = is_tail


class ErrorLine:
    """A line `error: ...` (S4), with its own place."""

    __slots__ = ("ended", "offset", "text")

    def __init__(self, text: str, offset: int, *, ended: bool) -> None:
        """Keep what was read."""
        self.ended = ended
        self.text = text
        self.offset = offset


class Oddity:
    """Something in the framing to be reported."""

    __slots__ = ("detail", "kind")

    def __init__(self, kind: str, detail: str) -> None:
        """Keep what was seen."""
        self.kind = kind
        self.detail = detail


class FrameReader:
    """Cuts bytes into frames for the assembler.

    is_event_stream: a `data`, `event`, `id`, `retry` or `error` line came. has_other_lines: a line came that
    is neither that, nor a comment, nor blank. is_valid: all of it was UTF-8 (E6).
    """

    def __init__(self, limits: Limits) -> None:
        """Begin before the first byte."""
        self.is_event_stream = False
        self.has_other_lines = False
        self.is_valid = True
        self._lines = LineReader(limits.line)
        self._data = DataBuffer(limits.event)
        self._event = ""
        self._start: int | None = None

    @property
    def position(self) -> int:
        """The number of bytes read."""
        return self._lines.position

    def feed(self, data: bytes) -> Iterator[Frame | ErrorLine | Oddity]:
        """Give what these bytes complete, in order."""
        try:
            for line in self._lines.feed(data):
                yield from self._take(line)
        except Oversize as oversize:
            raise self._at_event(oversize) from None

    def close(self) -> Iterator[Frame | ErrorLine | Oddity]:
        """Give what the end of input completes; a pending event comes as a tail (S5).

        A line that the end of input breaks off is no line yet: only `data` and a whole error count.
        """
        for line in self._lines.close():
            yield from self._take(line)
        if self._data:
            yield Frame(self._event, self._data.take(), self._start or 0, is_tail=True)

    def _at_event(self, oversize: Oversize) -> Oversize:
        """Place an error where the event begins that is being read."""
        if self._start is not None:
            oversize.offset = self._start
        return oversize

    def _take(self, line: Line) -> Iterator[Frame | ErrorLine | Oddity]:
        if not line.valid:
            self.is_valid = False
            yield Oddity("invalid-utf8", f"in the line at byte {line.offset}")
        if not line.length:
            if self._data:
                yield Frame(self._event, self._data.take(), self._start or 0)
            self._event = ""
            self._start = None
        elif not line.is_comment:
            yield from self._field(line)

    def _field(self, line: Line) -> Iterator[ErrorLine | Oddity]:
        if self._start is None:
            self._start = line.offset
        name, value, length = line.field()
        if name not in {"data", "event", "id", "retry", "error"}:
            self.has_other_lines = True
            if line.ended:
                yield Oddity("unknown-field", name)
            return
        self.is_event_stream = True
        if name == "data":
            self._data.add(value, length, self._start)
        elif name == "event" and line.ended:
            self._event = value
        elif name == "error":
            yield ErrorLine(value, line.offset, ended=line.ended)
