"""Named stream shapes: what the benchmarks fold and what the tests fold.

Every shape is deterministic: the same bytes in every run, on every machine and Python, so figures and
instruction counts of different days can be laid side by side. They follow the layout of the chunks that the
large chat APIs send today (id, created, model and fingerprint repeated in each, nulls spelt out); nothing in
them is copied from a recording.
"""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, object]

FRAME_FEEDS = 0
"""The feed size that stands for "one frame a feed"."""
FEED_SIZES = (FRAME_FEEDS, 16 * 1024, 64)

DONE_FRAME = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """One or more streams, each a tuple of its frames, and what they fold to."""

    name: str
    streams: tuple[tuple[bytes, ...], ...]
    arguments: tuple[tuple[str, ...], ...]
    """For each stream the arguments of its calls, in order of appearance."""
    content: tuple[str | None, ...]
    reasoning: tuple[str | None, ...]

    @property
    def frames(self) -> int:
        """Number of frames in all streams."""
        return sum(len(stream) for stream in self.streams)

    @property
    def bytes(self) -> int:
        """Number of bytes in all streams."""
        return sum(len(frame) for stream in self.streams for frame in stream)

    def feeds(self, size: int) -> list[list[bytes]]:
        """Each stream cut into feeds of `size` bytes, or into its frames where `size` is FRAME_FEEDS."""
        if size == FRAME_FEEDS:
            return [list(stream) for stream in self.streams]
        return [list(cut(b"".join(stream), size)) for stream in self.streams]


def cut(body: bytes, size: int) -> Iterator[bytes]:
    """`body` in pieces of `size` bytes; the last one may be shorter."""
    return (body[start : start + size] for start in range(0, len(body), size))


class Gateway:
    """Writes chunks the way one gateway does; what is the same in each chunk is held here."""

    def __init__(self, seed: int, *, padded: bool = False) -> None:
        self.random = random.Random(seed)  # noqa: S311 (shapes, no secrets)
        self.padded = padded
        self.head: Json = {
            "id": f"chatcmpl-{self.letters(29)}",
            "object": "chat.completion.chunk",
            "created": 1780000000 + seed,
            "model": "gpt-5.2-2026-02-11",
            "service_tier": "default",
            "system_fingerprint": f"fp_{self.random.getrandbits(40):010x}",
        }

    def letters(self, count: int) -> str:
        return "".join(
            self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789", k=count)
        )

    def frame(self, delta: Json, finish_reason: str | None = None) -> bytes:
        """A frame with one choice."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self.chunk([choice], None)

    def chunk(self, choices: list[Json], usage: Json | None) -> bytes:
        members = {**self.head, "choices": choices, "usage": usage}
        if self.padded:
            members["obfuscation"] = self.letters(self.random.randint(1, 16))
        text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
        return f"data: {text}\n\n".encode()

    def role(self) -> bytes:
        return self.frame({"role": "assistant", "content": None, "refusal": None})

    def call_start(self, index: int, name: str) -> bytes:
        function = {"name": name, "arguments": ""}
        entry = {"index": index, "id": f"call_{self.letters(24)}", "type": "function", "function": function}
        return self.frame({"tool_calls": [entry]})

    def call_delta(self, index: int, fragment: str) -> bytes:
        return self.frame({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})

    def ending(self, reason: str) -> list[bytes]:
        usage: Json = {
            "prompt_tokens": 1280,
            "completion_tokens": 2048,
            "total_tokens": 3328,
            "prompt_tokens_details": {"cached_tokens": 1024},
        }
        return [self.frame({}, reason), self.chunk([], usage), DONE_FRAME]


# Every sixth word has something that JSON escapes, or characters beyond ASCII: code and prose in most
# languages of Europe have fewer, tables and Asian scripts more.
WORDS = (
    *("the", "fold", "keeps", "what", "arrived", "and", "never", "it", "would", "like", "to", "have", "seen"),
    *("return", "value", "for", "each", "item", "in", "order", "if", "not", "then", "raise", "with", "open"),
    *("index", "of", "a", "call", "that", "is", "known", "by", "its", "name", "while", "others", "wait"),
    *("größer", "señal", "流れ", "🦀", '"quoted"', "a\\path", "tab\tbed", "line\n"),
)

FRAGMENT = 12
"""Mean characters of a fragment of a long call: what comes in one chunk is a few tokens."""


def sentences(source: random.Random, count: int) -> list[str]:
    """`count` pieces of text as a tokenizer would send them, the first of them without a leading space."""
    return [source.choice(WORDS) if at == 0 else f" {source.choice(WORDS)}" for at in range(count)]


def arguments_in_fragments(source: random.Random, count: int, mean: int) -> list[str]:
    """JSON arguments (one object) cut into exactly `count` fragments of about `mean` characters."""
    lines = [" ".join(source.choices(WORDS, k=8)) for _ in range(1 + count * mean // 60)]
    text = json.dumps({"path": "src/fold.py", "overwrite": True, "lines": lines}, ensure_ascii=False)
    cuts = sorted(source.sample(range(1, len(text)), count - 1))
    return [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]


def long_call(*, fragments: int = 2000, padded: bool = False) -> Shape:
    """One call whose arguments come in `fragments` fragments, about 350 bytes a chunk."""
    gateway = Gateway(1, padded=padded)
    pieces = arguments_in_fragments(gateway.random, fragments, FRAGMENT)
    frames = [gateway.role(), gateway.call_start(0, "write_file")]
    frames += [gateway.call_delta(0, piece) for piece in pieces]
    frames += gateway.ending("tool_calls")
    name = "long-call-padded" if padded else "long-call"
    return Shape(name, (tuple(frames),), (("".join(pieces),),), (None,), (None,))


def interleaved_calls(*, calls: int = 8, fragments: int = 250) -> Shape:
    """`calls` calls, opened together, whose fragments then alternate one by one."""
    gateway = Gateway(2)
    pieces = [arguments_in_fragments(gateway.random, fragments, FRAGMENT) for _ in range(calls)]
    frames = [gateway.role(), *(gateway.call_start(index, f"tool_{index}") for index in range(calls))]
    for at in range(fragments):
        frames += [gateway.call_delta(index, pieces[index][at]) for index in range(calls)]
    frames += gateway.ending("tool_calls")
    return Shape("interleaved-calls", (tuple(frames),), (tuple(map("".join, pieces)),), (None,), (None,))


def text_and_reasoning(*, tokens: int = 1000) -> Shape:
    """`tokens` pieces of reasoning, then as many of text."""
    gateway = Gateway(3)
    reasoning = sentences(gateway.random, tokens)
    content = sentences(gateway.random, tokens)
    frames = [gateway.role()]
    frames += [gateway.frame({"content": None, "reasoning_content": piece}) for piece in reasoning]
    frames += [gateway.frame({"content": piece, "reasoning_content": None}) for piece in content]
    frames += gateway.ending("stop")
    return Shape("text-and-reasoning", (tuple(frames),), ((),), ("".join(content),), ("".join(reasoning),))


def short_streams(*, streams: int = 200) -> Shape:
    """`streams` short answers, each a little text and one call, from `streams` different responses."""
    bodies: list[tuple[bytes, ...]] = []
    arguments: list[tuple[str, ...]] = []
    content: list[str] = []
    for number in range(streams):
        gateway = Gateway(100 + number)
        text = sentences(gateway.random, gateway.random.randint(4, 12))
        pieces = arguments_in_fragments(gateway.random, gateway.random.randint(4, 16), 8)
        frames = [gateway.role(), *(gateway.frame({"content": piece}) for piece in text)]
        frames += [gateway.call_start(0, "search"), *(gateway.call_delta(0, piece) for piece in pieces)]
        bodies.append((*frames, *gateway.ending("tool_calls")))
        arguments.append(("".join(pieces),))
        content.append("".join(text))
    return Shape("short-streams", tuple(bodies), tuple(arguments), tuple(content), (None,) * streams)


def many_members(*, count: int = 1000) -> Shape:
    """One answer with `count` unknown members at once, then one by one, and all else that has names."""
    gateway = Gateway(4)
    numbers = {f"n{number}": number for number in range(count)}
    pieces: list[Json] = [{"index": number, "type": "encrypted", "data": "s"} for number in range(count)]
    frames = [gateway.role(), gateway.frame({"content": "x", **numbers})]
    frames += [gateway.frame({"reasoning_details": pieces}), gateway.frame({"audio": {"id": "a", **numbers}})]
    frames += [gateway.frame({f"m{number}": {"at": number}}) for number in range(count)]
    frames += [gateway.frame({"annotations": [{"at": number}]}) for number in range(count)]
    frames += [gateway.frame({"reasoning_details": [piece]}) for piece in pieces]
    frames += gateway.ending("stop")
    return Shape("many-members", (tuple(frames),), ((),), ("x",), (None,))


SHAPES: dict[str, Callable[[], Shape]] = {
    "long-call": long_call,
    "long-call-padded": lambda: long_call(padded=True),
    "interleaved-calls": interleaved_calls,
    "text-and-reasoning": text_and_reasoning,
    "short-streams": short_streams,
    "many-members": many_members,
}


@cache
def shape(name: str) -> Shape:
    """The shape of that name, built once."""
    return SHAPES[name]()
