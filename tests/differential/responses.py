"""Responses streams, from the same small pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.anthropic import KEYS, EventParts, Members, named
from tests.differential.chat import maybe, shuffled
from tests.differential.pools import ERRORS, FRAGMENTS, IDS, NAMES, TEXTS, USAGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

ITEM_IDS = ("i1", "i1", "i2", "m1", "", None, 5)
CALL_TYPES = ("function_call", "custom_tool_call")
ITEM_TYPES = (
    *["function_call"] * 5,
    "custom_tool_call",
    "message",
    "message",
    "reasoning",
    "web_search_call",
    None,
)
STATUSES = ("completed", "completed", "incomplete", "failed", "in_progress", None, 5)
TEXT_EVENTS = ("output_text", "refusal", "reasoning_summary_text", "reasoning_text")
ARGUMENT_EVENTS = ("function_call_arguments", "function_call_arguments", "custom_tool_call_input")
DETAILS = (None, {"reason": "max_output_tokens"}, {}, {"reason": ""}, {"reason": 5}, "x")


def item(source: Random) -> Any:
    kind = source.choice(ITEM_TYPES)
    members: Members = [("type", kind), ("id", source.choice(ITEM_IDS))]
    if kind in CALL_TYPES:
        name = "arguments" if kind == "function_call" else "input"
        members += [("call_id", source.choice(IDS)), ("name", source.choice(NAMES))]
        members += [(name, source.choice((*FRAGMENTS, "", "", None, 5)))]
    elif kind == "message":
        content = [{"type": "output_text", "text": source.choice(("a", "", "xy"))}]
        whole = [*content, {"type": "refusal", "refusal": "no"}]
        members.append(("content", source.choice(([], content, whole, None, "x"))))
    elif kind == "reasoning":
        members.append(("summary", source.choice(([], [{"type": "summary_text", "text": "s"}], None))))
        members.append(("encrypted_content", "E"))
    if maybe(source, 0.5):
        members.append(("status", source.choice(STATUSES)))
    return shuffled(source, members) if maybe(source, 0.98) else source.choice((None, "x", {}))


def response(source: Random, status: str) -> Any:
    output = source.choice(([], [item(source)], [item(source), item(source)], None, "x"))
    return shuffled(
        source,
        [
            *(("id", source.choice(("r1", "r2", "", None))), ("status", status), ("model", "x")),
            *(("created_at", source.choice((5, 0, 1.5, None))), ("output", output)),
            *(("usage", source.choice(USAGES)), ("incomplete_details", source.choice(DETAILS))),
            ("error", source.choice((*ERRORS, None, None))),
        ],
    )


def place(source: Random) -> Members:
    members: Members = [("output_index", source.choice(KEYS))] if maybe(source, 0.9) else []
    return [*members, ("item_id", source.choice(ITEM_IDS))] if maybe(source, 0.9) else members


def item_event(source: Random) -> EventParts:
    name = source.choice(("added", "added", "done"))
    return f"response.output_item.{name}", [("output_index", source.choice(KEYS)), ("item", item(source))]


def arguments_delta(source: Random) -> EventParts:
    delta = source.choice((*FRAGMENTS, None, 5))
    return f"response.{source.choice(ARGUMENT_EVENTS)}.delta", [*place(source), ("delta", delta)]


def arguments_done(source: Random) -> EventParts:
    name = source.choice(ARGUMENT_EVENTS)
    member = "input" if name.startswith("custom") else "arguments"
    value = source.choice((*FRAGMENTS, None))
    return f"response.{name}.done", [*place(source), (member, value), ("name", source.choice(NAMES))]


def text_event(source: Random) -> EventParts:
    name = source.choice(TEXT_EVENTS)
    if maybe(source, 0.1):
        return f"response.{name}.done", [*place(source), ("text", source.choice(TEXTS))]
    return f"response.{name}.delta", [*place(source), ("delta", source.choice(TEXTS))]


def annotation(source: Random) -> EventParts:
    value = source.choice(({"u": 1}, None, "x"))
    return "response.output_text.annotation.added", [*place(source), ("annotation", value)]


def failure(source: Random) -> EventParts:
    return "error", [("code", source.choice(("c", 502, None))), ("message", source.choice(("m", None, 5)))]


def created(source: Random) -> EventParts:
    return "response.created", [("response", response(source, "in_progress"))]


def other(source: Random) -> EventParts:
    names = ("response.in_progress", "response.new.thing", "ping", "response.content_part.added")
    return source.choice(names), place(source)


EVENTS: dict[Callable[[Random], EventParts], int] = {
    item_event: 30,
    arguments_delta: 30,
    arguments_done: 10,
    text_event: 15,
    annotation: 3,
    failure: 2,
    created: 3,
    other: 7,
}
"""What comes how often."""


def payloads(source: Random) -> list[tuple[str, str | None]]:
    """The payloads of a Responses stream."""
    makers = source.choices(list(EVENTS), list(EVENTS.values()), k=source.randint(2, 9))
    if maybe(source, 0.9):
        makers.insert(0, created)
    events = [maker(source) for maker in makers]
    if maybe(source, 0.8):
        status = source.choice(("completed", "completed", "completed", "incomplete", "failed"))
        events.append((f"response.{status}", [("response", response(source, status))]))
    return [named(source, name, members) for name, members in events]
