"""Events and completions are values: immutable, picklable, equal by value across engines, readable."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from tests.cases import vectors
from tests.outcomes import COMPLETION_MEMBERS, plain, run
from tests.support import public

RICH = "openai-chat/to-message-calls"
SAMPLES = [
    *(RICH, "openai-chat/quirk-order", "openai-chat/error-with-all-members", "openai-chat/logprobs-append"),
    *("openai-chat/integers-are-exact", "anthropic-messages/server-tools-are-blocks"),
    *("openai-responses/other-items-are-blocks", "auto/unknown-gemini", "openai-chat/extra-of-the-response"),
]


def completions(engine: Any) -> list[Any]:
    return [run(engine, [vectors()[name].body]).completion for name in SAMPLES]


def values_of(engine: Any) -> list[Any]:
    """One of each of our values, with their parts."""
    outcome = run(engine, [vectors()["openai-chat/order-within-a-delta"].body])
    found = [*outcome.events, *completions(engine)]
    for completion in completions(engine):
        found += [*completion.choices, *completion.quirks, *completion.tool_calls]
    return found


def test_pickle_and_copy(engine: Any) -> None:
    for value in values_of(engine):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 (made here)
            assert again == value
            assert plain(again) == plain(value)
        assert copy.deepcopy(value) == value


def test_equality_across_engines(engines: tuple[Any, Any]) -> None:
    native, reference = (values_of(engine) for engine in engines)
    assert native == reference
    assert [plain(value) for value in native] == [plain(value) for value in reference]


def test_pickles_cross_between_engines(engines: tuple[Any, Any]) -> None:
    native, reference = (values_of(engine) for engine in engines)
    for left, right in zip(native, reference, strict=True):
        assert pickle.loads(pickle.dumps(left)) == right  # noqa: S301 (made here)
        assert pickle.loads(pickle.dumps(right)) == left  # noqa: S301 (made here)


def test_different_values_differ(engine: Any) -> None:
    found = completions(engine)
    for at, left in enumerate(found):
        for right in found[at + 1 :]:
            assert left != right
        assert left != object()
    event, other = public().TextDelta(0, "a"), public().ReasoningDelta(0, "a")
    assert event != other
    assert event == public().TextDelta(0, "a")
    assert event != public().TextDelta(1, "a")


def test_quirk_detail_does_not_count(engine: Any) -> None:
    quirk = run(engine, [vectors()["openai-chat/quirk-order"].body]).completion.quirks[0]
    other = type(quirk)(quirk.kind, quirk.count, quirk.frame, quirk.choice, quirk.call, "another detail")
    assert other == quirk
    assert hash(other) == hash(quirk)


def test_immutable(engine: Any) -> None:
    for value in values_of(engine):
        for name in (*COMPLETION_MEMBERS, "text", "arguments", "kind", "anything"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(value, name, None)


def test_match_and_repr() -> None:
    package = public()
    match package.ToolCallStart(0, 1, "c1", "f"):
        case package.ToolCallStart(choice, call, identity, name):
            assert (choice, call, identity, name) == (0, 1, "c1", "f")
        case _:
            pytest.fail("no match")
    for event in (package.TextDelta(0, "a\n"), package.Finish(0, "stop"), package.Usage({"total_tokens": 1})):
        assert type(event).__name__ in repr(event)
        assert not hasattr(event, "__dict__")
    assert "'a\\n'" in repr(package.TextDelta(0, "a\n"))


def test_snapshot(engine: Any) -> None:
    frames = [
        frame + b"\n\n" for frame in vectors()["openai-chat/start-waits-for-the-id"].body.split(b"\n\n")[:-1]
    ]
    assembler = engine.Assembler()
    empty = assembler.snapshot()
    assert (empty.end, len(empty.choices), empty.content, empty.error) == ("open", 0, None, None)
    assembler.feed(frames[0] + frames[1] + frames[2])
    early = assembler.snapshot()
    (call,) = early.tool_calls
    assert (call.id, call.id_source, call.status, call.executable) == ("", "none", "truncated", False)
    assert (call.arguments, early.content, early.end) == ('{"a"', "x", "open")
    assert call.partial() == {}
    assembler.feed(b"".join(frames[3:]))
    assert (early.tool_calls[0].arguments, early.content) == ('{"a"', "x"), "a snapshot stays what it was"
    late = assembler.close()
    assert assembler.snapshot() == late
    assert (late.end, late.tool_calls[0].id, late.tool_calls[0].executable) == ("done", "c1", True)


def test_convenience_members(engine: Any) -> None:
    found = run(engine, [vectors()[RICH].body]).completion
    first = found.choices[0]
    for name in ("content", "reasoning", "refusal", "tool_calls", "finish_reason"):
        assert getattr(found, name) == getattr(first, name)
    assert found.has_calls is True
    assert [call.id for call in found.executable_calls] == ["c1"]
    nothing = engine.assemble(b"")
    names = ("content", "reasoning", "refusal", "finish_reason", "usage", "id", "model", "created", "error")
    assert [getattr(nothing, name) for name in names] == [None] * len(names)
    assert (list(nothing.tool_calls), nothing.has_calls, list(nothing.executable_calls)) == ([], False, [])


def test_to_dict_and_to_json(engine: Any) -> None:
    for found in completions(engine):
        members = found.to_dict()
        assert set(COMPLETION_MEMBERS) <= set(members)
        assert json.loads(found.to_json()) == json.loads(json.dumps(members))
        assert isinstance(found.to_json(), bytes)
        for choice, given in zip(found.choices, members["choices"], strict=True):
            assert [call["arguments"] for call in given["tool_calls"]] == [
                x.arguments for x in choice.tool_calls
            ]
    failed = run(engine, [vectors()["openai-chat/error-with-all-members"].body]).completion.to_dict()["error"]
    assert (failed["class"], failed["kind"], failed["message"]) == ("ProviderError", "provider-error", "m")
    assert (failed["frame"], failed["type"], failed["code"], failed["status"]) == (1, "t", "c", 429)


def test_to_message_of_a_choice(engine: Any) -> None:
    choices = [{"index": index, "delta": {"content": text}} for index, text in ((0, "a"), (3, "b"))]
    found = engine.assemble(f"data: {json.dumps({'choices': choices})}\n\ndata: [DONE]\n\n".encode())
    assert (found.to_message()["content"], found.to_message(3)["content"]) == ("a", "b")
    assert found.to_message(choice=3) == found.to_message(3)


def test_wrong_type_names_the_member(engine: Any) -> None:
    """The detail of a quirk is for people: it says which member it was (P4)."""
    found = run(engine, [vectors()["openai-chat/wrong-type-refusal"].body]).completion
    (quirk,) = found.quirks
    assert "refusal" in quirk.detail


def test_message_of_responses_is_the_list_of_input_items(engine: Any) -> None:
    items = run(engine, [vectors()["openai-responses/other-items-are-blocks"].body]).completion.to_message()
    assert [item["type"] for item in items] == ["web_search_call", "function_call", "message"]
    call = items[1]
    assert (call["call_id"], call["name"], call["arguments"]) == ("c1", "f", '{"a":1}')
