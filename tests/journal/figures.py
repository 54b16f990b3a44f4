"""Figures of a run, for `docs/durability.md`: a line each, into the file that DELTAFOLD_JOURNAL_FIGURES
names."""

from __future__ import annotations

import os
from pathlib import Path


def note(text: str) -> None:
    """Keep one figure, where a file for them is named."""
    name = os.environ.get("DELTAFOLD_JOURNAL_FIGURES")
    if name:
        with Path(name).open("a") as file:
            file.write(text + "\n")
