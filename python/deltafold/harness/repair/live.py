"""Is somebody writing? Format v0 has no lock between processes, so every other sign is looked for."""

# System calls on descriptors and on /proc; pathlib has no such form.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from deltafold.harness.limits import RefusedError

if TYPE_CHECKING:
    from collections.abc import Generator

    from deltafold.harness.repair.files import Directory

_LOCK_FILE: Final = "session.lock"
_PROC: Final = "/proc"


@contextmanager
def no_writer(directory: Directory, name: str) -> Generator[None]:
    """Refuse while a writer is live, and hold the locks that later harness versions respect.

    Raises RefusedError when the log or its lock file is locked, or when a process has the log open for
    writing.
    """
    held: list[int] = []
    try:
        for candidate in (name, _LOCK_FILE):
            if candidate == name or candidate in directory.names():
                held.append(directory.open(candidate))
                _lock(held[-1], candidate)
        assert_not_open(directory, name)
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)


def _lock(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RefusedError("writer-live", f"{name} is locked by another process: a writer is live") from error


def assert_not_open(directory: Directory, name: str) -> None:
    """Refuse when a process has the log open for writing, as far as the system shows open files."""
    stamp = directory.stamp(name)
    for pid in _processes():
        if _writes(pid, stamp.device, stamp.inode):
            raise RefusedError("writer-live", f"process {pid} has the log open for writing")


def _processes() -> list[str]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return []
    return [name for name in names if name.isdigit() and int(name) != os.getpid()]


def _writes(pid: str, device: int, inode: int) -> bool:
    folder = f"{_PROC}/{pid}/fd"
    try:
        descriptors = os.listdir(folder)
    except OSError:
        return False
    return any(_is_writer(pid, descriptor, device, inode) for descriptor in descriptors)


def _is_writer(pid: str, descriptor: str, device: int, inode: int) -> bool:
    try:
        status = os.stat(f"{_PROC}/{pid}/fd/{descriptor}")
        if (status.st_dev, status.st_ino) != (device, inode):
            return False
        with open(f"{_PROC}/{pid}/fdinfo/{descriptor}", encoding="ascii") as file:
            flags = next((line.split()[1] for line in file if line.startswith("flags:")), "0")
    except OSError:
        return False
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
