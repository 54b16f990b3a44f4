"""The gateway's process: started, addressed, ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scripts.shell import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


class Gateway(NamedTuple):
    """A gateway that runs: where it is asked, and its process."""

    address: str
    pid: int


@contextlib.contextmanager
def gateway(core: int | None = None, *options: str) -> Iterator[Gateway]:
    """A gateway on loopback; `core` is the one that it runs on, the options are those of its module."""
    command = [sys.executable, "-m", "benches.http.server", *options]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        port = json.loads(process.stdout.readline())["port"]
        try:
            yield Gateway(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.stdin.close()


def two_cores() -> tuple[int, int]:
    """A core for the client and one for the gateway."""
    first, second, *_ = [*sorted(os.sched_getaffinity(0)), *sorted(os.sched_getaffinity(0))]
    return first, second


def processor_seconds(pid: int) -> float:
    """What a process has used of a processor so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
