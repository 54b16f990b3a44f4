"""`Policy.harness()` gives the calls that the translator of DeepSeek Harness 0.1.5 gives (I12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.outcomes import run
from tests.support import VECTORS, public

CASES = {
    case["name"]: case for case in json.loads((VECTORS / "harness-translate.json").read_bytes())["cases"]
}

DEVIATIONS = {
    "missing-index": "I6b: an id with a name opens a call of its own; there both land in one",
    "string-index": "I2: a numeric string is the index that it spells; there it opens a block of its own",
    "arguments-object": "A2: an object is appended as its source text; there it becomes [object Object]",
}
"""Where the fold differs on purpose, with the rule that it follows."""

FOLDED_TO = {
    "missing-index": [("a", "one", "{}"), ("b", "two", '{"x":1}')],
    "string-index": [("a", "one", "{}")],
    "arguments-object": [("c", "f", "{}")],
}


def body_of(case: dict[str, Any]) -> bytes:
    payloads = [item if isinstance(item, str) else json.dumps(item) for item in case["input"]]
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()


def calls_of_translator(case: dict[str, Any]) -> list[tuple[str, str, str]]:
    blocks = [chunk["block"] for chunk in case["harness"]["chunks"] if chunk["type"] == "block-end"]
    return [
        (block["id"], block["name"], block["arguments"]) for block in blocks if block["type"] == "tool-call"
    ]


@pytest.mark.parametrize("name", CASES)
def test_harness_translator(engine: Any, name: str) -> None:
    outcome = run(engine, [body_of(CASES[name])], wire="openai-chat", policy=public().Policy.harness())
    calls = [(call.id, call.name, call.arguments) for call in outcome.completion.tool_calls]
    if name in DEVIATIONS:
        assert calls != calls_of_translator(CASES[name]), "no longer a deviation: take it off the list"
    else:
        assert calls == calls_of_translator(CASES[name])


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviation(engine: Any, name: str) -> None:
    outcome = run(engine, [body_of(CASES[name])], wire="openai-chat", policy=public().Policy.harness())
    calls = [(call.id, call.name) for call in outcome.completion.tool_calls]
    assert calls == [(identity, tool) for identity, tool, _ in FOLDED_TO[name]]
