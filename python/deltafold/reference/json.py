"""A strict reader of JSON (RFC 8259): nothing but the grammar, exact integers, nesting limited (P3, P5, S8).

Strings keep lone surrogates, so that a pair cut over two fragments can join (P5); `Document.surrogates` says
whether there are any. Where the source text of a member may be needed (A2) its place is kept.
"""

from __future__ import annotations

import re
from typing import Any

from deltafold._json import is_object

_TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
      "(?P<plain>[^"\\\x00-\x1f]*+)"
    | "(?P<escaped>(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"
    | (?P<mark>[{}\[\],:])
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?P<fraction>(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?))
    | (?P<word>true|false|null)
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\n\r]*+")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_WORDS = {"true": True, "false": False, "null": None}
_INSIGNIFICANT = re.compile(r'("(?:[^"\\]++|\\.)*+")|[ \t\n\r]++')
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS_AT_ONCE = 4000
"""Python refuses to read more than 4,300 digits in one go."""


class MalformedJsonError(ValueError):
    """The text is not JSON; `position` is the character where it stops being so."""

    def __init__(self, reason: str, position: int) -> None:
        """Keep the place."""
        super().__init__(f"{reason} at character {position}")
        self.position = position


class TooDeepError(ValueError):
    """An opening bracket passes the depth limit (S8)."""


class Document:
    """A value, and where in `text` the members named in `sources` stand."""

    __slots__ = ("_spans", "surrogates", "text", "value")

    def __init__(self, reader: Reader) -> None:
        """Keep what a reader found."""
        self.text = reader.text
        self.value: Any = reader.root[0]
        self.surrogates = reader.surrogates
        self._spans = reader.spans

    def source(self, parent: dict[str, Any], key: str) -> str:
        """Give the source text of a member without insignificant white space (A2)."""
        start, end = self._spans[id(parent), key]
        return compact(self.text[start:end])


def compact(source: str) -> str:
    """Drop the white space outside strings."""
    return _INSIGNIFICANT.sub(lambda found: found[1] or "", source)


def exact_integer(digits: str) -> int:
    """Read an integer of any length."""
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    if digits.startswith("-"):
        return -exact_integer(digits[1:])
    low = len(digits) // 2
    scale: int = 10**low
    return exact_integer(digits[:-low]) * scale + exact_integer(digits[-low:])


def _unescape(found: re.Match[str]) -> str:
    high, low, unit, simple = found.groups()
    if simple:
        return _SIMPLE[simple]
    if unit:
        return chr(int(unit, 16))
    return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))


def unescape(content: str) -> str:
    """Decode the escapes in the content of a string; lone surrogates stay."""
    return _ESCAPE.sub(_unescape, content) if "\\" in content else content


def number_value(text: str, fraction: str) -> int | float:
    """Read a number; `fraction` is its part from the point or exponent on."""
    return float(text) if fraction else exact_integer(text)


class Reader:
    """One pass over a text with an explicit stack; a state is the tokens that may come next."""

    def __init__(self, text: str, depth: int, sources: frozenset[str]) -> None:
        """Begin before the value."""
        self.text = text
        self.depth = depth
        self.sources = sources
        self.spans: dict[tuple[int, str], tuple[int, int]] = {}
        self.surrogates = False
        self.root: list[Any] = []
        self.container: Any = self.root
        self.key: str | None = None
        self.stack: list[tuple[Any, str | None, int]] = []

    def document(self) -> Document:
        """Read the text to its end."""
        expected = "value"
        position = 0
        while expected != "end":
            token = _TOKEN.match(self.text, position)
            if token is None:
                raise self._malformed(position, expected)
            expected = self._take(token, expected)
            position = token.end()
        position = _end_of_space(self.text, position)
        if position < len(self.text):
            raise MalformedJsonError("more text after the value", position)
        return Document(self)

    def _malformed(self, position: int, expected: str) -> MalformedJsonError:
        position = _end_of_space(self.text, position)
        if position >= len(self.text):
            return MalformedJsonError("the text ends too early", position)
        return MalformedJsonError(f"expected {_EXPECTED[expected]}, found {self.text[position]!r}", position)

    def _take(self, token: re.Match[str], expected: str) -> str:
        kind = token.lastgroup
        if kind == "mark" or kind is None:
            return self._mark(token, expected)
        if expected in {"key", "key or end"}:
            if kind not in {"plain", "escaped"}:
                raise self._malformed(token.start(), expected)
            self.key = self._string(token)
            return "colon"
        if expected not in {"value", "value or end"}:
            raise self._malformed(token.start(), expected)
        start = token.start(kind)
        if kind in {"plain", "escaped"}:
            value: Any = self._string(token)
            start -= 1
        elif kind == "word":
            value = _WORDS[token["word"]]
        else:
            value = number_value(token["number"], token["fraction"])
        return self._store(value, start, token.end())

    def _string(self, token: re.Match[str]) -> str:
        plain = token["plain"]
        if plain is not None:
            return plain
        text = unescape(token["escaped"])
        if not self.surrogates and _SURROGATE.search(text):
            self.surrogates = True
        return text

    def _mark(self, token: re.Match[str], expected: str) -> str:
        mark = token["mark"]
        if mark in "{[" and expected in {"value", "value or end"}:
            if len(self.stack) >= self.depth:
                raise TooDeepError
            self.stack.append((self.container, self.key, token.end() - 1))
            self.container = {} if mark == "{" else []
            return "key or end" if mark == "{" else "value or end"
        if mark == ":" and expected == "colon":
            return "value"
        inside_object = is_object(self.container)
        if mark == "," and expected == "comma or end":
            return "key" if inside_object else "value"
        closing = "}" if inside_object else "]"
        if mark == closing and expected.endswith("or end"):
            value = self.container
            self.container, self.key, start = self.stack.pop()
            return self._store(value, start, token.end())
        raise self._malformed(token.start(), expected)

    def _store(self, value: Any, start: int, end: int) -> str:  # noqa: ANN401
        if is_object(self.container):
            key = self.key or ""
            self.container[key] = value
            if key in self.sources:
                self.spans[id(self.container), key] = (start, end)
        else:
            self.container.append(value)
        return "comma or end" if self.stack else "end"


_EXPECTED = {
    "value": "a value",
    "value or end": "a value or ']'",
    "key": "a member name",
    "key or end": "a member name or '}'",
    "colon": "':'",
    "comma or end": "',' or the closing bracket",
}


def _end_of_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def parse(text: str, depth: int, sources: frozenset[str] = frozenset()) -> Document:
    """Read one JSON text; MalformedJsonError or TooDeepError, whichever comes first in the text.

    The last of duplicate members counts (P5). A span is kept for each member whose name is in `sources`.
    """
    return Reader(text, depth, sources).document()
