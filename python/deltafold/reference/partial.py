"""The value that the beginning of a JSON text is certain to have (A7), for display only."""

from __future__ import annotations

import re
from typing import Any

from deltafold._json import is_list, is_object
from deltafold.reference.json import number_value, unescape
from deltafold.reference.text import clean

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?=[,\]} \t\n\r])")
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_WORD = re.compile("|".join(_WORDS))


def certain_value(text: str) -> Any:  # noqa: ANN401
    """Give the value as far as it is certain, None when nothing is."""
    reader = _Reader(text)
    while reader.step():
        pass
    return reader.root[0] if reader.root else None


class _Reader:
    """Reads elements and closing brackets one by one, until one is not there as a whole.

    fresh: the innermost container has no element yet.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.root: list[Any] = []
        self.stack: list[Any] = []
        self.fresh = True

    def step(self) -> bool:
        """Read on; False when nothing more is certain."""
        key = None
        if self.stack:
            container = self.stack[-1]
            if self._take("}" if is_object(container) else "]"):
                self.stack.pop()
                self.fresh = False
                return bool(self.stack)
            if not self.fresh and not self._take(","):
                return False
            if is_object(container):
                key = self._key()
                if key is None:
                    return False
        return self._element(key)

    def _element(self, key: str | None) -> bool:
        if self._take("{"):
            return self._open(key, {})
        if self._take("["):
            return self._open(key, [])
        read = self._scalar()
        if read is None:
            return False
        value, whole = read
        self._store(key, value)
        self.fresh = False
        return whole and bool(self.stack)

    def _open(self, key: str | None, container: Any) -> bool:  # noqa: ANN401
        self._store(key, container)
        self.stack.append(container)
        self.fresh = True
        return True

    def _store(self, key: str | None, value: Any) -> None:  # noqa: ANN401
        container: object = self.stack[-1] if self.stack else self.root
        if is_object(container) and key is not None:
            container[key] = value
        elif is_list(container):
            container.append(value)

    def _take(self, character: str) -> bool:
        found = _SPACE.match(self.text, self.position)
        start = found.end() if found else self.position
        if not self.text.startswith(character, start):
            return False
        self.position = start + 1
        return True

    def _key(self) -> str | None:
        """Read a member name and its colon; None when they are not whole."""
        if not self._take('"'):
            return None
        name, whole = self._string()
        return name if whole and self._take(":") else None

    def _string(self) -> tuple[str, bool]:
        """Read a string after its quote, as far as it came; the last half of a pair is not certain."""
        found = _STRING.match(self.text, self.position)
        end = found.end() if found else self.position
        content = self.text[self.position : end]
        whole = self.text.startswith('"', end)
        self.position = end + 1
        return clean(unescape(content if whole else _HALF_PAIR.sub("", content)))[0], whole

    def _scalar(self) -> tuple[Any, bool] | None:
        """Read a string, number or literal, and whether it is whole; None when it may still change."""
        if self._take('"'):
            return self._string()
        found = _SPACE.match(self.text, self.position)
        start = found.end() if found else self.position
        number = _NUMBER.match(self.text, start)
        word = _WORD.match(self.text, start)
        if number is not None:
            self.position = number.end()
            return number_value(number[0], number[1]), True
        if word is not None:
            self.position = word.end()
            return _WORDS[word[0]], True
        return None
