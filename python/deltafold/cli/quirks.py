"""`deltafold quirks FILE...`: where a recorded stream departs from its wire's documentation (Q1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deltafold.cli import folding
from deltafold.cli.terminal import ascii_json, escape, shortened, table
from deltafold.quirks import QUIRKS

if TYPE_CHECKING:
    import argparse

    from deltafold import Completion, Quirk
    from deltafold.cli import Subparsers
    from deltafold.cli.folding import Folded

DETAIL_WIDTH = 60


def register(subparsers: Subparsers) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "quirks",
        help="show how recorded streams depart from their wire's documentation",
        description="Fold recorded streams and show the departures that were tolerated, with frame numbers. "
        "Exit code: 0 whole, 1 cut or ended in an error, 2 no usable input.",
    )
    folding.add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fold every FILE and show its quirks."""
    return folding.run_over(options, json_line if options.json else shown)


def shown(folded: Folded) -> list[str]:
    """The lines for one FILE: each quirk, then what its kind means."""
    if folded.completion is None:
        return [f"{escape(folded.name)}: unreadable"]
    found = folded.completion.quirks
    lines = [escape(folded.name), *summary_lines(folded.completion)]
    if found:
        lines += ["  meaning and effect", *table([explained(quirk.kind) for quirk in found], "    ")]
    return lines


def summary_lines(completion: Completion) -> list[str]:
    """The quirks of a Completion as a table."""
    if not completion.quirks:
        return ["  no quirks"]
    heads = ["kind", "count", "first frame", "choice", "call", "detail"]
    return ["  quirks", *table([heads, *(cells(quirk) for quirk in completion.quirks)], "    ")]


def cells(quirk: Quirk) -> list[str]:
    """One line of the table."""
    places = [quirk.frame, quirk.choice, quirk.call]
    texts = ["-" if place is None else str(place) for place in places]
    return [quirk.kind, str(quirk.count), *texts, shortened(quirk.detail or "", DETAIL_WIDTH)]


def explained(kind: str) -> list[str]:
    """A kind and what the table of kinds says of it."""
    known = QUIRKS.get(kind)
    return [kind, "" if known is None else f"{known.meaning}; {known.effect}"]


def json_line(folded: Folded) -> list[str]:
    """The quirks of one FILE as one JSON object."""
    members: dict[str, object] = {"file": folded.name}
    if folded.completion is None:
        members["error"] = {"class": "OSError", "kind": "unreadable", "message": folded.unreadable}
    else:
        members["end"] = folded.completion.end
        members["quirks"] = folded.completion.to_dict()["quirks"]
    return [ascii_json(json.dumps(members, separators=(",", ":")))]
