"""Writing JSON and server-sent events in all the ways that mean the same, and some that do not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

SPACES = ("", "", "", " ", "\t", "  ", " \t")


class Pairs:
    """An object whose names may repeat, for `dict` has each name once."""

    def __init__(self, *pairs: tuple[str, Any]) -> None:
        self.pairs = pairs


class Raw(str):
    """A piece of JSON text that is written as it is, for values that `json.dumps` would not write."""

    __slots__ = ()


def write(source: Random, value: Any) -> str:
    """The value as JSON text, mostly compact, now and then with white space and escapes that need not be."""
    if source.random() < 0.6 and not has_special(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=source.random() < 0.5)
    return write_odd(source, value)


def has_special(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_special, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(has_special, value))
    return isinstance(value, (Raw, Pairs))


def write_odd(source: Random, value: Any) -> str:
    """The value as JSON text with white space anywhere."""
    space = SPACES if source.random() < 0.3 else ("",)
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, (dict, Pairs)):
        pairs = value.pairs if isinstance(value, Pairs) else value.items()
        names = [
            source.choice(space) + write_string(source, name) + source.choice(space) for name, _ in pairs
        ]
        members = [
            f"{name}:{write_odd(source, member)}" for name, (_, member) in zip(names, pairs, strict=True)
        ]
        return "{" + ",".join(members) + source.choice(space) + "}"
    if isinstance(value, (list, tuple)):
        members = [source.choice(space) + write_odd(source, member) for member in value]
        return "[" + ",".join(members) + source.choice(space) + "]"
    if isinstance(value, str):
        return write_string(source, value)
    return json.dumps(value)


def write_string(source: Random, text: str) -> str:
    """The text as a JSON string; now and then a character is escaped that need not be."""
    plain = json.dumps(text, ensure_ascii=source.random() < 0.3)
    if source.random() < 0.9 or not text:
        return plain
    at = source.randrange(len(text))
    if ord(text[at]) > 0xFFFF:
        return json.dumps(text)
    escaped = f"\\u{ord(text[at]):04x}"
    return f'"{json.dumps(text[:at])[1:-1]}{escaped}{json.dumps(text[at + 1 :])[1:-1]}"'


LINE_ENDS = ("\n", "\n", "\n", "\n", "\r\n", "\r")


class Framing:
    """How one gateway frames: its line end, its space after the colon, what it puts between events."""

    def __init__(self, source: Random) -> None:
        self.source = source
        self.end = source.choice(LINE_ENDS)
        self.colon = source.choice((": ", ": ", ": ", ":"))
        self.odd = source.random() < 0.25

    def event(self, payload: str, name: str | None = None) -> str:
        """One event, its payload over several data lines now and then."""
        source, end = self.source, self.end
        lines = [f"event{self.colon}{name}"] if name is not None else []
        if self.odd and source.random() < 0.2:
            lines += [
                source.choice(
                    (": c", ":", "id: 1", "id: \0", "retry: 5", "retry: x", "x: y", "data2", "event: message")
                )
            ]
        lines += [f"data{self.colon}{part}" for part in self.parts(payload)]
        if self.odd and source.random() < 0.1:
            end = source.choice(LINE_ENDS)
        return "".join(line + end for line in lines) + end

    def parts(self, payload: str) -> list[str]:
        """The payload cut where a line feed is white space, which it is behind most commas."""
        if not self.odd or self.source.random() < 0.8 or ',"' not in payload:
            return [payload]
        head, comma, tail = payload.partition(',"')
        return [head + comma[0], comma[1] + tail]

    def between(self) -> str:
        """What may stand between two events."""
        source = self.source
        if not self.odd or source.random() < 0.85:
            return ""
        return source.choice(
            (": keep-alive", ":", "", "id: 7", "event: ping", "unknown", "x: \u20ac", "\ufeff", "retry: 10")
        ) + self.end * source.choice((1, 2))
