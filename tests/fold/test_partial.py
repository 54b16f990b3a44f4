"""Arguments shown while they stream (A7): read once in all, never offered as finished."""

from __future__ import annotations

import gc
import itertools
import json
import pickle
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benches.shapes import Gateway, arguments_in_fragments
from deltafold.reference.partial import PartialReader, certain_value
from tests.cases import vectors
from tests.support import VECTORS, engine_of

if TYPE_CHECKING:
    import random

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


CASES = json.loads((VECTORS / "partial.json").read_bytes())


class Shown:
    """A call that is shown at each of its fragments, cut anywhere."""

    def __init__(self, engine: Any) -> None:
        self.assembler = engine.Assembler()
        self.gateway = Gateway(11)
        self.assembler.feed(self.gateway.call_start(0, "write_file"))
        self.text = ""

    def more(self, piece: str) -> Any:
        """The call after one more fragment."""
        self.text += piece
        if piece:
            self.assembler.feed(self.gateway.call_delta(0, piece))
        (call,) = self.assembler.snapshot().tool_calls
        assert call.arguments == self.text
        return call


def by_hand(engine: Any, arguments: str) -> Any:
    """A call that no stream brought."""
    return engine.ToolCall(0, 0, 0, "c", "f", arguments, "function", "wire", "truncated", executable=False)


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_what_is_certain_at_each_fragment(engine: Any, case: dict[str, Any]) -> None:
    shown = Shown(engine)
    for text, value in case["reads"]:
        call = shown.more(text[len(shown.text) :])
        for made in (call, pickle.loads(pickle.dumps(call)), by_hand(engine, text)):  # noqa: S301 (ours)
            assert repr(made.partial()) == repr(value), text
            assert repr(made.partial()) == repr(value), "asked again"
    assert repr(shown.assembler.close().tool_calls[0].partial()) == repr(value)


@settings(deadline=None)
@given(VALUES, st.booleans(), st.integers(0, 1000), st.text('{}[],:"\\u1de8- ', max_size=7), st.randoms())
def test_both_engines_say_the_same_at_each_fragment(
    value: Any,
    ascii_only: bool,  # noqa: FBT001 (hypothesis gives it by place)
    place: int,
    inserted: str,
    source: random.Random,
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    place %= len(text) + 1
    text = text[:place] + inserted + text[place:]
    shown = Shown(engine_of("native"))
    answers: list[tuple[Any, str]] = []
    while len(shown.text) < len(text):
        start = len(shown.text)
        answer = shown.more(text[start : start + source.choice((1, 1, 2, 7, 40))]).partial()
        answers.append((answer, repr(answer)))
        assert repr(answer) == repr(certain_value(shown.text)), shown.text
    assert all(repr(answer) == before for answer, before in answers), "an answer changed later"
    shown_bytes = shown.assembler._counters()["bytes_shown"]
    assert shown_bytes <= 2 * len(text.encode()) + 8


class Scans:
    """What was looked at so far to show calls: bytes by the native engine, characters by the reference."""

    def __init__(self, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_native = engine is engine_of("native")
        self.readers: list[PartialReader] = []
        readers = self.readers

        class Counted(PartialReader):
            def __init__(self) -> None:
                super().__init__()
                readers.append(self)

        monkeypatch.setattr("deltafold.reference.partial.PartialReader", Counted)

    def count(self, assembler: Any) -> int:
        if self.is_native:
            return int(assembler._counters()["bytes_shown"])
        return sum(reader.scanned for reader in self.readers)


def test_a_call_shown_at_each_fragment_is_read_once(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scans = Scans(engine, monkeypatch)
    shown = Shown(engine)
    pieces = arguments_in_fragments(shown.gateway.random, 400, 30)
    for piece in pieces:
        value = shown.more(piece).partial()
    assert value == json.loads(shown.text)
    assert len(shown.text) <= scans.count(shown.assembler) <= 2 * len(shown.text.encode()) + 8


def test_calls_that_are_whole_are_not_read_again_while_others_come(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = Scans(engine, monkeypatch)
    gateway = Gateway(12)
    texts = ["".join(arguments_in_fragments(gateway.random, 20, 30)), '["not', '{"a":1}x', ""]
    last = arguments_in_fragments(gateway.random, 50, 3)
    assembler = engine.Assembler()
    for index, text in enumerate(texts):
        assembler.feed(gateway.call_start(index, "write_file") + gateway.call_delta(index, text))
    assembler.feed(gateway.call_start(len(texts), "write_file"))
    for piece in last:
        assembler.feed(gateway.call_delta(len(texts), piece))
        values = [call.partial() for call in assembler.snapshot().tool_calls]
    texts.append("".join(last))
    assert values == [certain_value(text) for text in texts]
    assert scans.count(assembler) <= 2 * len("".join(texts).encode()) + 8 * (len(texts) + len(texts))


def test_what_is_done_to_an_answer_is_not_in_the_next(engine: Any) -> None:
    shown = Shown(engine)
    pieces = ['{"a": [1, ', '2, "x', 'y", {"b": "c', '"}', "]", "}", " "]
    for piece in pieces:
        call = shown.more(piece)
        answer = call.partial()
        answer["z"] = 1
        if isinstance(answer.get("a"), list) and not shown.text.count("]"):
            answer["a"].clear()
        assert call.partial() == certain_value(shown.text)


def test_an_earlier_snapshot_is_shown_as_it_was(engine: Any) -> None:
    shown = Shown(engine)
    early, later, last = (shown.more(piece) for piece in ('{"a": "b', 'c", "d": [', "1]}"))
    for _ in range(2):
        assert last.partial() == {"a": "bc", "d": [1]}
        assert early.partial() == {"a": "b"}
        assert later.partial() == {"a": "bc", "d": []}


@pytest.mark.parametrize(
    "name",
    [
        "anthropic-messages/start-input-and-deltas",
        "openai-responses/background-resume",
        "openai-responses/item-added-and-deltas",
        "openai-responses/snapshot-differs",
    ],
)
def test_arguments_that_do_not_stand_are_shown_no_more(engine: Any, name: str) -> None:
    assembler = engine.Assembler()
    texts = [""]
    for frame in vectors()[name].body.split(b"\n\n"):
        assembler.feed(frame + b"\n\n")
        for call in assembler.snapshot().tool_calls:
            assert call.partial() == certain_value(call.arguments)
            texts.append(call.arguments)
    assert any(not text.startswith(before) for before, text in itertools.pairwise(texts))


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_of_any_depth(engine: Any, opening: str) -> None:
    depth = 50_000
    value = by_hand(engine, opening * depth).partial()
    for _ in range(depth - 1):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value == ([] if opening == "[" else {})


def test_showing_a_call_while_it_is_shown(engine: Any) -> None:
    """Making values may run the garbage collector, and that anything."""
    shown = Shown(engine)
    calls = [shown.more(piece) for piece in ['{"a": [', "{},[]," * 2000, "1]}"]]
    wanted = [certain_value(call.arguments) for call in calls]
    running = False
    found: list[Any] = []

    def collected(phase: str, _: dict[str, int]) -> None:
        nonlocal running
        if phase == "start" and not running:
            running = True
            found.append([call.partial() for call in calls])
            running = False

    threshold = gc.get_threshold()
    gc.set_threshold(50)
    gc.callbacks.append(collected)
    try:
        own = [call.partial() for call in calls]
    finally:
        gc.callbacks.remove(collected)
        gc.set_threshold(*threshold)
    assert own == wanted
    assert found
    assert all(values == wanted for values in found)


def test_threads_that_show_the_same_call(engine: Any) -> None:
    shown = Shown(engine)
    calls = [shown.more(piece) for piece in arguments_in_fragments(shown.gateway.random, 60, 12)]
    wanted = [certain_value(call.arguments) for call in calls]
    found: list[list[Any]] = []

    def show() -> None:
        found.append([call.partial() for call in calls])

    threads = [threading.Thread(target=show) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 8


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
