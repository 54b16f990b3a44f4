"""The counts that the repository keeps, and what a new count means beside them."""

from __future__ import annotations

import enum
import json
from pathlib import Path

KEPT = Path(__file__).with_name("counts.json")
ALLOWED_GROWTH = 0.03
"""Share by which a count may grow before the check fails; growth on purpose is written with `--write`."""


class Verdict(enum.Enum):
    """What a count is beside the kept one."""

    SAME = "same"
    GREW = "GREW"
    SHRANK = "shrank"
    NEW = "NEW"


def kept() -> tuple[str, dict[str, int]]:
    """The compiler that the kept counts belong to, and the counts by name."""
    document = json.loads(KEPT.read_text(encoding="utf-8"))
    return document["compiler"], document["instructions"]


def keep(compiler: str, instructions: dict[str, int]) -> None:
    """Write the counts into the repository's file."""
    document = {"compiler": compiler, "instructions": instructions}
    KEPT.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def verdict(name: str, counted: int, known: dict[str, int]) -> Verdict:
    """How `counted` stands beside the kept count of that name."""
    if name not in known:
        return Verdict.NEW
    if counted > known[name] * (1 + ALLOWED_GROWTH):
        return Verdict.GREW
    if counted < known[name] * (1 - ALLOWED_GROWTH):
        return Verdict.SHRANK
    return Verdict.SAME
