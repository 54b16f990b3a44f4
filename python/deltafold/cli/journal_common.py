"""What the verbs of `deltafold journal` share.

Their arguments, their way through many sessions, their output.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from deltafold.cli.terminal import ascii_json, complain
from deltafold.errors import DeltafoldError
from deltafold.journal.check import EXIT_CODES
from deltafold.journal.names import BadSessionId
from deltafold.journal.targets import Target, targets_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

UNREADABLE = EXIT_CODES["unreadable"]
_PROGRESS_SECONDS = 1.0


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add what every verb takes."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a root, a session's directory, a journal.jsonl, or postgresql://...",
    )
    parser.add_argument("--session", metavar="ID", help="this session of the root alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def targets(options: argparse.Namespace) -> Iterator[Target]:
    """The sessions that the command line names. Raises `OSError` and `BadSessionId`."""
    for path in options.paths:
        yield from targets_of(path, options.session)


def print_json(value: object) -> None:
    """One JSON object on a line, in printable ASCII."""
    sys.stdout.write(ascii_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n")


def over_targets(options: argparse.Namespace, work: Callable[[Target, Progress], int]) -> int:
    """Work on every session; what cannot be read is said (by `--json` also in a row), and hides no other."""
    code = 0
    progress = Progress()
    try:
        for target in targets(options):
            try:
                code = max(code, work(target, progress))
            except BrokenPipeError:
                raise
            except (DeltafoldError, OSError) as error:
                progress.clear()
                code = max(code, _unread(target, error, as_json=options.json))
            progress.next_session()
    except BrokenPipeError:
        raise
    except (OSError, BadSessionId, ImportError) as error:
        complain(str(error))
        return UNREADABLE
    finally:
        progress.clear()
    return code


def _unread(target: Target, error: DeltafoldError | OSError, *, as_json: bool) -> int:
    """Say why a session could not be worked on; returns its exit code."""
    kind = error.kind if isinstance(error, DeltafoldError) else "unreadable"
    code = EXIT_CODES["damaged"] if kind == "corrupt" else UNREADABLE
    complain(f"{target.label}: {error}")
    if as_json:
        name = target.session or target.label
        print_json({"session": name, "error": str(error), "kind": kind, "exit": code})
    return code


class Progress:
    """A line on a terminal's standard error while long work goes on.

    Not where standard output is a terminal as well and is written to all the time: only `check`, which takes
    the line away before it prints, sets `beside_output`.
    """

    def __init__(self) -> None:
        """Begin; the first line comes after a second."""
        self._last = time.monotonic()
        self._shown = False
        self._on_terminal = sys.stderr.isatty()
        self._output_apart = not sys.stdout.isatty()
        self._sessions = 0
        self.beside_output = False

    def __call__(self, records: int, size: int) -> None:
        """Say how far it is in this session, at most once a second."""
        self._say(f"{self._sessions} sessions done; this one: {records} records, {size // 1_000_000} MB")

    def next_session(self) -> None:
        """Count a session that is done."""
        self._sessions += 1
        self._say(f"{self._sessions} sessions done")

    def _say(self, text: str) -> None:
        instant = time.monotonic()
        wanted = self._on_terminal and (self._output_apart or self.beside_output)
        if wanted and instant - self._last >= _PROGRESS_SECONDS:
            self._last = instant
            self._shown = True
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
