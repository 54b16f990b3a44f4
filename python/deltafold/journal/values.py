"""Which Python values a record may hold: JSON, exactly, and bounded (J1).

Everything here is decided on the value itself, never on its encoding, so that the writer (which has no line
yet) and the reader (which has one) come to the same answer.
"""

from __future__ import annotations

import math
from typing import Final, cast

from deltafold.journal import record

MAX_DEPTH: Final = 128
"""Levels of lists and objects inside one record's data."""
MAX_WEIGHT: Final = 32 * 1024 * 1024
"""Bytes of UTF-8 in one record's data, with 32 for every value that is no string."""
MAX_INTEGER_BITS: Final = 13_000
"""Python reads integers of at most 4,300 digits; this is a little below."""
_SCALAR_WEIGHT: Final = 32


class Unfit(ValueError):  # noqa: N818  (a verdict; the rule that asked turns it into its own words)
    """A value that JSON cannot hold exactly, or that is too large."""


def complaint(value: object) -> str | None:
    """Say why a value may not stand in a record, or None when it may."""
    try:
        _weigh(value, 0, MAX_WEIGHT)
    except Unfit as unfit:
        return str(unfit)
    return None


def text_complaint(text: str) -> str | None:
    """Say why a string may not stand in a record, or None when it may."""
    try:
        _text_weight(text)
    except Unfit as unfit:
        return str(unfit)
    return None


def _text_weight(text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise Unfit("a string holds a lone surrogate") from None


def _weigh(value: object, depth: int, left: int) -> int:
    """Return what of `left` remains after `value`. Raises `Unfit`."""
    kind = type(value)
    if kind is str:
        text = cast("str", value)
        left -= (len(text) if text.isascii() else _text_weight(text)) + 2
    elif kind is dict or kind is list:
        left = _weigh_members(value, depth + 1, left - _SCALAR_WEIGHT)
    elif value is None or kind is bool:
        left -= _SCALAR_WEIGHT
    elif kind is int:
        if cast("int", value).bit_length() > MAX_INTEGER_BITS:
            raise Unfit("an integer has too many digits")
        left -= _SCALAR_WEIGHT + cast("int", value).bit_length() // 3
    elif kind is float:
        if not math.isfinite(cast("float", value)):
            raise Unfit("a number is not finite")
        left -= _SCALAR_WEIGHT
    else:
        raise Unfit(f"{kind.__name__} is not a JSON value")
    if left < 0:
        raise Unfit(f"more than {MAX_WEIGHT} bytes in one record")
    return left


def _weigh_members(value: object, depth: int, left: int) -> int:
    if depth > MAX_DEPTH:
        raise Unfit(f"nested deeper than {MAX_DEPTH} levels")
    if type(value) is dict:
        for name, member in cast("dict[object, object]", value).items():
            if type(name) is not str:
                raise Unfit(f"a member's name is {type(name).__name__}, not a string")
            left -= len(name) if name.isascii() else _text_weight(name)
            left = _weigh(member, depth, left - 2)
        return left
    for member in cast("list[object]", value):
        left = _weigh(member, depth, left)
    return left


def is_strict_object(text: str) -> bool:
    """Whether a text is one RFC 8259 object by A4: finite numbers, no lone surrogates, at most 128 levels."""
    if not text.lstrip(" \t\n\r").startswith("{"):
        return False
    try:
        value = record.parse(text.encode("utf-8"))
    except ValueError:
        return False
    return isinstance(value, dict) and complaint(cast("object", value)) is None
