"""Messages streams of the Anthropic wire, from the same small pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.chat import maybe, shuffled
from tests.differential.pools import ERRORS, FRAGMENTS, IDS, NAMES, TEXTS, USAGES
from tests.differential.text import Raw, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Members = list[tuple[str, Any]]
EventParts = tuple[str, Members]

KEYS = (0, 0, 0, 1, 1, 2, "0", None, -1, 1.5)
STOPS = ("end_turn", "tool_use", "max_tokens", "refusal", "pause_turn", None, "", 5)
INPUTS = ({}, {}, {}, {"a": 1}, None, [], "x", Raw('{ "a" : 1.0 }'))
TOOL_TYPES = ("tool_use", "server_tool_use", "mcp_tool_use")
BLOCK_TYPES = (
    *("text", "text", "thinking", "redacted_thinking", "tool_use", "tool_use", *TOOL_TYPES),
    *("web_search_tool_result", "new_block", None, 5),
)
DELTA_TYPES = (
    *("text_delta", "text_delta", "thinking_delta", "signature_delta", "citations_delta", "x", None),
    *["input_json_delta"] * 4,
)


def block(source: Random) -> Any:
    kind = source.choice(BLOCK_TYPES)
    members: Members = [("type", kind)]
    if kind == "text":
        members.append(("text", source.choice(TEXTS)))
        if maybe(source, 0.2):
            members.append(("citations", source.choice(([], None, [{"u": 1}], "x"))))
    elif kind == "thinking":
        members += [("thinking", source.choice(TEXTS)), ("signature", source.choice(("", "S", None)))]
    elif kind in TOOL_TYPES:
        identity = [("id", source.choice(IDS))] if maybe(source, 0.9) else []
        members += [*identity, ("name", source.choice(NAMES)), ("input", source.choice(INPUTS))]
    else:
        members += [("data", "XX"), ("content", [{"type": "x"}])]
    if maybe(source, 0.05):
        members.append(("caller", {"type": "direct"}))
    return shuffled(source, members) if maybe(source, 0.98) else source.choice((None, "x", {}))


def block_delta(source: Random) -> Any:
    kind = source.choice(DELTA_TYPES)
    members: Members = [("type", kind)]
    if kind == "input_json_delta":
        members.append(("partial_json", source.choice((*FRAGMENTS, None, 5, {"a": 1}))))
    else:
        members += [("text", source.choice(TEXTS)), ("thinking", source.choice(TEXTS))]
        members += [("signature", source.choice(("S", "", None)))]
        members += [("citation", source.choice(({"u": 1}, None, "x")))]
    return shuffled(source, members)


def block_start(source: Random) -> EventParts:
    return "content_block_start", [("index", source.choice(KEYS)), ("content_block", block(source))]


def block_goes_on(source: Random) -> EventParts:
    return "content_block_delta", [("index", source.choice(KEYS)), ("delta", block_delta(source))]


def block_stop(source: Random) -> EventParts:
    return "content_block_stop", [("index", source.choice(KEYS))]


def message_delta(source: Random) -> EventParts:
    change = {"stop_reason": source.choice(STOPS), "container": source.choice((None, {"id": "c"}))}
    context = ("context_management", source.choice((None, {"a": 1})))
    return "message_delta", [("delta", change), ("usage", source.choice(USAGES)), context]


def message_start(source: Random) -> EventParts:
    identity = source.choice(("m1", "m2", "", None, 5))
    start = {"id": identity, "model": "x", "usage": source.choice(USAGES), "content": []}
    return "message_start", [("message", start)]


def other(source: Random) -> EventParts:
    name = source.choice(("ping", "ping", "error", "message_stop", "new_event"))
    return name, [("error", source.choice(ERRORS))] if name == "error" else []


EVENTS: dict[Callable[[Random], EventParts], int] = {
    block_start: 30,
    block_goes_on: 45,
    block_stop: 10,
    message_delta: 7,
    message_start: 3,
    other: 5,
}
"""What comes how often."""


def payloads(source: Random) -> list[tuple[str, str | None]]:
    """The payloads of a Messages stream."""
    makers = source.choices(list(EVENTS), list(EVENTS.values()), k=source.randint(2, 9))
    if maybe(source, 0.95):
        makers.insert(0, message_start)
    if maybe(source, 0.7):
        makers.append(message_delta)
    events = [maker(source) for maker in makers]
    if maybe(source, 0.7):
        events.append(("message_stop", []))
    return [named(source, name, members) for name, members in events]


def named(source: Random, name: str, members: Members) -> tuple[str, str | None]:
    """The payload with its type, its event name, or both."""
    with_type = maybe(source, 0.95)
    if with_type:
        members = [("type", name), *members]
    payload = write(source, shuffled(source, members))
    return payload, name if not with_type or maybe(source, 0.9) else None
