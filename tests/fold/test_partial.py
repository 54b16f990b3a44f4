"""Arguments shown while they stream (A7): read once in all, never offered as finished."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltafold
from benches.shapes import Gateway, arguments_in_fragments
from deltafold.reference.partial import PartialReader, certain_value

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@settings(deadline=None)
@given(VALUES, st.booleans(), st.integers(0, 1000), st.text('{}[],:"\\u1e- ', max_size=2))
def test_reading_on_gives_what_reading_anew_gives(
    value: Any,
    ascii_only: bool,  # noqa: FBT001 (hypothesis gives it by place)
    place: int,
    inserted: str,
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    place %= len(text) + 1
    text = text[:place] + inserted + text[place:]
    reader = PartialReader()
    given_before: list[tuple[Any, str]] = []
    for end in range(len(text) + 1):
        read = reader.read(text[:end])
        assert repr(read) == repr(certain_value(text[:end]))
        given_before.append((read, repr(read)))
    assert all(repr(read) == text_of_it for read, text_of_it in given_before), "an answer changed later"
    assert reader.scanned <= 2 * len(text) + 8


@settings(deadline=None)
@given(VALUES)
def test_a_whole_text_is_its_value(value: Any) -> None:
    text = json.dumps([value])
    assert certain_value(text) == [value]


@pytest.mark.parametrize("name", ["native", "reference"])
def test_a_call_shown_at_each_fragment_is_read_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = deltafold if name == "native" else deltafold.reference
    readers: list[PartialReader] = []

    class Counted(PartialReader):
        def __init__(self) -> None:
            super().__init__()
            readers.append(self)

    monkeypatch.setattr("deltafold.reference.partial.PartialReader", Counted)
    gateway = Gateway(11)
    pieces = arguments_in_fragments(gateway.random, 400, 30)
    assembler = engine.Assembler()
    assembler.feed(gateway.call_start(0, "write_file"))
    shown: Any = None
    for piece in pieces:
        assembler.feed(gateway.call_delta(0, piece))
        shown = assembler.snapshot().tool_calls[0].partial()
    assert shown == json.loads("".join(pieces))
    assert sum(reader.scanned for reader in readers) <= 2 * len("".join(pieces)) + 8


def test_streams_that_take_turns_do_not_mix() -> None:
    texts = [json.dumps({"path": f"{number}", "lines": ["x"] * 40}) for number in range(100)]
    calls = [(0, 0, f"call_{number}") for number in range(100)]
    from deltafold._arguments import partial  # noqa: PLC0415

    for end in range(0, 200, 9):
        for text, call in zip(texts, calls, strict=True):
            assert partial(text[:end], *call) == certain_value(text[:end])


def test_jiters_partial_mode_says_the_same_but_for_numbers_that_may_go_on() -> None:
    jiter = pytest.importorskip("jiter", reason="jiter is not installed (dependency group adapters)")
    text = json.dumps({"a": "x\ny🦀", "b": [True, None, {"c": "d"}], "e": {}, "f": "1"}, ensure_ascii=True)
    for end in range(1, len(text) + 1):
        theirs = jiter.from_json(text[:end].encode(), partial_mode="trailing-strings")
        assert certain_value(text[:end]) == theirs, text[:end]
    assert jiter.from_json(b'{"a": 12', partial_mode="trailing-strings") == {"a": 12}
    assert certain_value('{"a": 12') == {}, "123 may follow"
