"""Status and recovery of arguments against slow oracles: the json module and a search (A4, A6, A7)."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from tests.outcomes import run
from tests.support import FIXED_SEED, RANDOM_SEED, public

SEEDS = (FIXED_SEED, RANDOM_SEED)
VALUES = (
    "1",
    "-0",
    "1.5e3",
    '"x"',
    '"\\u00e9"',
    '"\\ud83d\\ude00"',
    "true",
    "null",
    "{}",
    "[]",
    '"\\\\"',
    '"}{"',
)


def fold_arguments(engine: Any, texts: list[str]) -> tuple[list[Any], set[str]]:
    """One finished call for each text, each split in two fragments; and the kinds of quirks."""
    entries = []
    for index, text in enumerate(texts):
        half = len(text) // 2
        function = {"name": "f", "arguments": text[:half]}
        entries.append({"index": index, "id": f"c{index}", "function": function})
        entries.append({"index": index, "function": {"arguments": text[half:]}})
    chunk = json.dumps({"choices": [{"delta": {"tool_calls": entries}, "finish_reason": "tool_calls"}]})
    limits = public().Limits(calls=len(texts) + 1)
    outcome = run(engine, [f"data: {chunk}\n\ndata: [DONE]\n\n".encode()], limits=limits)
    assert outcome.error is None
    return list(outcome.completion.tool_calls), {quirk.kind for quirk in outcome.completion.quirks}


def refuse(token: str) -> None:
    raise ValueError(token)


def strict(text: str) -> Any:
    """The value of a JSON text that may be parsed; ValueError otherwise (A4)."""
    value = json.loads(text, parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    numbers = [token for token in numbers_in(value) if isinstance(token, float)]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(text)
    return value


def numbers_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [number for member in value.values() for number in numbers_in(member)]
    if isinstance(value, list):
        return [number for member in value for number in numbers_in(member)]
    return [value]


def json_text(source: random.Random, depth: int = 0) -> str:
    """A JSON text of any kind, with white space."""
    space = source.choice(("", "", " ", "\n"))
    if depth > 2 or source.random() < 0.3:
        return source.choice(VALUES)
    if source.random() < 0.6:
        members = [f'{space}"k{at}":{json_text(source, depth + 1)}' for at in range(source.randint(0, 3))]
        return "{" + ",".join(members) + space + "}"
    return "[" + ",".join(json_text(source, depth + 1) for _ in range(source.randint(0, 3))) + space + "]"


def status_of_prefix(text: str) -> str:
    """The status of a prefix of a JSON text: it can only be whole or a proper prefix."""
    try:
        return "complete" if isinstance(strict(text), dict) else "invalid"
    except ValueError:
        return "truncated" if text else "complete"


@pytest.mark.parametrize("seed", SEEDS)
def test_every_prefix_of_a_json_text(engine: Any, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(15):
        text = json_text(source) + " "
        prefixes = [text[:size] for size in range(len(text) + 1)]
        calls, _ = fold_arguments(engine, prefixes)
        for call, prefix in zip(calls, prefixes, strict=True):
            assert (call.arguments, call.status) == (prefix, status_of_prefix(prefix)), seed


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_json_texts(engine: Any, seed: int) -> None:
    """`complete` means exactly that `parse()` gives a dict, the one that the json module gives."""
    source = random.Random(seed)
    texts = []
    for _ in range(1500):
        text = json_text(source)
        at = source.randrange(len(text) + 1)
        new = source.choice(('"', "{", "}", ",", "0", "e", "\\", " ", "\x01", "é", "\\ud83d", "N", ""))
        texts.append(text[:at] + new + text[at + source.randint(0, 1) :])
    calls, _ = fold_arguments(engine, texts)
    for call, text in zip(calls, texts, strict=True):
        try:
            value = strict(text)
        except ValueError:
            assert call.status in ("truncated", "invalid") or not text, (seed, text)
        else:
            assert call.status == ("complete" if isinstance(value, dict) else "invalid"), (seed, text)
            if call.status == "complete":
                assert call.parse() == value, (seed, text)


def is_run_of_prefixes(text: str, whole: str) -> bool:
    """Whether the text is non-empty prefixes of `whole` one after the other."""
    reached = {0}
    for at in range(len(text)):
        if at in reached:
            size = 0
            while size < len(whole) and text[at : at + size + 1] == whole[: size + 1]:
                size += 1
                reached.add(at + size)
    return len(text) in reached


def recovered_by_search(text: str) -> str | None:
    """A6 by trying every proper suffix that begins at a brace, the longest first."""
    for at in range(1, len(text)):
        suffix = text[at:]
        if suffix[0] != "{":
            continue
        try:
            value = strict(suffix)
        except ValueError:
            continue
        if isinstance(value, dict) and is_run_of_prefixes(text[:at], suffix):
            return suffix
    return None


def repeated_text(source: random.Random) -> str:
    """Prefixes of one object and the object, one of them wrong now and then."""
    whole = source.choice(
        (
            '{"a":1}',
            "{}",
            '{"a":{"a":1}}',
            '{"a":"{\\"a\\":1}"}',
            '{"{":"}"}',
            '{"a":[{}]}',
            ' {"a":1}',
            "{}\n",
        )
    )
    pieces = [whole[: source.randint(1, len(whole))] for _ in range(source.randint(0, 3))]
    if source.random() < 0.3:
        pieces.append(source.choice(("{}", "x", "{", '{"b":2}', " ")))
    return "".join([*pieces, whole, *([source.choice((" ", "}", "{}"))] if source.random() < 0.15 else [])])


@pytest.mark.parametrize("seed", SEEDS)
def test_recovered_against_a_search(engine: Any, seed: int) -> None:
    source = random.Random(seed)
    texts = [repeated_text(source) for _ in range(1500)]
    calls, quirks = fold_arguments(engine, texts)
    assert "arguments-repeated" in quirks
    for call, text in zip(calls, texts, strict=True):
        wanted = text if call.status == "complete" else recovered_by_search(text)
        assert call.recovered() == wanted, (seed, text)
