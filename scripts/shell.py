"""Running programs, saying which, and saying how long it took."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent

PYTHON_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__")
"""Variables that would point a virtual environment at other packages or maturin at another interpreter."""


class Failed(Exception):  # noqa: N818 (a step that did not pass, said in its text)
    """A step that did not pass."""


def say(text: str) -> None:
    """One line for the reader, in order with what programs print."""
    print(text, flush=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables for every program that is started: ours, less what would lead it astray."""
    variables = {name: value for name, value in os.environ.items() if name not in PYTHON_VARIABLES}
    cargo = Path.home() / ".cargo" / "bin"
    if cargo.is_dir() and str(cargo) not in variables.get("PATH", "").split(os.pathsep):
        variables["PATH"] = f"{variables.get('PATH', '')}{os.pathsep}{cargo}"
    return variables | dict(extra or {})


def run(
    *command: str | Path, extra: Mapping[str, str] | None = None, quiet: bool = False, cwd: Path = ROOT
) -> None:
    """Run a program from the project's root and show its output; Failed when it exits with an error."""
    words = [str(word) for word in command]
    say(f"+ {shlex.join(shown(words))}")
    output = subprocess.PIPE if quiet else None
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment(extra),
        stdout=output,
        stderr=subprocess.STDOUT if quiet else None,
        check=False,
    )
    if done.returncode != 0:
        if quiet:
            sys.stdout.write(done.stdout.decode(errors="replace"))
        raise Failed(f"{words[0]} ended with {done.returncode}: {shlex.join(shown(words))}")


def answer(*command: str | Path) -> str | None:
    """What a program prints; None when it cannot be started or fails."""
    words: Sequence[str] = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def shown(words: Sequence[str]) -> list[str]:
    """The words of a command with the project's folder cut away, for people."""
    return [word.replace(f"{ROOT}{os.sep}", "") for word in words]


@contextlib.contextmanager
def section(title: str) -> Iterator[None]:
    """A headed part of the output, with its duration at the end."""
    say(f"\n=== {title}")
    start = time.monotonic()
    try:
        yield
    except Failed as failure:
        say(f"=== {title}: FAILED after {time.monotonic() - start:.0f} s: {failure}")
        raise
    say(f"=== {title}: passed in {time.monotonic() - start:.0f} s")
