"""File system steps that the journal builds on: each is one promise about bytes, names or modes.

Files are opened relative to a directory's descriptor, never through a link, and must be regular files.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import time
from typing import TYPE_CHECKING, BinaryIO, Final

from deltafold.journal import record
from deltafold.journal.stores.base import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700
BLOCK: Final = 1024 * 1024
_LOCK_TRIES: Final = 4
_LOCK_PAUSE: Final = 0.01
_HOLDER_TRIES: Final = 10
_HOLDER_PAUSE: Final = 0.01

_SAFE = (
    os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
)  # NONBLOCK: opening a pipe in a file's place must not hang
_FULL_SYNC: Final[int | None] = getattr(
    fcntl, "F_FULLFSYNC", None
)  # macOS: fsync alone stops at the drive's cache


def open_file(directory: int, name: str, flags: int) -> int:
    """Open a regular file in a directory; made with mode 0600 when `flags` hold `O_CREAT`.

    Raises `OSError`.
    """
    descriptor = os.open(name, flags | _SAFE, FILE_MODE, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{name} is not a regular file")
    return descriptor


def open_directory(path: str, *, within: int | None = None) -> int:
    """Open a directory that is not a link."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=within)


def make_directory(name: str, *, within: int) -> int:
    """Open a directory, made with mode 0700 and its name made durable where it is not there."""
    try:
        os.mkdir(name, DIRECTORY_MODE, dir_fd=within)
    except FileExistsError:
        return open_directory(name, within=within)
    os.fsync(within)
    return open_directory(name, within=within)


def make_root(path: str) -> int:
    """Open the root of a store, made durable with mode 0700 where it is not there; a link is followed."""
    if not os.path.isdir(path):  # noqa: PTH112  (the rest of this file is `os`, as descriptors need it)
        parent = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120
        os.makedirs(parent, DIRECTORY_MODE, exist_ok=True)  # noqa: PTH103
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)  # noqa: PTH102
        sync_directory(parent)
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_data(descriptor: int) -> None:
    """Return once the file's bytes and size are on the disk.

    Raises `OSError`; a failed sync is never asked again.
    """
    if _FULL_SYNC is not None:
        fcntl.fcntl(descriptor, _FULL_SYNC)
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte. Raises `OSError`; how much was written is then not known."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_new(directory: int, name: str, data: bytes) -> None:
    """Put a whole file under a name, durably.

    After a crash the name holds all of it, or what it held before.
    """
    fresh = f"{name}.new"
    descriptor = open_file(directory, fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(descriptor, data)
        sync_data(descriptor)
    finally:
        os.close(descriptor)
    os.rename(fresh, name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


def read_blocks(descriptor: int, start: int = 0, *, block: int = BLOCK) -> Iterator[bytes]:
    """Yield a file's bytes from an offset on, in blocks."""
    while data := os.pread(descriptor, block, start):
        start += len(data)
        yield data


def split_lines(source: BinaryIO, offset: int = 0) -> Iterator[Line]:
    """Yield the lines of a file from an offset on.

    Of one longer than any record only the first part is kept.
    """
    source.seek(offset)
    while data := source.readline(record.MAX_LINE):
        size = len(data)
        while not data.endswith(b"\n") and size >= record.MAX_LINE:
            more = source.readline(BLOCK)
            size += len(more)
            if not more or more.endswith(b"\n"):
                break
        yield Line(offset, data, size)
        offset += size


def copy_range(source: int, start: int, directory: int, name: str) -> int:
    """Copy a file's bytes from `start` on into a new durable file. Returns the count."""
    target = open_file(directory, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    count = 0
    try:
        for block in read_blocks(source, start):
            write_all(target, block)
            count += len(block)
        sync_data(target)
    finally:
        os.close(target)
    os.fsync(directory)
    return count


def digest(directory: int, name: str) -> tuple[str, int]:
    """Return sha256 (hex) and size of a file."""
    descriptor = open_file(directory, name, os.O_RDONLY)
    try:
        value, size = hashlib.sha256(), 0
        for block in read_blocks(descriptor):
            value.update(block)
            size += len(block)
        return value.hexdigest(), size
    finally:
        os.close(descriptor)


def lock(directory: int, name: str) -> int | None:
    """Take the exclusive lock of a directory and write the process id into it; None when another has it.

    The lock is `flock`, so it goes with the process (also one killed) and with nothing else: a copied lock
    file is no lock.
    """
    descriptor = open_file(directory, name, os.O_RDWR | os.O_CREAT)
    if not _taken(descriptor):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor


def _taken(descriptor: int) -> bool:
    """Take the lock; one who only looks whether it is held (`is_locked`) is gone at the next try."""
    for attempt in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt + 1 < _LOCK_TRIES:
                time.sleep(_LOCK_PAUSE)
        else:
            return True
    return False


def lock_holder(directory: int, name: str) -> int | None:
    """Return the process id that the lock's holder wrote.

    One that has only just taken it is given a moment.
    """
    holder = None
    for _ in range(_HOLDER_TRIES):
        holder = _written_pid(directory, name)
        if holder is not None and _is_alive(holder):
            break
        time.sleep(_HOLDER_PAUSE)
    return holder


def _written_pid(directory: int, name: str) -> int | None:
    try:
        descriptor = open_file(directory, name, os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.pread(descriptor, 32, 0))
    except ValueError:
        return None
    finally:
        os.close(descriptor)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def is_locked(directory: int, name: str) -> bool:
    """Whether a writer holds the lock just now."""
    try:
        descriptor = open_file(directory, name, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
