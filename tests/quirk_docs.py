"""Writes `docs/quirks.md` from the quirk table and the vectors: `python -m tests.quirk_docs`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from tests.cases import vectors
from tests.support import ROOT, public

PAGE = PurePosixPath("docs", "quirks.md")
RULE = re.compile(r" \(([A-Z]\d+[a-z]?(?:, [A-Z]\d+[a-z]?)*)\)")
HEAD = """\
# Quirks

A quirk is a departure from the wire's documentation that was tolerated and is reported: once a kind, with how
often it was seen and the first frame (Q1). Reporting never changes what is folded. `deltafold.QUIRKS` is this
table; the vector shows the kind in a stream of a few frames (`tests/vectors`).

| kind | what was seen | what came of it | rule | vector |
|---|---|---|---|---|
"""


def example_of(kind: str) -> str:
    """The vector that shows this kind with the fewest others, the shortest of those."""
    found = [
        (len(vector.expect["quirks"]), len(vector.body), name)
        for name, vector in vectors().items()
        if kind in vector.expect.get("quirks", ())
    ]
    skipped = [name for name, v in vectors().items() if kind in v.expect.get("skip", {}).get("quirks", ())]
    return min(found)[2] if found else skipped[0]


def row(kind: str) -> str:
    """The line of the table for a kind."""
    quirk = public().QUIRKS[kind]
    rules = ", ".join(RULE.findall(quirk.meaning))
    meaning = RULE.sub("", quirk.meaning)
    return f"| `{kind}` | {meaning} | {quirk.effect} | {rules} | `{example_of(kind)}` |\n"


def page() -> str:
    """The whole page."""
    return HEAD + "".join(row(kind) for kind in public().QUIRKS)


if __name__ == "__main__":
    (ROOT / PAGE).write_text(page(), "utf-8")
