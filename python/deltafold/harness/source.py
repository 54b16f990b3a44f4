"""Reading a session file without trusting its path: no links, regular files only, bounded."""

# Paths stay the strings that the reader forms and quotes.
# ruff: noqa: PTH114, PTH120

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltafold.harness.limits import RefusedError

if TYPE_CHECKING:
    from deltafold.harness.layout import Place
    from deltafold.harness.limits import Limits

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from the next, as the Harness itself forms its revision."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Take the stamp from a stat result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Bytes:
    """The bytes of one file and the state they were read in."""

    data: bytes
    stamp: Stamp

    def sha256(self) -> str:
        """Return the hash of the bytes, 64 hex digits."""
        return hashlib.sha256(self.data).hexdigest()


def open_regular(path: str, *, dir_fd: int | None = None) -> int:
    """Open a regular file for reading and return its descriptor.

    Raises RefusedError for a link, a directory, a device or a pipe; OSError where the system refuses.
    """
    try:
        descriptor = os.open(path, _FLAGS, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise RefusedError("file-link", "a link stands in place of the session file") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RefusedError("file-not-regular", "not a regular file")
    return descriptor


def read_place(place: Place, limits: Limits) -> Bytes:
    """Read the file of a session, if no directory between its root and it is a link.

    Raises RefusedError or OSError.
    """
    if place.root is not None:
        session = os.path.dirname(place.path)
        for folder in (session, os.path.dirname(session)):
            if os.path.islink(folder):
                raise RefusedError("file-link", "a link stands in place of a directory below the root")
    return read_bytes(place.path, limits)


def read_bytes(path: str, limits: Limits, *, dir_fd: int | None = None) -> Bytes:
    """Read a whole session file, at most `limits.file_bytes`.

    Reads again when the file changed meanwhile, as the Harness does; after some attempts the file counts as
    being written. Raises RefusedError or OSError.
    """
    for _attempt in range(8):
        descriptor = open_regular(path, dir_fd=dir_fd)
        with os.fdopen(descriptor, "rb") as file:
            before = Stamp.of(os.fstat(descriptor))
            if before.size > limits.file_bytes:
                raise RefusedError(
                    "file-too-large",
                    f"{before.size} bytes on disk, more than the limit of {limits.file_bytes}",
                )
            data = file.read(limits.file_bytes + 1)
            if before == Stamp.of(os.fstat(descriptor)) and len(data) == before.size:
                return Bytes(data, before)
    raise RefusedError("file-changing", "the file changes while it is read: a writer is live")
