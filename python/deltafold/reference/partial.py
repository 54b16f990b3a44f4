"""The value that the beginning of a JSON text is certain to have (A7), for display only."""

from __future__ import annotations

import re
from typing import Any

from deltafold.reference.json import number_value, unescape
from deltafold.reference.text import clean

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)")
_HELD_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_NOTHING = object()


def certain_value(text: str) -> Any:  # noqa: ANN401
    """Give the value as far as it is certain, None when nothing is."""
    root: list[Any] = []
    stack: list[Any] = [root]
    position = 0
    key: str | None = None
    first = True
    while stack:
        container = stack[-1]
        position = _skip(text, position)
        character = text[position : position + 1]
        if container is not root and character and character == _closing(container) and key is None:
            stack.pop()
            position += 1
            first = False
            if stack[-1] is root:
                break
            continue
        if not first:
            if character != ",":
                break
            position = _skip(text, position + 1)
            first = True
        if isinstance(container, dict):
            key, position = _key(text, position)
            if key is None:
                break
        opening = text[position : position + 1]
        value: Any = {} if opening == "{" else [] if opening == "[" else _NOTHING
        if value is _NOTHING:
            value, position = _scalar(text, position)
            if value is _NOTHING:
                break
            first = False
        else:
            position += 1
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)
        key = None
        if opening and opening in "{[":
            stack.append(value)
        elif container is root or position < 0:
            break
    return root[0] if root else None


def _closing(container: Any) -> str:  # noqa: ANN401
    return "}" if isinstance(container, dict) else "]"


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _key(text: str, position: int) -> tuple[str | None, int]:
    """Read a member name and its colon; None when they are not whole."""
    if not text.startswith('"', position):
        return None, position
    name, position = _text(text, position)
    if position < 0:
        return None, position
    position = _skip(text, position)
    if not text.startswith(":", position):
        return None, position
    return name, _skip(text, position + 1)


def _text(text: str, position: int) -> tuple[str, int]:
    """Read a string; the position after it is -1 when it has not ended."""
    found = _STRING.match(text, position + 1)
    end = found.end() if found else position + 1
    content = text[position + 1 : end]
    if text.startswith('"', end):
        return clean(unescape(content))[0], end + 1
    return clean(unescape(_HELD_ESCAPE.sub("", content)))[0], -1


def _scalar(text: str, position: int) -> tuple[Any, int]:
    """Read a string, number or literal; nothing when it may still change."""
    character = text[position : position + 1]
    if character == '"':
        return _text(text, position)
    if character in _WORDS:
        word, value = _WORDS[character]
        return (value, position + len(word)) if text.startswith(word, position) else (_NOTHING, position)
    found = _NUMBER.match(text, position)
    if found is None or found.end() == len(text) or text[found.end()] not in ",]} \t\n\r":
        return _NOTHING, position
    return number_value(found[0], found[1]), found.end()
