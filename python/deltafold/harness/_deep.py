"""JSON of any depth, without recursion: the fallback where the fast parser reaches its limit."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.harness.js import JsonValue

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_WORDS: Final[dict[str, bool | None]] = {"null": None, "true": True, "false": False}


class _Parser:
    """One parse.

    `stack` holds the open containers, `keys` the key that waits for its value in each object.
    """

    def __init__(
        self, text: str, integer: Callable[[str], int | float], number: Callable[[str], int | float]
    ) -> None:
        self.text = text
        self.integer = integer
        self.number = number
        self.at = 0
        self.stack: list[list[JsonValue] | dict[str, JsonValue]] = []
        self.keys: list[str] = []

    def fail(self) -> ValueError:
        return ValueError(f"not JSON at character {self.at}")

    def space(self) -> str:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.fail()
        self.at = match.end()
        value = json.loads(match.group())
        return str(value)

    def key(self) -> None:
        if self.space() != '"':
            raise self.fail()
        self.keys.append(self.string())
        if self.space() != ":":
            raise self.fail()
        self.at += 1

    def scalar(self, mark: str) -> JsonValue:
        if mark == '"':
            return self.string()
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        match = _NUMBER.match(self.text, self.at)
        if match is None:
            raise self.fail()
        self.at = match.end()
        whole, fraction, exponent = match.groups()
        return self.integer(whole) if fraction is None and exponent is None else self.number(match.group())

    def attach(self, value: JsonValue) -> None:
        top = self.stack[-1]
        if isinstance(top, dict):
            top[self.keys.pop()] = value
        else:
            top.append(value)

    def opened(self, mark: str) -> bool:
        """Open a container; True when a value has to follow, False when it was empty and is closed again."""
        self.at += 1
        fresh: list[JsonValue] | dict[str, JsonValue] = {} if mark == "{" else []
        self.stack.append(fresh)
        if self.space() == ("}" if mark == "{" else "]"):
            return False
        if mark == "{":
            self.key()
        return True

    def run(self) -> JsonValue:
        while True:
            mark = self.space()
            if mark in ("{", "[") and mark:
                if self.opened(mark):
                    continue
            elif self.stack:
                self.attach(self.scalar(mark))
            else:
                raise self.fail()
            closed = self.close()
            if closed is not None:
                return closed[0]

    def close(self) -> tuple[JsonValue] | None:
        """Go on after a value: next member, or close containers; the whole value once all are closed."""
        while True:
            mark = self.space()
            top = self.stack[-1]
            if mark == ",":
                self.at += 1
                if isinstance(top, dict):
                    self.key()
                return None
            if mark != ("}" if isinstance(top, dict) else "]"):
                raise self.fail()
            self.at += 1
            done = self.stack.pop()
            if not self.stack:
                if self.space():
                    raise self.fail()
                return (done,)
            self.attach(done)


def parse_deep(
    text: str, integer: Callable[[str], int | float], number: Callable[[str], int | float]
) -> JsonValue:
    """Parse a JSON array or object of any depth; raises ValueError where it is not JSON."""
    return _Parser(text, integer, number).run()
