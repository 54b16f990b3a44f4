"""One session file taken apart: frames, header line, event lines, each with its place in the file.

Nothing is judged here. The model of the reader and the fault finders walk the same document, so a line is
decoded once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness import zstd
from deltafold.harness.js import JsonValue, Record, as_record, decode_utf8, parse
from deltafold.harness.limits import RefusedError
from deltafold.harness.rows import MalformedRowError, decode_record, row_tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.limits import Limits

RAW_FRAME: Final = -1


@dataclass(slots=True)
class Frame:
    """One complete frame of a compressed file; `plain` is None where it cannot be decoded.

    In a lenient reading a frame that fails keeps what it gives without its checksum, and is not `sound`.
    """

    start: int
    end: int
    plain: bytes | None
    sound: bool = True


@dataclass(slots=True, eq=False)
class Line:
    """One line of the text.

    `number` counts from 1 with the header, `offset` is in the text, `frame` holds its start.
    """

    number: int
    offset: int
    raw: bytes
    ended: bool
    frame: int
    last_frame: int
    _state: tuple[JsonValue, list[JsonValue] | None, str | None] | None = field(default=None, repr=False)

    def _decoded(self) -> tuple[JsonValue, list[JsonValue] | None, str | None]:
        if self._state is None:
            try:
                value = parse(decode_utf8(self.raw))
            except ValueError as error:
                self._state = (None, None, f"not JSON: {error}")
                return self._state
            try:
                self._state = (value, decode_record(value), None)
            except MalformedRowError as error:
                self._state = (value, None, str(error))
        return self._state

    @property
    def value(self) -> JsonValue:
        """The JSON value of the line, None where it is not JSON."""
        return self._decoded()[0]

    @property
    def events(self) -> list[JsonValue] | None:
        """The events of the line after expansion, None where the reader cannot parse it."""
        return self._decoded()[1]

    @property
    def problem(self) -> str | None:
        """Why the line cannot be parsed, None where it can."""
        return self._decoded()[2]

    @property
    def records(self) -> list[Record]:
        """The events of the line that are objects."""
        return [record for record in map(as_record, self.events or []) if record is not None]

    @property
    def packed(self) -> bool:
        """Whether the line is tagged as a packed row."""
        return row_tag(self.value) is not None

    @property
    def end(self) -> int:
        """Offset in the text behind the line and its newline."""
        return self.offset + len(self.raw) + (1 if self.ended else 0)


@dataclass(slots=True)
class Document:
    """A session file in parts."""

    compression: str
    data: bytes
    frames: list[Frame] = field(default_factory=list[Frame])
    torn_start: int | None = None
    """Start of a torn last frame."""
    structure_error: str | None = None
    """The reader's words where the container itself is damaged."""
    structure_at: int | None = None
    header: Line | None = None
    header_frame: bytes | None = None
    """Text of the first frame, for the rule that it is exactly one line."""
    lines: list[Line] = field(default_factory=list[Line])
    """Event lines, also behind damage, the torn remainder last."""
    complete_bytes: int = 0
    """Length of the text without what a torn frame gave."""
    first_torn_line: int | None = None
    """Index in `lines` of the first line that a torn frame gave."""
    skipped: list[tuple[int, bytes]] = field(default_factory=list["tuple[int, bytes]"])
    """In a lenient reading, the bytes between frames that are no frame, with their offset in the file."""

    @property
    def zstd(self) -> bool:
        """Whether the file is compressed."""
        return self.compression == "zstd"

    def frame_offset(self, line: Line) -> int | None:
        """Return the byte offset in the file of the frame that holds a line, None for a plain file."""
        if not self.zstd:
            return None
        if line.frame < len(self.frames):
            return self.frames[line.frame].start
        return self.torn_start

    def failed_frame(self) -> int | None:
        """Return the index of the first frame that cannot be decoded."""
        return next((at for at, frame in enumerate(self.frames) if frame.plain is None), None)


def _split(text: bytes, start: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (offset, line, ended) for a text that begins at `start` of the whole."""
    position = 0
    while position < len(text):
        newline = text.find(b"\n", position)
        if newline < 0:
            yield start + position, text[position:], False
            return
        yield start + position, text[position:newline], True
        position = newline + 1


class _Bounds:
    """Counts what has been taken against the limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.values = 0
        self.events = 0
        self.plain = 0

    def text(self, size: int) -> int:
        self.plain += size
        if self.plain > self.limits.plain_bytes:
            raise RefusedError("plain-too-large", f"more than {self.limits.plain_bytes} bytes of text")
        return self.limits.plain_bytes - self.plain

    def line(self, line: bytes) -> None:
        if len(line) > self.limits.line_bytes:
            raise RefusedError(
                "line-too-long", f"a line of {len(line)} bytes, the limit is {self.limits.line_bytes}"
            )
        commas = line.count(b",")
        self.values += 1 + commas + line.count(b"[") + line.count(b"{")
        self.events += commas // 2 if b'-chunks"' in line else 1
        if self.events > self.limits.events:
            raise RefusedError("file-too-many-events", f"more than {self.limits.events} events")
        if self.values > self.limits.values:
            raise RefusedError("file-too-many-values", f"more than {self.limits.values} JSON values")


def open_document(data: bytes, compression: str, limits: Limits, *, lenient: bool = False) -> Document:
    """Take a file apart; raises RefusedError where a limit is passed or zstd is not at hand.

    A lenient reading, for repair, goes on behind bytes that are no frame and reads frames that fail their
    checksum.
    """
    bounds = _Bounds(limits)
    document = Document(compression, data)
    if compression == "zstd":
        _open_zstd(document, bounds, lenient=lenient)
    else:
        _open_raw(document, bounds)
    return document


def _open_raw(document: Document, bounds: _Bounds) -> None:
    bounds.text(len(document.data))
    lines: list[Line] = []
    for offset, raw, ended in _split(document.data, 0):
        bounds.line(raw)
        lines.append(Line(len(lines) + 1, offset, raw, ended, RAW_FRAME, RAW_FRAME))
    document.complete_bytes = len(document.data)
    if lines:
        document.header, document.lines = lines[0], lines[1:]


def _open_zstd(document: Document, bounds: _Bounds, *, lenient: bool) -> None:
    _find_frames(document, bounds, lenient=lenient)
    if not document.frames and not lenient:
        return
    document.header_frame = document.frames[0].plain if document.frames else None
    document.complete_bytes = sum(len(frame.plain or b"") for frame in document.frames)
    builder = _Builder(document, bounds)
    for at, frame in enumerate(document.frames):
        builder.feed(at, frame.plain)
    document.first_torn_line = len(document.lines)
    if document.torn_start is not None:
        torn = zstd.decode_prefix(document.data[document.torn_start :], bounds.text(0))
        bounds.text(len(torn))
        builder.feed(len(document.frames), torn)
    builder.finish()


def _find_frames(document: Document, bounds: _Bounds, *, lenient: bool) -> None:
    data, start = document.data, 0
    while True:
        limits = bounds.limits
        scan = zstd.scan_frames(data, maximum=limits.frames, limit=limits.plain_bytes, start=start)
        for frame in scan.frames:
            document.frames.append(_frame(data, frame, bounds, lenient=lenient))
        document.torn_start, document.structure_error = scan.torn_start, scan.error
        document.structure_at = scan.error_at
        if scan.error_at is None or not lenient:
            return
        following = zstd.find_magic(data, scan.error_at + 1)
        end = len(data) if following is None else following
        document.skipped.append((scan.error_at, data[scan.error_at : end]))
        start = end


def _frame(data: bytes, found: zstd.FrameRange, bounds: _Bounds, *, lenient: bool) -> Frame:
    raw = data[found.start : found.end]
    plain, sound = zstd.decode_frame(raw, bounds.text(0)), True
    if plain is None and lenient:
        plain, sound = zstd.decode_unverified(raw, bounds.text(0)), False
    bounds.text(len(plain or b""))
    return Frame(found.start, found.end, plain, sound)


class _Builder:
    """Joins the text of frames into lines; a frame that cannot be decoded breaks the line before it."""

    def __init__(self, document: Document, bounds: _Bounds) -> None:
        self.document = document
        self.bounds = bounds
        self.offset = 0
        self.pending: list[bytes] = []
        self.pending_size = 0
        self.start_frame = 0
        self.start = 0
        self.count = 0

    def feed(self, frame: int, plain: bytes | None) -> None:
        if plain is None:
            self.finish(frame)
            return
        for offset, raw, ended in _split(plain, self.offset):
            if not self.pending:
                self.start_frame, self.start = frame, offset
            self.pending.append(raw)
            self.pending_size += len(raw)
            if self.pending_size > self.bounds.limits.line_bytes:
                self.bounds.line(b"".join(self.pending))
            if ended:
                self._emit(frame, ended=True)
        self.offset += len(plain)

    def finish(self, frame: int | None = None) -> None:
        if self.pending:
            self._emit(self.start_frame if frame is None else frame, ended=False)

    def _emit(self, frame: int, *, ended: bool) -> None:
        raw = b"".join(self.pending)
        self.pending, self.pending_size = [], 0
        self.bounds.line(raw)
        self.count += 1
        line = Line(self.count, self.start, raw, ended, self.start_frame, frame)
        frames = self.document.frames
        if self.document.header is None and self.count == 1 and (not frames or frames[0].plain is not None):
            self.document.header = line
        else:
            self.document.lines.append(line)
