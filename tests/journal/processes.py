"""Starting the children, and reading what they acknowledge."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the project on the path."""
    paths = [str(ROOT), *sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def child(
    name: str, *arguments: object, wrapper: tuple[str, ...] = (), **options: Any
) -> subprocess.Popen[str]:
    """Start a module of `tests.journal.children`, its standard output piped."""
    command = [*wrapper, sys.executable, "-m", f"tests.journal.children.{name}", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(), cwd=ROOT, **options
    )


def acknowledged(lines: list[str]) -> list[int]:
    """The seqs that a child's lines acknowledge; a line cut by its death counts for nothing."""
    return [int(line[4:]) for line in lines if line.startswith("ack ") and line.endswith("\n")]
