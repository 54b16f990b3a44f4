"""Texts that come in fragments: joined once, surrogate pairs joined over the cuts (P5)."""

from __future__ import annotations

import re
from typing import Any

from deltafold._json import is_list, is_object

_PAIR_OR_LONE = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_HIGH = re.compile("[\ud800-\udbff]\\Z")
_VALUE_WEIGHT = 8


def clean(text: str) -> tuple[str, int]:
    """Join surrogate pairs, replace lone surrogates by U+FFFD; give the text and how many were replaced."""
    if text.isascii():
        return text, 0
    lone = 0

    def whole(found: re.Match[str]) -> str:
        nonlocal lone
        if found[1]:
            return chr(0x10000 + ((ord(found[1]) & 0x3FF) << 10) + (ord(found[2]) & 0x3FF))
        lone += 1
        return "\ufffd"

    return _PAIR_OR_LONE.sub(whole, text), lone


def clean_value(value: Any) -> tuple[Any, int]:  # noqa: ANN401
    """Clean every string of a JSON value."""
    if isinstance(value, str):
        return clean(value)
    if is_list(value):
        pairs = [clean_value(element) for element in value]
        return [element for element, _ in pairs], sum(lone for _, lone in pairs)
    if is_object(value):
        # Of names that become the same the last one counts, as of names that are the same (P5).
        members: dict[str, tuple[Any, int]] = {}
        for key, member in value.items():
            name, lone_in_name = clean(key)
            kept, lone = clean_value(member)
            members[name] = kept, lone + lone_in_name
        kept_members = {name: kept for name, (kept, _) in members.items()}
        return kept_members, sum(lone for _, lone in members.values())
    return value, 0


def weigh(text: str) -> int:
    """Give the length in UTF-8 of a text without lone surrogates."""
    return len(text) if text.isascii() else len(text.encode())


def weigh_value(value: Any) -> int:  # noqa: ANN401
    """Give the weight of a kept JSON value: strings and keys by their bytes, all else by a constant."""
    if isinstance(value, str):
        return weigh(value)
    if is_list(value):
        return _VALUE_WEIGHT + sum(map(weigh_value, value))
    if is_object(value):
        return _VALUE_WEIGHT + sum(weigh(key) + weigh_value(member) for key, member in value.items())
    return _VALUE_WEIGHT


class Text:
    """A text in pieces. A high surrogate at the end of a fragment waits for the next one (P5)."""

    __slots__ = ("_held", "_pieces")

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pieces: list[str] = []
        self._held = ""

    def __bool__(self) -> bool:
        """Whether anything visible came."""
        return bool(self._pieces)

    def __str__(self) -> str:
        """Give the whole text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def pieces(self) -> list[str]:
        """The visible fragments; joined by `str()`, so not to be counted on over calls of that."""
        return self._pieces

    @property
    def waiting(self) -> bool:
        """Whether a high surrogate waits for its other half."""
        return bool(self._held)

    def prepare(self, fragment: str) -> tuple[str, int]:
        """Give the visible part of a fragment and its lone surrogates; nothing is kept but what waits."""
        if self._held and fragment:
            fragment = self._held + fragment
            self._held = ""
        if not fragment.isascii() and _HIGH.search(fragment):
            self._held = fragment[-1]
            fragment = fragment[:-1]
        return clean(fragment)

    def flush(self) -> str:
        """Give what a surrogate that still waits becomes at the text's end."""
        visible = "\ufffd" if self._held else ""
        self._held = ""
        return visible

    def append(self, visible: str) -> None:
        """Keep a visible fragment."""
        if visible:
            self._pieces.append(visible)
