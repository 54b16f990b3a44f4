"""Reading a file (or standard input) and folding it, for the sub-commands that show a Completion."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import deltafold
from deltafold.cli import terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from deltafold import Completion
    from deltafold._stream import Malformed

WHOLE, BROKEN, UNUSABLE = 0, 1, 2
"""Exit codes: a whole stream; one that is cut or ended in an error; input that holds no stream."""

READ_SIZE = 64 * 1024
"""Bytes of one read; the whole file is never held."""

NO_STREAM = frozenset({"not-an-event-stream", "unknown-wire"})
"""Kinds of the WireError that says the input is no stream of a known wire at all (E6, W1)."""

WIRES = ("auto", "openai-chat", "anthropic-messages", "openai-responses")


@dataclass(frozen=True, slots=True)
class Folded:
    """What came of one input: a Completion, or the reason why it could not be read."""

    name: str
    completion: Completion | None
    unreadable: str | None = None

    @property
    def exit_code(self) -> int:
        """WHOLE, BROKEN or UNUSABLE."""
        if self.completion is None:
            return UNUSABLE
        if (error := self.completion.error) is not None:
            return UNUSABLE if error.kind in NO_STREAM else BROKEN
        return BROKEN if self.completion.end == "cut" else WHOLE


def add_options(parser: argparse.ArgumentParser) -> None:
    """The arguments that every folding sub-command takes."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a recorded stream; - is standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object a line for each FILE")
    parser.add_argument(
        "--wire", choices=WIRES, default="auto", help="name the wire instead of finding it out"
    )
    parser.add_argument(
        "--policy",
        choices=("default", "harness"),
        default="default",
        help="harness: as DeepSeek Harness folds",
    )
    parser.add_argument(
        "--skip-malformed", action="store_true", help="pass over payloads that are no JSON object"
    )


def run_over(options: argparse.Namespace, show: Callable[[Folded], list[str]]) -> int:
    """Fold every FILE, print what `show` makes of it, and give the worst exit code."""
    worst = WHOLE
    for at, name in enumerate(options.files):
        folded = fold(name, options)
        if folded.unreadable is not None:
            terminal.complain(f"{folded.name}: {folded.unreadable}")
        if at and not options.json:
            terminal.print_lines([""])
        terminal.print_lines(show(folded))
        worst = max(worst, folded.exit_code)
    return worst


def fold(name: str, options: argparse.Namespace) -> Folded:
    """Fold one FILE; errors of the stream stand in the Completion, errors of reading in `unreadable`."""
    shown = "standard input" if name == "-" else name
    try:
        if name == "-":
            return Folded(shown, assembled(sys.stdin.buffer, options))
        with open(name, "rb") as file:  # noqa: PTH123 (a name as given; Path would change `./x`)
            return Folded(shown, assembled(file, options))
    except (OSError, ValueError) as error:
        # ValueError: a name that holds NUL. An OSError's strerror says it without the name.
        return Folded(shown, None, getattr(error, "strerror", None) or str(error))


def assembled(file: BinaryIO, options: argparse.Namespace) -> Completion:
    """The Completion of a file; where the stream ended in an error, that so far (P7)."""
    policy = deltafold.Policy.harness() if options.policy == "harness" else None
    malformed: Malformed = "skip" if options.skip_malformed else "raise"
    try:
        return deltafold.assemble(chunks_of(file), wire=options.wire, policy=policy, malformed=malformed)
    except deltafold.DeltafoldError as error:
        if error.partial is None:
            raise
        return error.partial


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """What is in the file, as it comes."""
    while chunk := file.read(READ_SIZE):
        yield chunk
