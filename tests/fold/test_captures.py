"""Every recorded stream folds without an unexpected error, as `expected/` says, at every cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.outcomes import Outcome, run
from tests.recordings import expected_of, index, network_sizes, recordings
from tests.support import FIXED_SEED, RANDOM_SEED, even_sizes, pieces, random_sizes

if TYPE_CHECKING:
    from pathlib import Path

CHAT = recordings("openai-chat")
ANTHROPIC = recordings("anthropic-messages")
RESPONSES = recordings("openai-responses")

HAS_AN_ERROR = {"error frame"}
"""What `index.jsonl` notes of recordings that hold an error; in every other one an error is unexpected."""
ERROR_LINE = "gpustack-qwen3-chat-with-extended-thinking-gpustack-qwen3-s"
"""Ends with a line `error: {json}` (S4), which the index does not note."""
USAGE_AFTER_THE_ERROR = "openrouter-gemini-2-5-flash-lite-google-object-streaming"
"""Its usage comes in a chunk behind the error: nothing more is folded (P7); `expected/` gives it."""


def fold(engine: Any, path: Path) -> Outcome:
    """The recording folded whole; the same must come of it at every other cut, and on its named wire."""
    body = path.read_bytes()
    whole = run(engine, [body])
    assert whole.completion.wire == path.parent.name
    if whole.error is not None:
        assert may_have_an_error(path), f"unexpected: {whole.error!r}"
        assert type(whole.error).__name__ == "ProviderError"
    sizes = {"64 bytes": even_sizes(64), "fixed": random_sizes((FIXED_SEED, path.stem), 200)}
    sizes[f"DELTAFOLD_SEED={RANDOM_SEED}"] = random_sizes((RANDOM_SEED, path.stem), 200)
    network = network_sizes(path)
    if network:
        sizes["network"] = iter(network)
    for name, cut in sizes.items():
        assert run(engine, pieces(body, cut)).plain() == whole.plain(), f"at the cut {name!r}"
    assert run(engine, [body], wire=path.parent.name).plain() == whole.plain()
    return whole


def may_have_an_error(path: Path) -> bool:
    wanted = expected_of(path) or {}
    notable = index()[f"{path.parent.name}/{path.name}"].get("notable", [])
    return path.stem == ERROR_LINE or "error" in wanted or bool(HAS_AN_ERROR.intersection(notable))


def synthetic(position: int, wanted: str | None) -> str:
    """An id that never came is null in `expected/`; the fold gives the synthetic one (I10)."""
    return f"call-{position}" if wanted is None else wanted


@pytest.mark.parametrize("path", CHAT)
def test_openai_chat(engine: Any, path: Path) -> None:
    outcome = fold(engine, path)
    wanted = expected_of(path)
    if wanted is None:
        return
    found = outcome.completion
    usage = None if path.stem == USAGE_AFTER_THE_ERROR else wanted["usage"]
    assert (found.id, found.model, found.usage) == (wanted["id"], wanted["model"], usage)
    assert {str(choice.index): choice.finish_reason for choice in found.choices} == wanted["finish_reason"]
    assert [choice_as_expected(choice) for choice in found.choices] == [
        choice_as_given(choice) for choice in wanted["choices"]
    ]
    if outcome.error is None:
        assert (found.end == "done") == wanted["done"]
    check_error(outcome, wanted)


def choice_as_expected(choice: Any) -> dict[str, Any]:
    calls = [(call.id, call.name, call.arguments) for call in choice.tool_calls]
    names = ("index", "content", "reasoning", "finish_reason")
    return {"calls": calls, **{name: getattr(choice, name) for name in names}}


def choice_as_given(choice: dict[str, Any]) -> dict[str, Any]:
    given = [(call["id"], call["name"], call["arguments"]) for call in choice["tool_calls"]]
    calls = [(synthetic(at, identity), *rest) for at, (identity, *rest) in enumerate(given)]
    texts = {name: choice[name] or None for name in ("content", "reasoning")}
    return {"calls": calls, "index": choice["index"], "finish_reason": choice["finish_reason"], **texts}


def check_error(outcome: Outcome, wanted: dict[str, Any]) -> None:
    if "error" not in wanted:
        assert outcome.error is None
        return
    given = wanted["error"][0] if isinstance(wanted["error"], list) else wanted["error"]
    for name in ("message", "type", "code"):
        if name in given:
            assert getattr(outcome.error, name) == given[name]


@pytest.mark.parametrize("path", ANTHROPIC)
def test_anthropic_messages(engine: Any, path: Path) -> None:
    outcome = fold(engine, path)
    wanted = expected_of(path)
    if wanted is None:
        return
    found = outcome.completion
    assert (found.id, found.model, found.finish_reason) == (
        wanted["id"],
        wanted["model"],
        wanted["stop_reason"],
    )
    assert (found.content or "", found.reasoning or "") == (wanted["text"], wanted["thinking"])
    assert (found.end == "done") == wanted["done"]
    assert {name: value for name, value in found.usage.items() if value is not None} == {
        name: value for name, value in wanted["usage"].items() if value is not None
    }
    calls = [call for call in wanted["tool_calls"] if call["type"] == "tool_use"]
    assert [(call.index, call.id, call.name, call.arguments) for call in found.tool_calls] == [
        (call["index"], call["id"], call["name"], call["arguments"]) for call in calls
    ]
    check_blocks(found.blocks, wanted["content"])


def check_blocks(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    """Every member that is given of a block is there; its index stays on the wire."""
    assert [block["type"] for block in found] == [block["type"] for block in wanted]
    for block, given in zip(found, wanted, strict=True):
        members = {name: value for name, value in given.items() if name != "index"}
        assert {name: block.get(name) for name in members} == members


@pytest.mark.parametrize("path", RESPONSES)
def test_openai_responses(engine: Any, path: Path) -> None:
    outcome = fold(engine, path)
    wanted = expected_of(path)
    if wanted is None:
        return
    found = outcome.completion
    assert (found.id, found.model) == (wanted["id"], wanted["model"])
    assert (found.content or "", found.reasoning or "") == (wanted["text"], wanted["reasoning"])
    assert [(call.item_id, call.id, call.name, call.arguments) for call in found.tool_calls] == [
        (call["item_id"], call["call_id"], call["name"], call["arguments"]) for call in wanted["tool_calls"]
    ]
    if "error" in wanted:
        check_error(outcome, wanted)
        return
    reason = (wanted["incomplete_details"] or {}).get("reason") or wanted["status"]
    assert (found.finish_reason, found.usage) == (reason, wanted["usage"])
    assert (found.end == "done") == wanted["done"]
    items = [item for item in wanted["output"] if item["type"] not in ("function_call", "custom_tool_call")]
    names = ("type", "id", "status")
    assert [tuple(block.get(name) for name in names) for block in found.blocks] == [
        tuple(item.get(name) for name in names) for item in items
    ]


@pytest.mark.parametrize("path", [*CHAT, *ANTHROPIC, *RESPONSES])
def test_both_engines_agree(engines: tuple[Any, Any], path: Path) -> None:
    native, reference = (run(engine, [path.read_bytes()]) for engine in engines)
    assert native.plain() == reference.plain()
    assert native.completion == reference.completion
