"""Cases: generated streams, mutated vectors and recordings, streams of equal frames with one byte changed.

A case depends on its seed and number alone, so one of a long run can be made again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from tests.cases import vectors
from tests.differential import anthropic, chat, responses
from tests.differential.mutate import mutate, mutate_repeated
from tests.differential.text import Framing
from tests.recordings import CAPTURES
from tests.support import WIRES, files

RECORDED_WINDOW = 6
"""How many frames of a recording a mutated case has: the reference is slow, and a fault needs no more."""


@dataclass(frozen=True)
class Case:
    """A stream and the options that it is folded with, as plain JSON values."""

    body: bytes
    options: dict[str, Any] = field(default_factory=dict)
    origin: str = ""
    wire: str = ""

    def document(self) -> dict[str, Any]:
        """The case as a failure report names it."""
        return {"origin": self.origin, "options": self.options}


def case_of(seed: int, number: int) -> Case:
    """The case of that number in a run with that seed."""
    source = Random(f"{seed}:{number}")
    kind = source.random()
    if kind < 0.4:
        wire, body = generated(source)
        origin = "generated"
    elif kind < 0.65:
        wire, body = repeated(source)
        origin = "repeated frames"
    else:
        name, base = source.choice(bases())
        wire = name.partition("/")[0]
        frames = base.split(b"\n\n")
        if len(frames) > RECORDED_WINDOW + 2:
            first = source.randrange(len(frames) - RECORDED_WINDOW)
            base = b"\n\n".join([*frames[:1], *frames[first : first + RECORDED_WINDOW], *frames[-3:]])
        body = mutate(source, base, source.choice(bases())[1])
        origin = f"mutated {name}"
    return Case(body, options(source, wire), origin, wire)


@cache
def bases() -> tuple[tuple[str, bytes], ...]:
    """What is mutated: every vector, and the recordings where they are there."""
    found = [(name, vector.body) for name, vector in vectors().items() if len(vector.body) < 5000]
    for wire in WIRES:
        found += [(f"{wire}/{path.stem}", path.read_bytes()) for path in files(CAPTURES / wire, "*.sse")]
    return tuple(found)


GRAMMARS = {
    "openai-chat": chat.payloads,
    "anthropic-messages": anthropic.payloads,
    "openai-responses": responses.payloads,
}


def generated(source: Random) -> tuple[str, bytes]:
    """A stream by the grammar of a wire."""
    wire = source.choice(("openai-chat",) * 5 + ("anthropic-messages", "openai-responses"))
    found = GRAMMARS[wire](source)
    if source.random() < 0.75:
        found.append(("[DONE]", None))
    if source.random() < 0.08:
        found.insert(source.randrange(len(found) + 1), source.choice(ODD_PAYLOADS))
    return wire, framed(source, found)


ODD_PAYLOADS: tuple[tuple[str, str | None], ...] = (
    *(
        ("", None),
        ("null", None),
        (" null ", None),
        (": c", None),
        ("[DONE]", None),
        (" [DONE] ", None),
        ("{", None),
    ),
    *(("12", None), ("[]", None), ('"x"', None), ("{}", None), ("{}", "error"), ('{"message":"m"}', "error")),
    *(
        ('{"error":{"message":"m"}}', None),
        ('{"error":"m"}', "x"),
        ("x", "error"),
        ('{"type":"ping"}', "ping"),
    ),
    *(
        ('{"a":NaN}', None),
        ("{}x", None),
        ("\ufeff{}", None),
        (" ", None),
        ("null", "error"),
        ("[DONE]", "error"),
    ),
)


def framed(source: Random, found: list[tuple[str, str | None]]) -> bytes:
    """The payloads as a stream of events, now and then without its last blank line."""
    framing = Framing(source)
    text = "\ufeff" if source.random() < 0.03 else ""
    for payload, name in found:
        text += framing.between() + framing.event(payload, name)
        if source.random() < 0.005:
            text += (
                source.choice(('error: {"error":{"message":"m"}}', "error: {}", "error: x", "error:"))
                + framing.end
            )
    body = text.encode("utf-8", "surrogatepass")
    if source.random() < 0.12:
        body = body[: len(body) - source.randint(1, 12)]
    if source.random() < 0.03:
        at = source.randrange(len(body) + 1)
        body = body[:at] + bytes([source.choice((0xFF, 0xC3, 0xE2, 0xF0, 0x80))]) + body[at:]
    return body


def repeated(source: Random) -> tuple[str, bytes]:
    """A stream of frames that are equal but for one value, then one of them changed by a byte or a few.

    Engines that remember what the last frame looked like must see every such change.
    """
    frames = template(source)
    for _ in range(source.choice((1, 1, 1, 2))):
        frames = mutate_repeated(source, frames)
    return "openai-chat", b"".join(frames)


def template(source: Random) -> list[bytes]:
    """Frames of one gateway: the same head and tail, one value that changes."""
    head: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
    members = source.sample(list(head.items()), source.randint(0, 4))
    tail = source.choice(({}, {"usage": None}, {"system_fingerprint": "fp"}, {"x": [1, {"y": None}]}))
    values: list[dict[str, Any]] = []
    kind = source.choice(("content", "reasoning_content", "tool", "tool", "tool"))
    for at in range(source.randint(3, 8)):
        if kind != "tool":
            values.append({kind: source.choice(("a", "", "é", '"', "\\", "x" * 20, "\n", None))})
            continue
        call: dict[str, Any] = {"index": 0 if source.random() < 0.9 else 1}
        if at == 0 or source.random() < 0.15:
            call |= {"id": "c1", "type": "function"}
        name = {"name": "f"} if at == 0 or source.random() < 0.15 else {}
        call["function"] = name | {
            "arguments": source.choice(('{"a":', '"x', "y", '"}', "", "é", "\\n", "1", "{}"))
        }
        values.append({"tool_calls": [call]})
    extra = source.choice(({}, {"finish_reason": None}, {"logprobs": None, "finish_reason": None}))
    frames: list[bytes] = []
    for value in values:
        choice = {"index": 0, "delta": value, **extra}
        if source.random() < 0.03:
            choice["finish_reason"] = "stop"
        text = json.dumps(
            {**dict(members), "choices": [choice], **tail}, separators=(",", ":"), ensure_ascii=False
        )
        frames.append(f"data: {text}\n\n".encode())
    return [*frames, b"data: [DONE]\n\n"] if source.random() < 0.8 else frames


POLICIES: tuple[Any, ...] = (
    *(
        "harness",
        {"identity": "last"},
        {"shared_index": "merge"},
        {"missing_id": "empty"},
        {"missing_id": "reject"},
    ),
    *({"identity": "last", "missing_id": "reject"}, {"shared_index": "merge", "missing_id": "reject"}),
)
LIMITS = ("line", "event", "choices", "calls", "text", "depth")


def options(source: Random, wire: str) -> dict[str, Any]:
    """Mostly none; else a named wire, a policy, small limits or skipped payloads."""
    found: dict[str, Any] = {}
    if source.random() < 0.3:
        found["wire"] = wire if wire in WIRES and source.random() < 0.95 else source.choice(WIRES)
    if source.random() < 0.2:
        found["policy"] = source.choice(POLICIES)
    if source.random() < 0.15:
        found["malformed"] = "skip"
    if source.random() < 0.08:
        name = source.choice(LIMITS)
        small = {"choices": (1, 2), "calls": (1, 2, 3), "depth": (3, 5, 7, 9), "text": (1, 10, 40, 100)}
        found["limits"] = {name: source.choice(small.get(name, (20, 60, 100, 150, 200)))}
    return found
