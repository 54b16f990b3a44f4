"""The zstd container of session logs: frames found without decompression, decoded with a bound.

The structural scan follows section 4.4 of the specification word for word; the decoder is the library
`zstandard`, or the standard one where Python has it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from deltafold.harness.limits import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_RESERVED_BIT: Final = 0x18
_SINGLE_SEGMENT: Final = 0x20
_CHECKSUM: Final = 0x04
_RAW_BLOCK: Final = 0
_RLE_BLOCK: Final = 1
_RESERVED_BLOCK: Final = 3
_BLOCK_HEADER: Final = 3
_UNBOUNDED: Final = 1 << 62
_LARGEST_BLOCK: Final = 1 << 17
"""What a valid block gives at most; the text of a raw or a repeated one is as long as its header says."""
_FOUR_BYTE_DICTIONARY: Final = 3
_READ: Final = 1 << 20
_SMALL_READ: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class FrameRange:
    """Byte range of one complete frame."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FrameScan:
    """What the structural scan found.

    Complete frames, then a torn one, or the words of the reader's refusal.
    """

    frames: tuple[FrameRange, ...]
    torn_start: int | None = None
    error: str | None = None
    error_at: int | None = None


class _StructureError(Exception):
    def __init__(self, what: str, at: int) -> None:
        super().__init__(f"corrupt Zstandard session log: {what} at byte {at}")
        self.at = at


class _Budget:
    """How much text may come out; blocks that say their size are counted before anything is unpacked."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def take(self, size: int) -> None:
        """Count one block; raises RefusedError where the file cannot stay within the limit."""
        self.left -= size
        if self.left < 0:
            raise RefusedError("plain-too-large", f"unpacks to more than {self.limit} bytes")


def scan_frames(data: bytes, *, maximum: int, limit: int = _UNBOUNDED, start: int = 0) -> FrameScan:
    """Find the frames from `start` on; a second pass after damage starts behind it.

    Raises RefusedError for more than `maximum` frames, and where their blocks say that more than `limit`
    bytes come out.
    """
    frames: list[FrameRange] = []
    budget = _Budget(limit)
    offset = start
    while offset < len(data):
        try:
            end = _frame_end(data, offset, budget)
        except _StructureError as error:
            return FrameScan(tuple(frames), error=str(error), error_at=offset)
        if end is None:
            return FrameScan(tuple(frames), torn_start=offset)
        frames.append(FrameRange(offset, end))
        if len(frames) > maximum:
            raise RefusedError("file-too-many-frames", f"more than {maximum} frames")
        offset = end
    return FrameScan(tuple(frames))


def _frame_end(data: bytes, start: int, budget: _Budget) -> int | None:
    """Return the end of the frame at `start`, None when the data ends inside it."""
    size = len(data)
    if size - start < len(_MAGIC):
        return None
    if data[start : start + 4] != _MAGIC:
        raise _StructureError("invalid frame magic", start)
    offset = start + 4
    if offset == size:
        return None
    descriptor = data[offset]
    if descriptor & _RESERVED_BIT:
        raise _StructureError("reserved frame-header bit", offset)
    offset += 1 + _header_rest(descriptor)
    if offset > size:
        return None
    blocks_end = _blocks_end(data, offset, budget)
    if blocks_end is None:
        return None
    end = blocks_end + (4 if descriptor & _CHECKSUM else 0)
    return end if end <= size else None


def _header_rest(descriptor: int) -> int:
    single = bool(descriptor & _SINGLE_SEGMENT)
    flag = descriptor >> 6
    content_size = (1 if single else 0) if flag == 0 else 1 << flag
    dictionary = descriptor & 3
    return (0 if single else 1) + (4 if dictionary == _FOUR_BYTE_DICTIONARY else dictionary) + content_size


def _blocks_end(data: bytes, offset: int, budget: _Budget) -> int | None:
    size = len(data)
    while True:
        if size - offset < _BLOCK_HEADER:
            return None
        header = int.from_bytes(data[offset : offset + _BLOCK_HEADER], "little")
        kind = header >> 1 & 3
        if kind == _RESERVED_BLOCK:
            raise _StructureError("reserved block type", offset)
        offset += _BLOCK_HEADER + (1 if kind == _RLE_BLOCK else header >> 3)
        if offset > size:
            return None
        if kind in (_RAW_BLOCK, _RLE_BLOCK) and header >> 3 <= _LARGEST_BLOCK:
            budget.take(header >> 3)
        if header & 1:
            return offset


def find_magic(data: bytes, start: int) -> int | None:
    """Return where the next frame magic stands at or after `start`."""
    at = data.find(_MAGIC, start)
    return None if at < 0 else at


def without_checksum(frame: bytes) -> bytes | None:
    """Return the same frame with its checksum taken off, None when it has none."""
    if not frame[4] & _CHECKSUM:
        return None
    return frame[:4] + bytes([frame[4] & ~_CHECKSUM]) + frame[5:-4]


class _Reader(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class _Codec(Protocol):
    """The two operations needed of a zstd library."""

    error: type[Exception]

    def reader(self, frame: bytes, /) -> _Reader: ...

    def compress(self, plain: bytes, /) -> bytes: ...


class _Library:
    """A zstd library behind the two operations."""

    def __init__(
        self, error: type[Exception], reader: Callable[[bytes], _Reader], compress: Callable[[bytes], bytes]
    ) -> None:
        self.error = error
        self.reader = reader
        self.compress = compress


def _third_party() -> _Codec:
    library = import_module("zstandard")

    def reader(frame: bytes) -> _Reader:
        opened: _Reader = library.ZstdDecompressor().stream_reader(frame, read_across_frames=False)
        return opened

    def compress(plain: bytes) -> bytes:
        packed: bytes = library.ZstdCompressor(write_checksum=True).compress(plain)
        return packed

    return _Library(cast("type[Exception]", library.ZstdError), reader, compress)


def _standard() -> _Codec:
    library = import_module("compression.zstd")

    class Incremental:
        """Bounded reads from one frame, whole or torn."""

        def __init__(self, frame: bytes) -> None:
            self.source = io.BytesIO(frame)
            self.decoder = library.ZstdDecompressor()

        def read(self, size: int = -1, /) -> bytes:
            while not self.decoder.eof:
                fed = self.source.read(_READ) if self.decoder.needs_input else b""
                if self.decoder.needs_input and not fed:
                    break
                plain: bytes = self.decoder.decompress(fed, size)
                if plain:
                    return plain
            return b""

    def compress(plain: bytes) -> bytes:
        options = {library.CompressionParameter.checksum_flag: 1}
        packed: bytes = library.compress(plain, options=options)
        return packed

    return _Library(cast("type[Exception]", library.ZstdError), Incremental, compress)


def _load() -> _Codec:
    for load in (_third_party, _standard):
        try:
            return load()
        except ImportError:
            continue
    raise RefusedError("zstd-missing", "this file is compressed; install deltafold[zstd] to read it")


_loaded: list[_Codec] = []


def codec() -> _Codec:
    """Return the zstd library at hand; raises RefusedError when there is none."""
    if not _loaded:
        _loaded.append(_load())
    return _loaded[0]


def _pull(frame: bytes, limit: int, size: int) -> tuple[bytes, bool]:
    """Decompress up to the end or the first error, and tell whether it went well."""
    library = codec()
    reader = library.reader(frame)
    parts: list[bytes] = []
    total = 0
    try:
        while part := reader.read(size):
            total += len(part)
            if total > limit:
                raise RefusedError("plain-too-large", f"unpacks to more than {limit} bytes")
            parts.append(part)
    except library.error:
        return b"".join(parts), False
    return b"".join(parts), True


def decode_frame(frame: bytes, limit: int) -> bytes | None:
    """Decompress one complete frame; None where the library refuses it.

    Raises RefusedError when more than `limit` bytes come out.
    """
    plain, whole = _pull(frame, limit, _READ)
    return plain if whole else None


def decode_prefix(torn: bytes, limit: int) -> bytes:
    """Decompress what a torn frame still holds; nothing where the library refuses it."""
    return decode_frame(torn, limit) or b""


def decode_unverified(frame: bytes, limit: int) -> bytes:
    """Decompress a complete frame that fails: without its checksum, or as far as it goes."""
    bare = without_checksum(frame)
    if bare is not None:
        plain = decode_frame(bare, limit)
        if plain is not None:
            return plain
    return _pull(frame, limit, _SMALL_READ)[0]


def encode_frame(plain: bytes) -> bytes:
    """Compress into one frame with a checksum, at the default level, as the Harness writes them."""
    return codec().compress(plain)
