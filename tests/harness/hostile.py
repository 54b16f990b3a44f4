"""Files that nobody should be made to read: one maker for each kind of refusal."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from deltafold.harness import zstd
from deltafold.harness.limits import DEFAULT_LIMITS, Limits
from tests.harness.samples import Log, dumps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = replace(
    DEFAULT_LIMITS,
    file_bytes=1 << 20,
    plain_bytes=1 << 20,
    line_bytes=1 << 18,
    values=20_000,
    events=5_000,
    frames=50,
)


def _folder(base: Path) -> Path:
    folder = base / "--w--" / "s"
    folder.mkdir(parents=True)
    return folder


def link(base: Path) -> Path:
    target = Log().write(base / "elsewhere")
    path = _folder(base) / "session.jsonl"
    path.symlink_to(target)
    return path


def pipe(base: Path) -> Path:
    path = _folder(base) / "session.jsonl"
    os.mkfifo(path)
    return path


def large(base: Path) -> Path:
    path = _folder(base) / "session.jsonl"
    path.touch()
    os.truncate(path, 1 << 40)
    return path


def bomb(base: Path) -> Path:
    """A few kilobytes that unpack to 256 MiB."""
    path = _folder(base) / "session.jsonl.zstd"
    path.write_bytes(zstd.encode_frame(dumps(Log().header) + b"\n") + zstd.encode_frame(b"x\n" * (128 << 20)))
    return path


def long_line(base: Path) -> Path:
    path = _folder(base) / "session.jsonl.zstd"
    line = b'{"type":"turn/start","seq":0,"time":1,"data":{"turn":1,"x":"' + b"x" * (1 << 19) + b'"}}\n'
    path.write_bytes(zstd.encode_frame(dumps(Log().header) + b"\n") + zstd.encode_frame(line))
    return path


def many_values(base: Path) -> Path:
    path = _folder(base) / "session.jsonl"
    path.write_bytes(Log().bytes() + b"[" + b"[]," * 50_000 + b"[]]\n")
    return path


def many_frames(base: Path) -> Path:
    path = _folder(base) / "session.jsonl.zstd"
    path.write_bytes(zstd.encode_frame(dumps(Log().header) + b"\n") + zstd.encode_frame(b"") * 100)
    return path


def many_events(base: Path) -> Path:
    """One packed row of a hundred kilobytes that expands to thousands of events."""
    path = _folder(base) / "session.jsonl"
    row = {"type": "text-chunks", "seq0": 0, "time0": 1}
    row["data"] = {"turn": 1, "step": 1, "index": 0, "dt": [0] * 6_999, "texts": [""] * 7_000}
    path.write_bytes(Log().bytes() + dumps(row) + b"\n")
    return path


MAKERS: dict[str, Callable[[Path], Path]] = {
    "file-link": link,
    "file-not-regular": pipe,
    "file-too-large": large,
    "plain-too-large": bomb,
    "line-too-long": long_line,
    "file-too-many-values": many_values,
    "file-too-many-frames": many_frames,
    "file-too-many-events": many_events,
}
KINDS = [*MAKERS, "file-unreadable", "file-changing", "zstd-missing", "reader-refuses", "file-too-complex"]
LIMITS: Limits = SMALL
