"""Chat streams with every quirk that gateways are known for, from small pools so that identities collide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.pools import (
    DETAILS,
    ERRORS,
    EXTRAS,
    FRAGMENTS,
    IDS,
    INDEXES,
    LOGPROBS,
    NAMES,
    ODD_ARGUMENTS,
    REASONS,
    ROLES,
    TEXTS,
    TOP,
    USAGES,
)
from tests.differential.text import Pairs, write

if TYPE_CHECKING:
    from random import Random


def maybe(source: Random, chance: float) -> bool:
    return source.random() < chance


def function(source: Random) -> Any:
    if maybe(source, 0.03):
        return source.choice((None, {}, "x", [], {"parameters": {}}))
    members: list[tuple[str, Any]] = []
    if maybe(source, 0.5):
        members.append(("name", source.choice(NAMES)))
    if maybe(source, 0.9):
        odd = maybe(source, 0.08)
        members.append(("arguments", source.choice(ODD_ARGUMENTS) if odd else source.choice(FRAGMENTS)))
    return shuffled(source, members)


def shuffled(source: Random, members: list[tuple[str, Any]]) -> Any:
    """The members as an object, in any order now and then, one of them twice now and then."""
    if members and maybe(source, 0.02):
        members.append((source.choice(members)[0], source.choice((None, "", "z", 0, "c9"))))
    if maybe(source, 0.1):
        source.shuffle(members)
    return Pairs(*members)


def entry(source: Random) -> Any:
    """One element of `tool_calls`."""
    if maybe(source, 0.02):
        return source.choice((None, "x", {}, [], 5))
    members: list[tuple[str, Any]] = []
    if maybe(source, 0.85):
        members.append(("index", source.choice(INDEXES if maybe(source, 0.4) else (0, 0, 1))))
    if maybe(source, 0.5):
        members.append(("id", source.choice(IDS)))
    if maybe(source, 0.3):
        members.append(("type", source.choice(("function", "function", "custom", "", None, 5))))
    if maybe(source, 0.06):
        custom = {"name": source.choice(NAMES), "input": source.choice(FRAGMENTS)}
        members.append(("custom", source.choice((custom, custom, {}, None, {"input": "x"}, "x"))))
    if maybe(source, 0.95):
        members.append(("function", function(source)))
    if maybe(source, 0.04):
        members.append(source.choice(EXTRAS))
    return shuffled(source, members)


def delta(source: Random) -> Any:
    if maybe(source, 0.03):
        return source.choice((None, "x", [], {}))
    members: list[tuple[str, Any]] = []
    if maybe(source, 0.15):
        members.append(("role", source.choice(ROLES)))
    kind = source.random()
    if kind < 0.25:
        members.append(("content", source.choice(TEXTS)))
    elif kind < 0.35:
        name = source.choice(("reasoning_content", "reasoning", "reasoning_text", "refusal"))
        members += [(name, source.choice(TEXTS)), ("content", source.choice(TEXTS))]
    elif kind < 0.9:
        entries = [entry(source) for _ in range(source.choice((1, 1, 1, 2)))]
        members.append(("tool_calls", entries if maybe(source, 0.97) else source.choice((None, [], {}, "x"))))
    if maybe(source, 0.05):
        members.append(("reasoning_details", source.choice(DETAILS)))
    if maybe(source, 0.03):
        members.append(("function_call", function(source)))
    if maybe(source, 0.05):
        members.append(source.choice(EXTRAS))
    return shuffled(source, members)


def message(source: Random) -> Any:
    """A whole message in a chunk (X4)."""
    calls = [
        Pairs(("id", source.choice(IDS)), ("function", function(source)))
        for _ in range(source.choice((0, 1, 2)))
    ]
    members = [("content", source.choice(TEXTS)), ("tool_calls", calls), ("reasoning", source.choice(TEXTS))]
    return source.choice((shuffled(source, members), shuffled(source, members), None, "x", {}))


def choice(source: Random) -> Any:
    if maybe(source, 0.01):
        return source.choice((None, "x", [], 5))
    members: list[tuple[str, Any]] = []
    if maybe(source, 0.95):
        members.append(("index", source.choice((0, 0, 0, 0, 0, 0, 1, 1, "1", -1, None, "x", 1.5, 7))))
    if maybe(source, 0.97):
        members.append(("delta", delta(source)))
    if maybe(source, 0.02):
        members.append(("text", source.choice(TEXTS)))
    if maybe(source, 0.03):
        members.append(("message", message(source)))
    if maybe(source, 0.05):
        members.append(("logprobs", source.choice(LOGPROBS)))
    if maybe(source, 0.25):
        members.append(("finish_reason", source.choice(REASONS)))
    if maybe(source, 0.03):
        members.append(
            (
                source.choice(("native_finish_reason", "content_filter_results", "seed")),
                source.choice(("S", None, {"a": 1})),
            )
        )
    return shuffled(source, members)


def chunk(source: Random) -> str:
    """One payload of a chat stream."""
    members: list[tuple[str, Any]] = []
    if maybe(source, 0.97):
        count = source.choice((1, 1, 1, 1, 1, 1, 2, 0))
        members.append(
            (
                "choices",
                [choice(source) for _ in range(count)]
                if maybe(source, 0.98)
                else source.choice((None, {}, "x")),
            )
        )
    if maybe(source, 0.1):
        members.append(("usage", source.choice(USAGES)))
    if maybe(source, 0.03):
        members.append(("error", source.choice(ERRORS)))
    members += [source.choice(TOP) for _ in range(source.choice((0, 0, 1, 2)))]
    return write(source, shuffled(source, members))


def payloads(source: Random) -> list[tuple[str, str | None]]:
    """The payloads of a stream, each with its event name; then the marker, mostly."""
    found: list[tuple[str, str | None]] = [(chunk(source), None) for _ in range(source.randint(1, 7))]
    if maybe(source, 0.6):
        reason = write(source, source.choice(REASONS))
        found.append((f'{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{reason}}}]}}', None))
    return found
