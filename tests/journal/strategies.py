"""Event sequences for the property tests: plausible sessions, and what mutation makes of them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.journal import forge

IDS = st.sampled_from(["call_1", "call_2", "a", "", "\ud800"])
NAMES = st.sampled_from(["look_up", "other", ""])
ARGUMENTS = st.sampled_from(
    ['{"q":"tea"}', "{}", "", '{"a":', "[]", "{}{}", '{"a":NaN}', '{"a":1e999}', " {} "]
)
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "\ud800", "\x00", "\u2028", '"crc":"', '{"seq":1'])
)
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**20, -(10**40), 2**63, 1.5, -0.0, 1e300, float("nan"), float("inf")]),
    TEXTS,
    st.lists(st.integers(0, 1), max_size=2),
    st.dictionaries(st.sampled_from(["role", "id", "type", "x", "ignorable"]), TEXTS, max_size=2),
)
CALLS = st.builds(forge.call, IDS, NAMES, ARGUMENTS)
ENTRIES: st.SearchStrategy[tuple[Any, Any]] = st.one_of(
    st.builds(forge.turn, st.integers(0, 2)),
    st.builds(forge.end, st.integers(0, 2)),
    st.builds(forge.user, TEXTS),
    st.builds(
        lambda calls, text, reason: forge.assistant(*calls, text=text, finish_reason=reason),
        st.lists(CALLS, max_size=3),
        st.none() | TEXTS,
        st.sampled_from(["tool_calls", "stop", "length", None]),
    ),
    st.builds(forge.started, IDS, NAMES, ARGUMENTS),
    st.builds(forge.result, IDS),
    st.just(forge.CLOSE),
    st.tuples(st.sampled_from(["session/repair", "note/x", "session/x", "user/message"]), JUNK),
    st.tuples(JUNK, JUNK),
)

GOOD_CALLS = st.builds(
    forge.call,
    st.sampled_from(["call_1", "call_2", "call_3"]),
    st.just("look_up"),
    st.sampled_from(['{"q":"tea"}', ""]),
)


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """A healthy session, drawn step by step."""
    entries: list[tuple[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        entries += [forge.turn(number), forge.user(draw(st.sampled_from(["x", "äöü \U0001f375", "y" * 40])))]
        for _ in range(draw(st.integers(0, 2))):
            calls = draw(st.lists(GOOD_CALLS, min_size=1, max_size=3, unique_by=lambda call: call["id"]))
            entries.append(forge.assistant(*calls))
            for call in draw(st.permutations(calls)):
                if draw(st.booleans()):
                    arguments = call["function"]["arguments"]
                    entries.append(forge.started(call["id"], "look_up", arguments))
                entries.append(forge.result(call["id"], draw(st.sampled_from(["", "done", "x" * 100]))))
        entries += [forge.assistant(text="so"), forge.end(number)]
        if draw(st.booleans()):
            entries.append(forge.CLOSE)
    return entries


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all members inside a value."""
    found = [path] if path else []
    if isinstance(value, dict):
        for name, member in value.items():
            found += places(member, (*path, name))
    elif isinstance(value, list):
        for position, member in enumerate(value):
            found += places(member, (*path, position))
    return found


@st.composite
def mutated(draw: st.DrawFn) -> list[tuple[Any, Any]]:
    """A healthy session with a few wounds: members changed or lost, records dropped, repeated, swapped, put
    in."""
    entries: list[tuple[Any, Any]] = copy.deepcopy(draw(sessions()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(entries) - 1))
        match draw(st.sampled_from(["change", "change", "lose", "drop", "repeat", "swap", "insert", "type"])):
            case "change" | "lose" as deed:
                paths = places(entries[at][1])
                if paths:
                    wound(draw, entries[at][1], draw(st.sampled_from(paths)), lose=deed == "lose")
            case "drop" if len(entries) > 1:
                del entries[at]
            case "repeat":
                entries.insert(at, copy.deepcopy(entries[at]))
            case "swap":
                other = draw(st.integers(0, len(entries) - 1))
                entries[at], entries[other] = entries[other], entries[at]
            case "insert":
                entries.insert(at, draw(ENTRIES))
            case _:
                entries[at] = (draw(st.one_of(JUNK, st.just("session/start"))), entries[at][1])
    return entries


def wound(draw: st.DrawFn, data: Any, path: tuple[Any, ...], *, lose: bool) -> None:
    for step in path[:-1]:
        data = data[step]
    if lose:
        del data[path[-1]]
    else:
        data[path[-1]] = draw(JUNK)
