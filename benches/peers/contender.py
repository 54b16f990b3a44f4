"""What a contender is, and the stream that all of them fold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benches.shapes import FRAGMENT, FRAME_FEEDS, Gateway, arguments_in_fragments, cut, long_call

if TYPE_CHECKING:
    from collections.abc import Callable

CHAT = "openai-chat"
ANTHROPIC = "anthropic-messages"
LOOPBACK = "openai-chat over loopback HTTP"

SHOWN = "openai-chat, a chunk a read, arguments shown"
PARSED = "chunk objects of LiteLLM, made beforehand"

READ = 16 * 1024
FRAGMENTS = 2000

Feeds = list[bytes]


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to fold one stream: `fold` takes its feeds and gives the arguments of its one call."""

    label: str
    package: str
    wire: str
    fold: Callable[[Feeds], str]


@dataclass(frozen=True, slots=True)
class Stream:
    """The feeds of the long call on one wire, and what must come out."""

    feeds: Feeds
    chunks: int
    arguments: str


@cache
def stream(wire: str) -> Stream:
    """The long call on that wire, in feeds of READ bytes, or a frame a feed where it is shown."""
    if wire == ANTHROPIC:
        return anthropic_long_call()
    shape = long_call(fragments=FRAGMENTS)
    size = FRAME_FEEDS if wire == SHOWN else READ
    return Stream(shape.feeds(size)[0], shape.frames, shape.arguments[0][0])


def anthropic_long_call() -> Stream:
    """The same arguments in the same number of fragments, as Anthropic's Messages API frames them."""
    pieces = arguments_in_fragments(Gateway(1).random, FRAGMENTS, FRAGMENT)
    block = {"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "write_file", "input": {}}
    message = {
        "id": "msg_013Zva2CMHLNnjNjJJKqJ2EF",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1280, "output_tokens": 1},
    }
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ]
    for piece in pieces:
        delta = {"type": "input_json_delta", "partial_json": piece}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 2048}},
        {"type": "message_stop"},
    ]
    body = "".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}\n\n"
        for event in events
    )
    return Stream(list(cut(body.encode(), READ)), len(events), "".join(pieces))
