"""Text for a terminal: whatever a session holds, control characters are shown, not obeyed."""

from __future__ import annotations

import unicodedata
from typing import Final

_SAFE: Final = "LMNPSZ"
_BYTE: Final = 0x100
_BASIC: Final = 0x10000


def _escaped(character: str) -> str:
    code = ord(character)
    if code < _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _BASIC else f"\\U{code:08x}"


def escape(text: str) -> str:
    """Escape control, format, surrogate and unassigned characters and odd line ends; the rest stays readable."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character == " " or (unicodedata.category(character)[0] in _SAFE and character.isprintable())
        else _escaped(character)
        for character in text
    )


def clip(text: str, width: int) -> str:
    """Escape and cut a text to a width in characters."""
    shown = escape(text[: width + 1])
    return shown if len(shown) <= width and len(text) <= width else shown[: max(width - 1, 0)] + "…"
