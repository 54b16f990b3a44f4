"""What the arguments of a call are: whole, cut or broken (A4, A6), found in one resumable pass (I2)."""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from deltafold._json import is_list, is_object
from deltafold.reference import json

if TYPE_CHECKING:
    from deltafold.completion import Status

_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*+')
_SPACE_RUN = re.compile(r"[ \t\n\r]*+")
_DIGIT_RUN = re.compile(r"[0-9]*+")
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_ESCAPES = frozenset('"\\/bfnrt')
_LITERALS = {"t": "rue", "f": "alse", "n": "ull"}
_NUMBER_ENDS = frozenset({"zero", "integer", "fraction", "exponent"})
_SUSPICIOUS = re.compile(r"\\u[dD][89a-fA-F]|[eE]\+?[0-9]{3}|[0-9]{300}")
"""What a whole text must hold for a lone surrogate escape or an infinite number to be in it."""


class Shape(Enum):
    """What a text is by the grammar alone."""

    PREFIX = "prefix"
    OBJECT = "object"
    OTHER = "other"
    BROKEN = "broken"


class ArgumentScanner:
    """A JSON grammar that can stop after any character and go on (RFC 8259; nesting limited).

    `state` names what may come next. Inside a string or number it names the place in it.
    """

    __slots__ = ("_depth", "_is_object", "_key", "_rest", "_stack", "state")

    def __init__(self, depth: int) -> None:
        """Begin before the value."""
        self.state = "value"
        self._depth = depth
        self._stack: list[str] = []
        self._key = False
        self._rest = ""
        self._is_object: bool | None = None

    def feed(self, text: str) -> None:
        """Read on; linear, and free once the text is broken."""
        position = 0
        while position < len(text) and self.state != "broken":
            if self.state == "string":
                position = self._string(text, position)
            elif self.state in _NUMBER_STATES:
                position = self._number(text, position)
            elif self.state in {"escape", "unicode", "literal"}:
                self._inside(text[position])
                position += 1
            else:
                position = self._between(text, position)

    @property
    def shape(self) -> Shape:
        """What the text read so far is."""
        if self.state == "broken":
            return Shape.BROKEN
        whole = not self._stack and (self.state == "end" or self.state in _NUMBER_ENDS)
        if not whole:
            return Shape.PREFIX
        return Shape.OBJECT if self._is_object else Shape.OTHER

    def _between(self, text: str, position: int) -> int:
        position = _run_end(_SPACE_RUN, text, position)
        if position == len(text):
            return position
        self._structure(text[position])
        return position + 1

    def _structure(self, character: str) -> None:
        state = self.state
        if state in {"value", "value or end"} and self._begin_value(character):
            return
        if state in {"key", "key or end"} and character == '"':
            self._key = True
            self.state = "string"
        elif state == "colon" and character == ":":
            self.state = "value"
        elif state == "comma or end" and character == ",":
            self.state = "key" if self._stack[-1] == "}" else "value"
        elif state.endswith("or end") and self._stack and character == self._stack[-1]:
            self._stack.pop()
            self._end_value()
        else:
            self.state = "broken"

    def _begin_value(self, character: str) -> bool:
        if self._is_object is None:
            self._is_object = character == "{"
        if character in "{[":
            self.state = "broken" if len(self._stack) >= self._depth else _AFTER_OPENING[character]
            self._stack.append("}" if character == "{" else "]")
        elif character == '"':
            self._key = False
            self.state = "string"
        elif character in _LITERALS:
            self._rest = _LITERALS[character]
            self.state = "literal"
        elif character in _NUMBER_BEGINNINGS:
            self.state = _NUMBER_BEGINNINGS[character]
        else:
            return False
        return True

    def _end_value(self) -> None:
        self.state = "comma or end" if self._stack else "end"

    def _string(self, text: str, position: int) -> int:
        position = _run_end(_STRING_RUN, text, position)
        if position == len(text):
            return position
        character = text[position]
        if character == "\\":
            self.state = "escape"
        elif character != '"':
            self.state = "broken"
        elif self._key:
            self.state = "colon"
        else:
            self._end_value()
        return position + 1

    def _inside(self, character: str) -> None:
        if self.state == "escape":
            self._rest = "xxxx" if character == "u" else ""
            known = character == "u" or character in _ESCAPES
            self.state = ("unicode" if self._rest else "string") if known else "broken"
            return
        expected = character in _HEXADECIMAL if self.state == "unicode" else character == self._rest[0]
        self._rest = self._rest[1:]
        if not expected:
            self.state = "broken"
        elif not self._rest and self.state == "unicode":
            self.state = "string"
        elif not self._rest:
            self._end_value()

    def _number(self, text: str, position: int) -> int:
        if self.state in {"integer", "fraction", "exponent"}:
            position = _run_end(_DIGIT_RUN, text, position)
            if position == len(text):
                return position
        following = _NUMBER_STATES[self.state].get(_number_class(text[position]))
        if following:
            self.state = following
            return position + 1
        if self.state in _NUMBER_ENDS:
            self._end_value()
        else:
            self.state = "broken"
        return position


_AFTER_OPENING = {"{": "key or end", "[": "value or end"}
_NUMBER_BEGINNINGS = {"-": "minus", "0": "zero"} | dict.fromkeys("123456789", "integer")
_AFTER_INTEGER = {".": "point", "e": "e"}
_NUMBER_STATES: dict[str, dict[str, str]] = {
    "minus": {"0": "zero", "1": "integer"},
    "zero": _AFTER_INTEGER,
    "integer": _AFTER_INTEGER,
    "point": {"0": "fraction", "1": "fraction"},
    "fraction": {"e": "e"},
    "e": {"+": "sign", "0": "exponent", "1": "exponent"},
    "sign": {"0": "exponent", "1": "exponent"},
    "exponent": {},
}


def _number_class(character: str) -> str:
    if character in "123456789":
        return "1"
    return {"E": "e", "-": "+"}.get(character, character)


def _run_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def shape_of(text: str, depth: int) -> Shape:
    """Say what a whole text is by the grammar."""
    scanner = ArgumentScanner(depth)
    scanner.feed(text)
    return scanner.shape


def status_of(text: str, shape: Shape, depth: int) -> Status:
    """Give the status of a named call whose end is proven (A4)."""
    if not text:
        return "complete"
    if shape is Shape.PREFIX:
        return "truncated"
    if shape is not Shape.OBJECT or not _parses(text, depth):
        return "invalid"
    return "complete"


def _parses(text: str, depth: int) -> bool:
    """Whether a whole object has neither a lone surrogate escape nor an infinite number in it."""
    if not _SUSPICIOUS.search(text):
        return True
    document = json.parse(text, depth)
    return not document.surrogates and _finite(document.value)


def _finite(value: Any) -> bool:  # noqa: ANN401
    if isinstance(value, float):
        return math.isfinite(value)
    if is_object(value):
        return all(map(_finite, value.values()))
    return not is_list(value) or all(map(_finite, value))


def repeated_suffix(text: str, depth: int) -> str | None:
    """Find the object that arguments end with when what stands before it are prefixes of it (A6), or None.

    Read backwards from a closing brace, strings and brackets have one reading only, so there is one place
    where that object can begin; two linear passes then say whether it holds.
    """
    start = _object_start(text)
    if start is None or start == 0 or text[0] != "{":
        return None
    suffix = text[start:]
    if shape_of(suffix, depth) is not Shape.OBJECT or not _parses(suffix, depth):
        return None
    return suffix if _is_run_of_prefixes(text[:start], suffix) else None


_BACKWARDS = re.compile(r'["{}\[\]]')


def _object_start(text: str) -> int | None:
    """Find the brace that the last brace of the text closes."""
    if not text.rstrip(" \t\n\r").endswith("}"):
        return None
    level = 0
    in_string = False
    for found in reversed(list(_BACKWARDS.finditer(text))):
        position = found.start()
        mark = found[0]
        if mark == '"':
            if not in_string or not _is_escaped(text, position):
                in_string = not in_string
        elif not in_string:
            level += 1 if mark in "}]" else -1
            if level == 0:
                return position if mark == "{" else None
    return None


def _is_escaped(text: str, position: int) -> bool:
    first = position
    while first and text[first - 1] == "\\":
        first -= 1
    return (position - first) % 2 == 1


def _is_run_of_prefixes(text: str, whole: str) -> bool:
    """Whether a text can be cut into prefixes of another.

    It can when at each of its characters some prefix ends, which the borders of the other tell (Knuth,
    Morris, Pratt).
    """
    borders = [0] * len(whole)
    matched = 0
    for position in range(1, len(whole)):
        while matched and whole[position] != whole[matched]:
            matched = borders[matched - 1]
        matched += whole[position] == whole[matched]
        borders[position] = matched
    matched = 0
    for character in text:
        while matched and (matched == len(whole) or character != whole[matched]):
            matched = borders[matched - 1]
        if character != whole[matched]:
            return False
        matched += 1
    return True
