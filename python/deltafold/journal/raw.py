"""Raw streams: what the gateway sent, byte for byte, one file a response, kept apart from the history."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Final, Literal

from deltafold.journal.stores import files

if TYPE_CHECKING:
    from collections.abc import Iterator

Compression = Literal["zstd"] | None

SUFFIX: Final = ".sse"
ZSTD_SUFFIX: Final = ".sse.zst"
_FLUSH_EVERY: Final = 64 * 1024
_MAX_WINDOW: Final = 1 << 27
"""Bytes of memory that unpacking may take."""


def zstd() -> Any:  # noqa: ANN401  (the library has no types of its own that all versions share)
    """Return the zstandard library. Raises `ImportError` with the extra's name."""
    try:
        import zstandard  # noqa: PLC0415  (an extra: looked for only where it is asked for)
    except ImportError:
        raise ImportError("compressed raw streams need the extra: pip install 'deltafold[zstd]'") from None
    return zstandard


class FileSink:
    """A raw stream's file while it is being written."""

    def __init__(self, folder: int, stream: str, compression: Compression) -> None:
        """Begin an empty file that was not there before."""
        self._folder = folder
        file_name = stream + (ZSTD_SUFFIX if compression else SUFFIX)
        self.name = f"raw/{file_name}"
        self._packer = zstd().ZstdCompressor(level=3).compressobj() if compression else None
        try:
            self._file = files.open_file(folder, file_name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except OSError:
            os.close(folder)
            raise
        self._digest = hashlib.sha256()
        self._count = 0
        self._unflushed = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep a chunk."""
        self._digest.update(data)
        self._count += len(data)
        if self._packer is None:
            files.write_all(self._file, bytes(data))
            return
        packed = self._packer.compress(bytes(data))
        self._unflushed += len(data)
        if self._unflushed >= _FLUSH_EVERY:  # so that a crash leaves what came, but for the last few blocks
            packed += self._packer.flush(1)
            self._unflushed = 0
        files.write_all(self._file, packed)

    def finish(self) -> tuple[str, int]:
        """Make the file and its name durable; returns sha256 and count of the bytes as they came."""
        try:
            if self._packer is not None:
                files.write_all(self._file, self._packer.flush())
            files.sync_data(self._file)
            os.fsync(self._folder)
        finally:
            self.abandon()
        return self._digest.hexdigest(), self._count

    def abandon(self) -> None:
        """Close; what was written stays."""
        if self._file >= 0:
            os.close(self._file)
            os.close(self._folder)
            self._file = -1


def read_stream(name: str, descriptor: int) -> Iterator[bytes]:
    """Yield a stream as it came from its file, in blocks whatever it unpacks to. Raises `OSError`."""
    if not name.endswith(ZSTD_SUFFIX):
        yield from files.read_blocks(descriptor)
        return
    library = zstd()
    with open(os.dup(descriptor), "rb") as packed:  # noqa: PTH123
        reader = library.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(
            packed, read_across_frames=True
        )
        try:
            while data := reader.read(files.BLOCK):
                yield data
        except library.ZstdError as error:
            raise OSError(f"{name} cannot be unpacked: {error}") from None
