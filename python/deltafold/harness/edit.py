"""Changing one member of a JSON line and leaving every other byte of it as it was.

A line is edited as bytes: what the writer wrote around the member (spacing, number forms, escapes, ill-formed
UTF-8) stays. Of a key that stands twice the last one counts, as for JSON.parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import decode_utf8, parse, stringify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltafold.harness.js import JsonValue

Path = tuple[str | int, ...]

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKET: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^ \t\r\n,\]}]+")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)


class EditError(Exception):
    """The path is not in the line."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object or array: where it begins (its key included), and the span of its value."""

    key: str | int
    begin: int
    start: int
    end: int


def _skip_space(line: bytes, at: int) -> int:
    match = _SPACE.match(line, at)
    return match.end() if match else at


def _value_end(line: bytes, start: int) -> int:
    mark = line[start : start + 1]
    if mark in (b"{", b"["):
        depth = 0
        for token in _BRACKET.finditer(line, start):
            first = token.group()[:1]
            depth += 1 if first in (b"{", b"[") else -1 if first in (b"}", b"]") else 0
            if depth == 0:
                return token.end()
        raise EditError("unbalanced brackets")
    match = _STRING.match(line, start) if mark == b'"' else _SCALAR.match(line, start)
    if match is None:
        raise EditError("no value where one was expected")
    return match.end()


def members(line: bytes, start: int) -> Iterator[Member]:
    """Yield the members of the container that opens at `start`, in their order."""
    keyed = line[start : start + 1] == b"{"
    if not keyed and line[start : start + 1] != b"[":
        return
    at, position = _skip_space(line, start + 1), 0
    while line[at : at + 1] not in (b"}", b"]", b""):
        begin, key = at, position
        label: str | int = key
        if keyed:
            end_of_key = _value_end(line, at)
            label = str(parse(decode_utf8(line[at:end_of_key])))
            at = _skip_space(line, _skip_space(line, end_of_key) + 1)
        end = _value_end(line, at)
        yield Member(label, begin, at, end)
        at = _skip_space(line, end)
        if line[at : at + 1] == b",":
            at = _skip_space(line, at + 1)
        position += 1


def locate(line: bytes, path: Path) -> Member:
    """Return the member at a path; raises EditError."""
    found = Member("", 0, _skip_space(line, 0), len(line))
    for key in path:
        matching = [member for member in members(line, found.start) if member.key == key]
        if not matching:
            raise EditError(f"no member {key!r}")
        found = matching[-1]
    return found


def replace(line: bytes, path: Path, value: JsonValue) -> bytes:
    """Put another value in place of the one at a path."""
    found = locate(line, path)
    return line[: found.start] + stringify(value).encode() + line[found.end :]


def insert(line: bytes, path: Path, key: str, value: JsonValue) -> bytes:
    """Add a member at the end of the object at a path."""
    found = locate(line, path)
    inside = list(members(line, found.start))
    text = f"{stringify(key)}:{stringify(value)}".encode()
    if not inside:
        return line[: found.start + 1] + text + line[found.start + 1 :]
    return line[: inside[-1].end] + b"," + text + line[inside[-1].end :]


def put(line: bytes, path: Path, value: JsonValue) -> bytes:
    """Replace the member at a path, or add it where its object has none of that key."""
    try:
        return replace(line, path, value)
    except EditError:
        key = path[-1]
        if not isinstance(key, str):
            raise
        return insert(line, path[:-1], key, value)


def remove(line: bytes, path: Path) -> bytes:
    """Take a member out, every occurrence of its key, with the comma that belonged to it."""
    while True:
        parent = locate(line, path[:-1])
        inside = list(members(line, parent.start))
        at = next((at for at, member in enumerate(inside) if member.key == path[-1]), None)
        if at is None:
            return line
        if at + 1 < len(inside):
            line = line[: inside[at].begin] + line[inside[at + 1].begin :]
        elif at:
            line = line[: inside[at - 1].end] + line[inside[at].end :]
        else:
            line = line[: inside[at].begin] + line[inside[at].end :]
        if isinstance(path[-1], int):
            return line


def keep_members(line: bytes, path: Path, kept: Sequence[int]) -> bytes:
    """Keep only some elements of the array at a path, each with its bytes."""
    found = locate(line, path)
    inside = list(members(line, found.start))
    body = b",".join(line[inside[at].start : inside[at].end] for at in kept)
    return line[: found.start] + b"[" + body + b"]" + line[found.end :]


def lone_surrogates(line: bytes) -> list[int]:
    """Return where escapes of a surrogate without its partner begin."""
    lone: list[int] = []
    waiting: int | None = None
    waiting_end = -1
    for escape in _ESCAPE.finditer(line):
        code = int(escape.group(1), 16) if escape.group(1) else 0
        if waiting is not None and not (code in _LOW and escape.start() == waiting_end):
            lone.append(waiting)
        elif waiting is not None:
            waiting = None
            continue
        waiting = escape.start() if code in _HIGH else None
        waiting_end = escape.end()
        if code in _LOW:
            lone.append(escape.start())
    return [*lone, waiting] if waiting is not None else lone


def replace_lone_surrogates(line: bytes) -> bytes:
    """Write U+FFFD for every lone surrogate, the character that a provider would have to be sent instead."""
    edited = bytearray(line)
    for at in lone_surrogates(line):
        edited[at : at + 6] = b"\\ufffd"
    return bytes(edited)
