"""Text for terminals and for programs.

Whatever a stream contains, no byte of it reaches the terminal as a control character: it could move the
cursor, rewrite what was printed, or speak to the terminal itself.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls (C0, DEL, C1), format characters (overrides, zero widths), surrogates, separators."""

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

NOT_PLAIN_ASCII = re.compile(r"[^\x20-\x7e]")


def escape(text: str) -> str:
    r"""`text` with each unsafe character as `\n`, `\x1b`, `\u202e` or `\U000e0001`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escaped_character(character) for character in text)


def escaped_character(character: str) -> str:
    """One character, or its escape."""
    if unicodedata.category(character) not in UNSAFE_CATEGORIES:
        return character
    code = ord(character)
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    if code <= 0xFF:  # noqa: PLR2004 (two digits are enough)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (four digits are enough)


def shortened(text: str, width: int) -> str:
    """`text` escaped and, past `width` characters, cut in its middle, with the count of what is left out."""
    if len(text) <= width:
        return escape(text)
    head, tail = width * 2 // 3, width // 3
    left_out = len(text) - head - tail
    return f"{escape(text[:head])} [... {left_out} characters ...] {escape(text[-tail:])}"


def ascii_json(text: str) -> str:
    r"""JSON text with every character outside printable ASCII as its `\u` escape.

    `text` is JSON without white space between tokens, so such a character stands inside a string and may be
    written so.
    """

    def escaped(found: re.Match[str]) -> str:
        units = found.group().encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

    return NOT_PLAIN_ASCII.sub(escaped, text)


def table(rows: Sequence[Sequence[str]], indent: str) -> list[str]:
    """Rows of cells as lines with aligned columns; the cells are escaped already."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def print_lines(lines: Sequence[str]) -> None:
    """Lines on standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def complain(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"deltafold: {escape(text)}\n")
