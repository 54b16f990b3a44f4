"""File systems to break: ext4 on a loop device whose power is cut, and a tmpfs that fills up. Both need
root."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# _IOR('X', 125, __u32): the file system stops at once; with NOLOGFLUSH nothing in memory reaches the disk.
EXT4_IOC_SHUTDOWN = 0x8004587D
NOLOGFLUSH = 2


def run(*command: object) -> None:
    """Run a command; its output is shown where it fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")


class Ext4:
    """An ext4 file system in a file."""

    def __init__(self, folder: Path) -> None:
        self.image = folder / "ext4.img"
        self.mount_point = folder / "ext4"
        self.mount_point.mkdir()
        with self.image.open("wb") as image:
            image.truncate(64 * 1024 * 1024)
        run("mkfs.ext4", "-q", "-F", self.image)
        self.mount()

    def mount(self) -> None:
        run("mount", "-o", "loop", self.image, self.mount_point)

    def unmount(self) -> None:
        run("umount", self.mount_point)

    def cut_power(self) -> None:
        """Lose everything that is not on the disk."""
        descriptor = os.open(self.mount_point, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
        finally:
            os.close(descriptor)

    def restart(self) -> None:
        """Come back: the file system's own journal is replayed."""
        self.unmount()
        self.mount()


@contextlib.contextmanager
def ext4(folder: Path) -> Iterator[Ext4]:
    """A mounted ext4, or a skip with the reason."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    try:
        disk = Ext4(folder)
    except OSError as error:
        pytest.skip(f"no loop-mounted ext4 here: {error}")
    try:
        yield disk
    finally:
        with contextlib.suppress(OSError):
            disk.unmount()


@contextlib.contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    """A mounted tmpfs of this size, or a skip with the reason."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    folder.mkdir()
    try:
        run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    except OSError as error:
        pytest.skip(f"no tmpfs can be mounted here: {error}")
    try:
        yield folder
    finally:
        run("umount", folder)
