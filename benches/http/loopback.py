"""The gateway's process: started, addressed, ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from scripts.shell import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def gateway(core: int | None = None) -> Iterator[str]:
    """The address of a gateway on loopback; `core` is the one that it runs on."""
    command = [sys.executable, "-m", "benches.http.server"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        port = json.loads(process.stdout.readline())["port"]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.stdin.close()


def two_cores() -> tuple[int, int]:
    """A core for the client and one for the gateway."""
    first, second, *_ = [*sorted(os.sched_getaffinity(0)), *sorted(os.sched_getaffinity(0))]
    return first, second
