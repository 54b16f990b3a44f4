"""Damage for session logs: one seeded change after another, from the byte up to the meaning of a member."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltafold.harness import zstd

if TYPE_CHECKING:
    import random

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -0.0,
    1,
    -1,
    1.5,
    2**53,
    1e300,
    "",
    " ",
    "x",
    "tool",
    "append",
    "model",
    "\ud83d",
    [],
    [1],
    [None],
    [[1, 2]],
    {},
    {"toString": 1},
    {"kind": "tool", "callId": ""},
    {"op": "replace", "start": 4, "end": 4},
    {"op": "replace", "start": 25, "end": 4},
    {"op": "replace", "start": 4, "end": 25},
    {"id": "", "type": "tool-call"},
]
TYPES = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/message",
    "tool/call",
    "tool/result",
    "request/header",
    "steering/message",
    "mode/set",
    "request/header-delta",
    "plugin/x",
    "text-chunks",
    "tool-call-chunks",
    "session/title",
]
LINES = [
    b"",
    b"null",
    b"5",
    b"[]",
    b'"x"',
    b"{",
    b"{}",
    b"\x00\x00",
    b'{"type":"turn/end"}',
    b"\xff\xfe{}",
    b"true",
]
NUMBERS = [
    "1.0",
    "1e0",
    "-0",
    "1e400",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.1e-7",
    "26.0",
]


def containers(value: Any) -> list[Any]:
    found = [value] if isinstance(value, (dict, list)) else []
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found += containers(child)
    return found


def dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def change_value(chance: random.Random, line: bytes) -> bytes:
    try:
        value = json.loads(line)
    except ValueError:
        return line + b"x"
    spots = [spot for spot in containers(value) if spot]
    if not spots:
        return line
    if chance.random() < 0.4:
        spots = spots[:1] + [spot for spot in spots if "callId" in spot or "id" in spot or "kind" in spot]
    spot = chance.choice(spots)
    key = chance.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
    kind = chance.randrange(6)
    if kind == 0:
        del spot[key]
    elif kind == 1 and isinstance(spot, dict):
        spot[chance.choice(["extra", "id", "kind", "trigger", "ignorable", "surfaceOp", "name"])] = (
            chance.choice(VALUES)
        )
    elif kind == 2 and isinstance(value, dict):
        value["type"] = chance.choice(TYPES)
    elif kind == 3 and isinstance(value, dict) and type(value.get("seq")) is int:
        value["seq"] = chance.choice([*VALUES, value["seq"] + 1, value["seq"] - 1, value["seq"] + 5])
    else:
        spot[key] = chance.choice(VALUES)
    return dumps(value)


def change_number(chance: random.Random, line: bytes) -> bytes:
    spots = [at for at in range(len(line)) if line[at : at + 1].isdigit() and line[at - 1 : at] in b":[,"]
    if not spots:
        return line
    at = chance.choice(spots)
    end = at
    while end < len(line) and line[end : end + 1].isdigit():
        end += 1
    return line[:at] + chance.choice(NUMBERS).encode() + line[end:]


def mutate_lines(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    lines = list(lines)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at = chance.randrange(0 if chance.random() < 0.2 else min(1, len(lines) - 1), len(lines))
        kind = chance.randrange(12)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        elif kind == 2:
            lines.insert(at, chance.choice(LINES))
        elif kind == 3:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 4:
            line = bytearray(lines[at] or b"x")
            line[chance.randrange(len(line))] = chance.choice(b'{}[]",:0129\x00\x7f\xff')
            lines[at] = bytes(line)
        elif kind == 5:
            lines = lines[: max(1, chance.randrange(len(lines)))]
        elif kind == 6:
            lines[at] = change_number(chance, lines[at])
        else:
            lines[at] = change_value(chance, lines[at])
        if not lines:
            lines = [b""]
    return lines


def encode(chance: random.Random, lines: list[bytes]) -> bytes:
    """Write lines as frames: the header alone, then batches, sometimes with damage to the container."""
    text = [line + b"\n" for line in lines]
    cut = sorted({1, *(chance.randrange(1, len(text) + 1) for _ in range(chance.randrange(4)))})
    batches = [b"".join(text[start:end]) for start, end in zip([0, *cut], [*cut, len(text)], strict=True)]
    frames = [zstd.encode_frame(batch) for batch in batches if batch or chance.random() < 0.3]
    if chance.random() < 0.1:
        frames.insert(chance.randrange(len(frames) + 1), zstd.encode_frame(b""))
    if chance.random() < 0.1 and len(frames) > 1:
        frames[-2:] = [zstd.encode_frame(batches[-2] + batches[-1])] if len(batches) > 1 else frames[-2:]
    data = b"".join(frames)
    kind = chance.randrange(8)
    if kind == 0:
        data = data[: chance.randrange(len(data) + 1)]
    elif kind == 1:
        damaged = bytearray(data)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        data = bytes(damaged)
    elif kind == 2:
        data += chance.choice(
            [b"\x00" * 16, b"garbage!", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00"]
        )
    elif kind == 3 and len(data) > 3:
        data = data[: -chance.randrange(1, 4)]
    return data


def finish(chance: random.Random, lines: list[bytes]) -> bytes:
    data = b"\n".join(lines) + b"\n"
    if chance.random() < 0.15:
        data = data[: chance.randrange(len(data) + 1)]
    return data
