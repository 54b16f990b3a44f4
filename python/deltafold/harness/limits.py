"""How much of a session file is ever held: every bound of the package, in one place.

Input is hostile until shown otherwise, so each bound is checked before the memory is taken, and what breaks
one is named and refused, never cut short in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds in bytes and counts. The defaults are far above what the Harness writes."""

    file_bytes: int = 256 << 20
    """Size of the file on disk."""
    plain_bytes: int = 256 << 20
    """Text of one file after decompression."""
    line_bytes: int = 64 << 20
    """One line of that text."""
    values: int = 8_000_000
    """JSON values in one file, estimated by counting commas and opening brackets."""
    events: int = 2_000_000
    """Events after packed rows are expanded, estimated by counting commas."""
    fill: int = 10_000
    """Placeholders that a repair writes into one file."""
    work: int = 1 << 28
    """Surface nodes that replacements search in one file."""
    frames: int = 1_000_000
    """Frames of one compressed file."""


DEFAULT_LIMITS: Final = Limits()


class RefusedError(Exception):
    """A file that is not read at all: `kind` is the fault kind, the text says why."""

    def __init__(self, kind: str, message: str) -> None:
        """Keep kind and text."""
        super().__init__(message)
        self.kind = kind
        self.message = message
