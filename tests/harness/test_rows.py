"""Packed rows: what is packed comes back, and only an exact shape is expanded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltafold.harness import rows

DELTAS = st.lists(
    st.tuples(
        st.sampled_from(["text-delta", "reasoning-delta", "tool-call-delta", "usage"]),
        st.integers(0, 1),
        st.sampled_from(["", "a", None]),
        st.integers(-3, 3),
    ),
    max_size=12,
)


def event(seq: int, time: int, chunk: Any) -> Any:
    return {
        "type": "assistant/chunk",
        "seq": seq,
        "time": time,
        "data": {"turn": 1, "step": 1, "chunk": chunk},
    }


@given(DELTAS)
def test_pack_and_expand_is_nothing(deltas: Any) -> None:
    events, time = [], 100
    for seq, (kind, index, identity, gap) in enumerate(deltas):
        time += gap
        chunk: dict[str, Any] = {"type": kind, "index": index}
        if kind == "tool-call-delta":
            chunk["id"] = identity or ""
            if identity is not None:
                chunk["name"] = identity
            chunk["argumentsDelta"] = "x"
        elif kind != "usage":
            chunk["text"] = "t"
        events.append(event(seq, time, chunk))
    packed = rows.pack_events(list(events))
    assert [member for row in packed for member in rows.decode_record(row)] == events
    assert all(rows.row_tag(row) is None or len(rows.decode_record(row)) >= 3 for row in packed)


GOOD: dict[str, Any] = {
    "type": "tool-call-chunks",
    "seq0": 9,
    "time0": 100,
    "data": {"turn": 1, "step": 1, "index": 0, "dt": [0, 1], "id": "", "name": "", "args": ["a", "b", "c"]},
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"extra": 1}, "envelope must be exactly"),
        ({"seq0": -1}, "seq0 must be a non-negative safe integer"),
        ({"time0": 1.5}, "time0 must be a safe integer"),
        ({"data": []}, "data must be an object"),
        ({"data": {**GOOD["data"], "extra": 1}}, "data must be exactly"),
        ({"data": {**GOOD["data"], "id": None}}, "must be strings"),
        ({"data": {**GOOD["data"], "name": None}}, "must be strings"),
        ({"data": {**GOOD["data"], "turn": "1"}}, "turn/step/index must be numbers"),
        ({"data": {**GOOD["data"], "args": []}}, "args must be a non-empty string array"),
        ({"data": {**GOOD["data"], "args": ["a", 1, "c"]}}, "args must be a non-empty string array"),
        ({"data": {**GOOD["data"], "dt": [0.5, 1]}}, "dt must be an array of safe integers"),
        ({"data": {**GOOD["data"], "dt": [0]}}, "dt length 1 does not match 3 members"),
        ({"seq0": 2**53 - 2}, "member seqs must stay safe integers"),
        ({"time0": 2**53 - 1}, "member times must stay safe integers"),
    ],
)
def test_malformed_rows(change: Any, words: str) -> None:
    with pytest.raises(rows.MalformedRowError, match=words):
        rows.decode_record({**GOOD, **change})


def test_an_empty_id_is_a_good_row() -> None:
    first = rows.decode_record(GOOD)[0]
    assert first == event(
        9, 100, {"type": "tool-call-delta", "index": 0, "id": "", "name": "", "argumentsDelta": "a"}
    )


def test_any_other_value_passes_as_it_is() -> None:
    for value in (None, 5, [], "x", {"type": "text"}, {"type": ["text-chunks"]}):
        assert rows.decode_record(value) == [value]
