"""Server-sent events by the WHATWG text (S1 to S6): lines, then events; nothing is read twice."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltafold.errors import DeltafoldError, LimitError
from deltafold.events import ByValue
from deltafold.policy import Limits
from deltafold.reference.json import exact_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = codecs.BOM_UTF8
_RETRY_DIGITS = 4300


@dataclass(frozen=True, slots=True, eq=False)
class ServerSentEvent(ByValue):
    """One event: its type, its data, the last event id, and the `retry` of its block if one came."""

    event: str
    data: str
    id: str
    retry: int | None = None


class Oversize(ValueError):  # noqa: N818
    """A line or an event passes its limit (S8); `offset` is where the event begins."""

    def __init__(self, kind: str, allowed: int, offset: int | None) -> None:
        """Keep which limit, and where."""
        super().__init__(kind)
        self.kind = kind
        self.allowed = allowed
        self.offset = offset

    def error(self, frame: int) -> LimitError:
        """Give the error for users."""
        what = "one line" if self.kind == "line" else "the data of one event"
        return LimitError(
            f"more than {self.allowed} bytes in {what}", kind=self.kind, frame=frame, offset=self.offset
        )


def decode(raw: bytes) -> tuple[str, bool]:
    """Decode UTF-8 by the WHATWG rule; give the text and whether it was valid (S6)."""
    try:
        return raw.decode(), True
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), False


class Line:
    """One line without its end: where it begins, its text, whether it was valid UTF-8, its length in bytes.

    Of a comment only the colon is there (S3).
    """

    __slots__ = ("length", "offset", "raw", "text", "valid")

    def __init__(self, offset: int, raw: bytes, text: str, *, valid: bool) -> None:
        """Keep what was read."""
        self.offset = offset
        self.raw = raw
        self.text = text
        self.valid = valid
        self.length = len(raw)

    @property
    def is_comment(self) -> bool:
        """Whether the line is a comment."""
        return self.text.startswith(":")

    def field(self) -> tuple[str, str, int]:
        """Split into name and value, with the value's length in bytes (S4)."""
        name, colon, value = self.text.partition(":")
        before = self.raw.find(b":") + 1 if colon else self.length
        if value.startswith(" "):
            value = value[1:]
            before += 1
        return name, value, self.length - before


class LineReader:
    """Cuts bytes into lines (S1, S2). Of a comment nothing is kept; a line that is too long is refused."""

    def __init__(self, limit: int) -> None:
        """Begin before the first byte."""
        self.limit = limit
        self.position = 0
        self._start = 0
        self._pending = bytearray()
        self._comment: codecs.IncrementalDecoder | None = None
        self._comment_valid = True
        self._at_bom = True
        self._after_cr = False

    @property
    def pending(self) -> bytes:
        """The line that has not ended, as far as it came; nothing of a comment."""
        return b"" if self._comment else bytes(self._pending)

    def feed(self, data: bytes) -> Iterator[Line]:
        """Give the lines that end in these bytes; Oversize when the last one grows too long."""
        if self._at_bom:
            data = self._without_bom(data)
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self.position += 1
            self._start += 1
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        for piece in data.splitlines(keepends=True):
            body = piece.rstrip(b"\r\n")
            self._add(body)
            self.position += len(piece)
            if len(body) < len(piece):
                yield self._line()

    def close(self) -> Iterator[Line]:
        """Give the line that the end of input cut off, if there is one."""
        if self._at_bom and self._pending:
            self._at_bom = False
            begun, self._pending = bytes(self._pending), bytearray()
            self.position = 0
            yield from self.feed(begun)
        if self._pending or self._comment:
            yield self._line()

    def _without_bom(self, data: bytes) -> bytes:
        """Drop a BOM at the very start, also when it is cut (S1)."""
        begun = bytes(self._pending) + data[: len(BOM)]
        if len(begun) < len(BOM) and BOM.startswith(begun):
            self._pending += data
            self.position += len(data)
            return b""
        data = bytes(self._pending) + data
        self._at_bom = False
        self._pending = bytearray()
        self.position = 0
        if data.startswith(BOM):
            self.position = self._start = len(BOM)
            return data[len(BOM) :]
        return data

    def _add(self, body: bytes) -> None:
        if self._comment is None and not self._pending and body.startswith(b":"):
            self._comment = codecs.getincrementaldecoder("utf-8")()
        if self._comment is not None:
            self._check_comment(body, final=False)
            return
        if len(self._pending) + len(body) > self.limit:
            raise Oversize("line", self.limit, self._start)
        self._pending += body

    def _check_comment(self, body: bytes, *, final: bool) -> None:
        if self._comment is None or not self._comment_valid:
            return
        try:
            self._comment.decode(body, final)
        except UnicodeDecodeError:
            self._comment_valid = False

    def _line(self) -> Line:
        offset, self._start = self._start, self.position
        if self._comment is not None:
            self._check_comment(b"", final=True)
            valid, self._comment_valid, self._comment = self._comment_valid, True, None
            return Line(offset, b":", ":", valid=valid)
        raw = bytes(self._pending)
        self._pending = bytearray()
        text, valid = decode(raw)
        return Line(offset, raw, text, valid=valid)


class DataBuffer:
    """The `data` lines of one event (S4), limited (S8)."""

    __slots__ = ("_length", "_limit", "_lines")

    def __init__(self, limit: int) -> None:
        """Begin without a line."""
        self._limit = limit
        self._lines: list[str] = []
        self._length = 0

    def __bool__(self) -> bool:
        """Whether a line came, an empty one included."""
        return bool(self._lines)

    def add(self, value: str, length: int, offset: int) -> None:
        """Add a line's value; Oversize when the event gets too long."""
        self._length += length + bool(self._lines)
        if self._length > self._limit:
            raise Oversize("event", self._limit, offset)
        self._lines.append(value)

    def take(self) -> str:
        """Give the joined data and begin anew."""
        data = "\n".join(self._lines)
        self._lines = []
        self._length = 0
        return data


class SSEDecoder:
    """A strict decoder of event streams; an unterminated tail is no event (S5).

    `last_event_id`, `retry` (milliseconds) and `comments` (a count) are as of now. `tail` are the raw bytes
    that came and belong to no event yet: pending `data` lines and the line that has not ended. The default
    limits hold; an error is raised by the call after the one that met it, so that no event is lost (P7).
    """

    def __init__(self) -> None:
        """Begin before the first byte."""
        limits = Limits()
        self.last_event_id = ""
        self.retry: int | None = None
        self.comments = 0
        self._lines = LineReader(limits.line)
        self._data = DataBuffer(limits.event)
        self._raw_data: list[bytes] = []
        self._event = ""
        self._id: str | None = None
        self._block_retry: int | None = None
        self._block_start: int | None = None
        self._count = 0
        self._error: DeltafoldError | None = None

    @property
    def tail(self) -> bytes:
        """The bytes that came and belong to no event yet."""
        return b"".join(self._raw_data) + self._lines.pending

    def feed(self, data: bytes | bytearray | memoryview) -> list[ServerSentEvent]:
        """Give the events that these bytes complete; any cut of a stream gives the same events (S7)."""
        if self._error is not None:
            raise self._error
        events: list[ServerSentEvent] = []
        try:
            for line in self._lines.feed(bytes(data)):
                self._take(line, events)
        except Oversize as oversize:
            self._error = oversize.error(self._count)
        return events

    def close(self) -> list[ServerSentEvent]:
        """End the input; always [], for what is left is no event (S5)."""
        if self._error is not None:
            raise self._error
        return []

    def _take(self, line: Line, events: list[ServerSentEvent]) -> None:
        if not line.length:
            self._dispatch(events)
        elif line.is_comment:
            self.comments += 1
        else:
            self._field(line)

    def _field(self, line: Line) -> None:
        if self._block_start is None:
            self._block_start = line.offset
        name, value, length = line.field()
        if name == "data":
            self._data.add(value, length, self._block_start)
            self._raw_data.append(line.raw + b"\n")
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= _RETRY_DIGITS:
            self.retry = self._block_retry = exact_integer(value)

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        if self._id is not None:
            self.last_event_id = self._id
        if self._data:
            self._count += 1
            event = self._event or "message"
            events.append(ServerSentEvent(event, self._data.take(), self.last_event_id, self._block_retry))
        self._raw_data = []
        self._event = ""
        self._id = self._block_retry = self._block_start = None


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

    __slots__ = ("is_tail", "offset", "text")

    def __init__(self, text: str, offset: int) -> None:
        """Keep what was read."""
        self.text = text
        self.offset = offset
        self.is_tail = False


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
        """Give what the end of input completes; a pending event comes as a tail (S5)."""
        for line in self._lines.close():
            for item in self._take(line):
                if isinstance(item, ErrorLine):
                    item.is_tail = True
                if not (isinstance(item, Oddity) and item.kind == "unknown-field"):
                    yield item
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
            yield Oddity("unknown-field", name)
            return
        self.is_event_stream = True
        if name == "data":
            self._data.add(value, length, self._start)
        elif name == "event":
            self._event = value
        elif name == "error":
            yield ErrorLine(value, line.offset)
