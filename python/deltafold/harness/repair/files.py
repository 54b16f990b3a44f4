"""One directory held by its descriptor.

Every name is looked up in it and nowhere else, no link is followed.
"""

# System calls on descriptors and on /proc; pathlib has no such form.
# ruff: noqa: PTH119, PTH120, PTH208

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING, Self

from deltafold.harness.limits import RefusedError
from deltafold.harness.source import Stamp, open_regular

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from deltafold.harness.layout import Place

_BLOCK = 1 << 20


class Directory:
    """A directory; use it as a context manager."""

    def __init__(self, path: str, *, parent: Directory | None = None) -> None:
        """Open a directory by path, or by its name in `parent`; raises RefusedError for a link or a file."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self.fd: int = os.open(path, flags, dir_fd=None if parent is None else parent.fd)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise RefusedError(
                    "file-link", f"{path}: a link or a file stands in place of a directory"
                ) from error
            raise

    def __enter__(self) -> Self:
        """Return the directory itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the descriptor, which gives up the lock too."""
        os.close(self.fd)

    def lock(self) -> None:
        """Take the exclusive lock of this directory; raises RefusedError when another repair holds it."""
        import fcntl  # noqa: PLC0415  # POSIX only, and needed for writing alone

        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RefusedError("writer-live", "another repair works in this session directory") from error

    def sync(self) -> None:
        """Make the entries of the directory durable."""
        os.fsync(self.fd)

    def subdirectory(self, name: str) -> Directory:
        """Open a subdirectory, made 0700 where it is not there."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=self.fd)
            self.sync()
        return Directory(name, parent=self)

    def names(self) -> list[str]:
        """Return the names in the directory, sorted."""
        return sorted(os.listdir(self.fd))

    def stamp(self, name: str) -> Stamp:
        """Return the stamp of an entry, of the link itself where it is one."""
        return Stamp.of(os.stat(name, dir_fd=self.fd, follow_symlinks=False))

    def open(self, name: str) -> int:
        """Open a regular file for reading."""
        return open_regular(name, dir_fd=self.fd)

    def write_new(self, name: str, data: bytes, like: os.stat_result | None = None) -> None:
        """Write a file that must not be there yet and make its bytes durable; gone again when that fails.

        It gets owner and mode of `like`, else it is 0600. Raises RefusedError where the owner cannot be kept.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=self.fd)
        try:
            try:
                _write_all(descriptor, data)
                if like is not None:
                    _keep_owner(descriptor, like)
                    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except (OSError, RefusedError):
            self.unlink(name)
            raise

    def append(self, name: str, line: bytes) -> None:
        """Append one line to a file, made where it is not there, and make it durable.

        A line that was cut short before it is closed first. Raises RefusedError for what is no regular file.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=self.fd)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise RefusedError("file-not-regular", f"{name} is not a regular file")
            if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
                line = b"\n" + line
            _write_all(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, old: str, new: str) -> None:
        """Put one entry in place of another, at once, and make that durable."""
        os.rename(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        self.sync()

    def link(self, old: str, new: str) -> bool:
        """Give a file a second name; False where the filesystem has no hard links."""
        try:
            os.link(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                return False
            raise
        return True

    def unlink(self, name: str) -> None:
        """Remove an entry if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)


@contextlib.contextmanager
def session_directory(place: Place) -> Generator[Directory]:
    """Open the directory of a session from its root down, so that no link below the root is followed.

    Raises RefusedError for a link, OSError.
    """
    folder = os.path.dirname(place.path)
    with contextlib.ExitStack() as opened:
        if place.root is None:
            yield opened.enter_context(Directory(folder))
            return
        project, session = os.path.split(folder)
        above = opened.enter_context(Directory(os.path.realpath(place.root)))
        above = opened.enter_context(Directory(os.path.basename(project), parent=above))
        yield opened.enter_context(Directory(session, parent=above))


def _keep_owner(descriptor: int, like: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) == (like.st_uid, like.st_gid):
        return
    try:
        os.fchown(descriptor, like.st_uid, like.st_gid)
    except PermissionError as error:
        raise RefusedError(
            "owner-lost", "the file belongs to another user, who could not write the new one"
        ) from error


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:_BLOCK]) :]


def temporary_name(name: str) -> str:
    """Return a name in the form of the Harness's own temporary files, which every reader ignores."""
    return f"{name}.{secrets.token_hex(6)}.tmp"
