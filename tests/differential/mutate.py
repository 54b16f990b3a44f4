"""Changes to a stream: of bytes, of frames, of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[{}\[\]:,]')
VALUES = (
    *(
        b"null",
        b'""',
        b"0",
        b"1",
        b"-1",
        b"true",
        b"{}",
        b"[]",
        b'"x"',
        b'"0"',
        b"1.5",
        b'"c1"',
        b'"c2"',
        b'"f"',
        b'"stop"',
    ),
    *(
        b'"{}"',
        b'"\\ud83d"',
        b'"\\ude00"',
        b'"id"',
        b'"index"',
        b'"arguments"',
        b'"error"',
        b"9223372036854775808",
        b"1e400",
    ),
    *(b'{"message":"m"}', b'"tool_calls"', b'"delta"', b'"content"', b'"choices"', b'"\\u0000"', b'"type"'),
)
BYTES = b'"\\{}[]:,0123456789.eE+-tfnul aAxX\n\r\t\x00\x1f\x7f\xc3\xa9\xef\xbb\xbf\xff/u'


def mutate(source: Random, body: bytes, other: bytes) -> bytes:
    """The body with one to four changes; `other` gives frames to splice in."""
    for _ in range(source.choice((1, 1, 2, 3, 4))):
        body = source.choice(CHANGES)(source, body, other)
    return body


def flip(source: Random, body: bytes, _other: bytes) -> bytes:
    """One byte is another one."""
    if not body:
        return body
    at = source.randrange(len(body))
    new = source.choice(BYTES) if source.random() < 0.7 else source.randrange(256)
    return body[:at] + bytes([new]) + body[at + 1 :]


def delete(source: Random, body: bytes, _other: bytes) -> bytes:
    """A few bytes are gone."""
    at = source.randrange(len(body) + 1)
    return body[:at] + body[at + source.choice((1, 1, 1, 2, 5, 20)) :]


def insert(source: Random, body: bytes, _other: bytes) -> bytes:
    """One byte is new."""
    at = source.randrange(len(body) + 1)
    return body[:at] + bytes([source.choice(BYTES)]) + body[at:]


def double(source: Random, body: bytes, _other: bytes) -> bytes:
    """A piece comes twice."""
    at = source.randrange(len(body) + 1)
    size = source.choice((1, 2, 10, 50))
    return body[: at + size] + body[at:]


def swap_value(source: Random, body: bytes, _other: bytes) -> bytes:
    """A token of JSON is another value, or that of another place."""
    tokens = list(TOKEN.finditer(body))
    if not tokens:
        return body
    token = source.choice(tokens)
    new = source.choice(VALUES) if source.random() < 0.7 else source.choice(tokens)[0]
    return body[: token.start()] + new + body[token.end() :]


def drop_member(source: Random, body: bytes, _other: bytes) -> bytes:
    """A member with a plain value is gone."""
    members = list(re.finditer(rb'"\w+":(?:"(?:[^"\\]|\\.)*"|[\w.-]+),', body))
    if not members:
        return body
    member = source.choice(members)
    return body[: member.start()] + body[member.end() :]


def frames_changed(source: Random, body: bytes, other: bytes) -> bytes:
    """Frames are dropped, doubled, moved or taken from elsewhere."""
    frames = body.split(b"\n\n")
    at = source.randrange(len(frames))
    kind = source.random()
    if kind < 0.25:
        del frames[at]
    elif kind < 0.5:
        frames.insert(source.randrange(len(frames) + 1), frames[at])
    elif kind < 0.75:
        frames.insert(source.randrange(len(frames)), frames.pop(at))
    else:
        frames.insert(at, source.choice(other.split(b"\n\n")[:20]))
    return b"\n\n".join(frames)


def cut(source: Random, body: bytes, _other: bytes) -> bytes:
    """The end is gone."""
    return body[: source.randrange(len(body) + 1)]


def line_ends(source: Random, body: bytes, _other: bytes) -> bytes:
    """Another line end, everywhere or at one place."""
    new = source.choice((b"\r\n", b"\r", b"\n\n", b"\r\r", b"\n\r"))
    if source.random() < 0.5:
        return body.replace(b"\n", new)
    at = body.find(b"\n", source.randrange(len(body) + 1))
    return body if at < 0 else body[:at] + new + body[at + 1 :]


CHANGES: tuple[Callable[[Random, bytes, bytes], bytes], ...] = (
    *(flip, flip, delete, insert, double, swap_value, swap_value, swap_value, drop_member),
    *(frames_changed, frames_changed, cut, line_ends),
)


def mutate_repeated(source: Random, frames: list[bytes]) -> list[bytes]:
    """One frame is changed by a byte where it is like the one before: in the head or in the tail."""
    if len(frames) < 3:
        return frames
    at = source.randrange(1, len(frames))
    frame = frames[at]
    head = common(frames[at - 1], frame)
    tail = common(frames[at - 1][::-1], frame[::-1])
    same = [*range(head), *range(len(frame) - tail, len(frame))]
    if not same:
        return frames
    if source.random() < 0.2:
        changed = swap_value(source, frame, frame)
    else:
        place = source.choice(same)
        kind = source.random()
        new = bytes([source.choice(BYTES) if source.random() < 0.8 else source.randrange(256)])
        changed = frame[:place] + (new if kind < 0.8 else b"") + frame[place + (kind < 0.6 or kind >= 0.8) :]
    return [*frames[:at], changed, *frames[at + 1 :]]


def common(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    return next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
