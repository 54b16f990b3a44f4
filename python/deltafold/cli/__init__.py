"""The command `deltafold`.

Each sub-command is a module of this package with `register(subparsers)`, which adds its parser and sets
`run`, a function from the parsed options to the exit code. Only the module that is asked for is
imported; all of them are for `--help`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS = ("assemble", "quirks", "journal", "harness", "contract")
"""Names of the sub-commands; one whose module is not part of this installation is not offered."""

BROKEN_PIPE = 141
INTERRUPTED = 130


class Subparsers(Protocol):
    """What a sub-command needs of argparse's sub-parsers."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser:  # noqa: A002
        """Add a parser of that name."""
        ...


class Command(Protocol):
    """What a module of a sub-command has."""

    def register(self, subparsers: Subparsers) -> None:
        """Add the parser of the sub-command."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `deltafold` with these arguments (default: those of the process); the exit code.

    0: whole; 1: cut, or ended in an error; 2: unusable input or a wrong command line.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape instead of a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    options = parser_for(given).parse_args(given)
    run = cast("Callable[[argparse.Namespace], int]", options.run)
    try:
        code = run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (`| head`); what is still buffered must not raise at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def parser_for(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for these arguments: with one sub-command where its name comes first, else with all."""
    parser = argparse.ArgumentParser(
        prog="deltafold", description="Streamed answers of language models, folded to exact tool calls."
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show version and engine")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = given[:1] if given and given[0] in COMMANDS else COMMANDS
    for name in wanted:
        module_name = f"{__name__}.{name}"
        if importlib.util.find_spec(module_name) is not None:
            cast("Command", importlib.import_module(module_name)).register(subparsers)
    return parser


class ShowVersion(argparse.Action):
    """`--version`: the version and the engine; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        """Print them and exit."""
        import deltafold  # noqa: PLC0415 (needed for this option alone)

        try:
            version = metadata_version()
        except LookupError:
            version = "(not installed)"
        sys.stdout.write(f"deltafold {version}, {deltafold.IMPLEMENTATION} engine\n")
        parser.exit()


def metadata_version() -> str:
    """The version of the installed package; LookupError where it runs from a source tree."""
    from importlib import metadata  # noqa: PLC0415 (slow to import)

    try:
        return metadata.version("deltafold")
    except metadata.PackageNotFoundError as error:
        raise LookupError from error
