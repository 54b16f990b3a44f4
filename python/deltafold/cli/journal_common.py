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


def over_targets(options: argparse.Namespace, work: Callable[[Target], int]) -> int:
    """Work on every session; what cannot be read is said, and hides no other."""
    code = 0
    try:
        for target in targets(options):
            try:
                code = max(code, work(target))
            except BrokenPipeError:
                raise
            except (DeltafoldError, OSError) as error:
                complain(f"{target.label}: {error}")
                damaged = getattr(error, "kind", "") == "corrupt"
                code = max(code, EXIT_CODES["damaged"] if damaged else UNREADABLE)
    except BrokenPipeError:
        raise
    except (OSError, BadSessionId, ImportError) as error:
        complain(str(error))
        return UNREADABLE
    return code


class Progress:
    """A line on a terminal's standard error while long work goes on."""

    def __init__(self) -> None:
        """Begin; the first line comes after a second."""
        self._last = time.monotonic()
        self._shown = False
        self._wanted = sys.stderr.isatty()
        self.sessions = 0

    def __call__(self, records: int, size: int) -> None:
        """Say how far it is, at most once a second."""
        instant = time.monotonic()
        if self._wanted and instant - self._last >= _PROGRESS_SECONDS:
            self._last = instant
            self._shown = True
            done = f"{self.sessions} sessions checked; this one: {records} records, {size // 1_000_000} MB"
            sys.stderr.write(f"\r{done}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False
