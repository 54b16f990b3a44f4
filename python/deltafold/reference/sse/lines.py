"""Lines of an event stream, and the data of its events (S1 to S6, S8)."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from deltafold.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold._stream import BytesLike

BOM = codecs.BOM_UTF8


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


def as_bytes(data: BytesLike) -> bytes:
    """Give the bytes of any object with the buffer protocol; TypeError for anything else."""
    return data if isinstance(data, bytes) else memoryview(data).tobytes()


def decode(raw: bytes) -> tuple[str, bool]:
    """Decode UTF-8 by the WHATWG rule; give the text and whether it was valid (S6)."""
    try:
        return raw.decode(), True
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), False


class Line:
    """One line without its end: where it begins, its text, whether it was valid UTF-8, its length in bytes.

    Of a comment only the colon is there (S3). ended: it has an end, the input did not break off in it.
    """

    __slots__ = ("ended", "length", "offset", "raw", "text", "valid")

    def __init__(self, offset: int, raw: bytes, text: str, *, valid: bool) -> None:
        """Keep what was read."""
        self.ended = True
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
            line = self._line()
            line.ended = False
            yield line

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
