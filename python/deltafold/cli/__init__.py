"""The `deltafold` command."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS: Final = ("deltafold.cli.harness",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="deltafold", description="Streamed answers, journals and session logs")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in _COMMANDS:
        import_module(name).register(subparsers)
    args = parser.parse_args(argv)
    code: int = args.run(args)
    return code
