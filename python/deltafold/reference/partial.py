"""The value that the beginning of a JSON text is certain to have (A7), for display only.

A reader goes on where it stopped, so that asking at every fragment costs one pass over the text in all; what
each answer costs beside that is a copy of the string and the containers that are still open.
"""

from __future__ import annotations

import re
from typing import Any

from deltafold._json import is_list, is_object
from deltafold.reference.json import number_value, unescape
from deltafold.reference.text import clean

_SPACE = re.compile(r"[ \t\n\r]*+")
_SPACES = frozenset(" \t\n\r")
_STRING = re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?=[,\]} \t\n\r])")
_PART_OF_NUMBER = re.compile(r"[-+.eE0-9]*+")
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_HALF_PAIR_LENGTH = 6
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_WORD = re.compile("|".join(_WORDS))


def certain_value(text: str) -> Any:  # noqa: ANN401
    """Give the value as far as it is certain, None when nothing is."""
    return PartialReader().read(text)


class PartialReader:
    """Reads a text that grows.

    `expected` is the token that may come next: "value", "first value" (or the end of the list), "key",
    "first key" (or the end of the object), "colon", "next" (a comma or the end of the container), or
    "nothing" behind the value or an error. `scanned` counts the characters looked at: at most two for each of
    the text, a number being found and then read.
    """

    def __init__(self) -> None:
        """Begin before the value."""
        self.text = ""
        self.scanned = 0
        self._position = 0
        self._expected = "value"
        self._root: list[Any] = []
        self._stack: list[Any] = []
        self._key: str | None = None
        self._keys: list[str | None] = []
        self._pieces: list[str] | None = None
        self._number_end = 0

    def read(self, text: str) -> Any:  # noqa: ANN401
        """Read on in a text that begins with the one before; give a value of its own."""
        self.text = text
        while self._step():
            pass
        return self._value()

    def _step(self) -> bool:
        """Take one token, or more of a string; False when nothing more is certain."""
        if self._pieces is not None:
            return self._string(self._pieces)
        text = self.text
        if text[self._position : self._position + 1] in _SPACES:
            found = _SPACE.match(text, self._position)
            self._advance(found.end() if found else self._position)
        if self._position == len(text) or self._expected == "nothing":
            return False
        return self._token(text[self._position])

    def _token(self, character: str) -> bool:  # noqa: PLR0911 (one for each kind of token)
        expected = self._expected
        if expected == "next" or (expected == "first value" and character == "]"):
            return self._next(character)
        if expected == "colon":
            return self._take("value") if character == ":" else self._fail()
        if expected.endswith("key"):
            if character == "}" and expected == "first key":
                return self._next(character)
            return self._open_string() if character == '"' else self._fail()
        if character == '"':
            return self._open_string()
        if character in "{[":
            return self._open(character)
        return self._scalar()

    def _next(self, character: str) -> bool:
        """Take the comma, or the end of the innermost container."""
        in_object = is_object(self._stack[-1])
        if character == ",":
            return self._take("key" if in_object else "value")
        if character != ("}" if in_object else "]"):
            return self._fail()
        self._stack.pop()
        self._keys.pop()
        return self._take("next" if self._stack else "nothing")

    def _open(self, bracket: str) -> bool:
        container: Any = {} if bracket == "{" else []
        self._store(container)
        self._stack.append(container)
        self._keys.append(self._key)
        return self._take("first key" if bracket == "{" else "first value")

    def _open_string(self) -> bool:
        self._pieces = []
        return self._take(self._expected)

    def _string(self, pieces: list[str]) -> bool:
        """Read more of a string; the last half of a pair is not certain."""
        found = _STRING.match(self.text, self._position)
        end = found.end() if found else self._position
        content = self.text[self._position : end]
        whole = self.text.startswith('"', end)
        if "\\" in content:
            if not whole and _ends_in_half_pair(content):
                content = content[:-_HALF_PAIR_LENGTH]
            pieces.append(clean(unescape(content))[0])
        elif content:
            pieces.append(clean(content)[0])
        self._advance(self._position + len(content))
        if not whole:
            return False
        self._pieces = None
        if self._expected.endswith("key"):
            self._key = "".join(pieces)
            return self._take("colon")
        self._store("".join(pieces))
        return self._take("next" if self._stack else "nothing")

    def _scalar(self) -> bool:
        """Take a number or literal; one that the text ends in may still change."""
        start = self._position
        word = _WORD.match(self.text, start)
        if word is not None:
            return self._whole_scalar(_WORDS[word[0]], word.end())
        part = _PART_OF_NUMBER.match(self.text, max(start, self._number_end))
        end = part.end() if part else start
        self.scanned += end - max(start, self._number_end)
        self._number_end = end
        if end == len(self.text):
            return False
        number = _NUMBER.match(self.text, start)
        if number is None:
            return self._fail() if end > start else False
        return self._whole_scalar(number_value(number[0], number[1]), number.end())

    def _whole_scalar(self, value: Any, end: int) -> bool:  # noqa: ANN401
        self._store(value)
        self._advance(end)
        self._expected = "next" if self._stack else "nothing"
        return True

    def _store(self, value: Any) -> None:  # noqa: ANN401
        _put(self._stack[-1] if self._stack else self._root, self._key, value)

    def _take(self, expected: str) -> bool:
        """Pass one character."""
        self._advance(self._position + 1)
        self._expected = expected
        return True

    def _advance(self, position: int) -> None:
        self.scanned += position - self._position
        self._position = position

    def _fail(self) -> bool:
        self._expected = "nothing"
        return False

    def _value(self) -> Any:  # noqa: ANN401
        """Give the value.

        Whole containers are shared, for they do not change; open ones and the outermost are copied.
        """
        in_string = self._pieces is not None and not self._expected.endswith("key")
        inner: Any = "".join(self._pieces or ())
        if self._pieces is not None:
            self._pieces[:] = [inner]
        for depth in reversed(range(len(self._stack))):
            container = self._stack[depth].copy()
            if depth == len(self._stack) - 1:
                if in_string:
                    _put(container, self._key, inner)
            elif is_object(container):
                container[self._keys[depth + 1] or ""] = inner
            else:
                container[-1] = inner
            inner = container
        if self._stack or in_string:
            return inner
        root = self._root[0] if self._root else None
        return root.copy() if is_object(root) or is_list(root) else root


def _ends_in_half_pair(content: str) -> bool:
    """Whether the last escape is the first half of a pair: its backslash is not itself escaped."""
    before = len(content) - _HALF_PAIR_LENGTH
    if before < 0 or not _HALF_PAIR.match(content, before):
        return False
    rest = content[:before]
    return (before - len(rest.rstrip("\\"))) % 2 == 0


def _put(container: Any, key: str | None, value: Any) -> None:  # noqa: ANN401
    """Add a value to the end of a container."""
    if is_object(container):
        container[key or ""] = value
    else:
        container.append(value)
