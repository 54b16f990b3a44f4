"""An edit changes one member and no other byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltafold.harness import edit

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=4)


def written(value: Any, spaces: bool) -> bytes:  # noqa: FBT001 (drawn by hypothesis)
    separators = (" , ", " : ") if spaces else (",", ":")
    return json.dumps(value, separators=separators, ensure_ascii=False).encode()


@given(OBJECTS, VALUES, st.booleans(), st.data())
def test_replace_changes_that_member_alone(record: Any, fresh: Any, spaces: bool, data: Any) -> None:  # noqa: FBT001
    key = data.draw(st.sampled_from(sorted(record)))
    line = written(record, spaces)
    edited = edit.replace(line, (key,), fresh)
    found = edit.locate(line, (key,))
    assert json.loads(edited) == {**record, key: fresh}
    assert edited[: found.start] == line[: found.start]
    assert edited.endswith(line[found.end :])


@given(OBJECTS, VALUES, st.booleans())
def test_put_adds_at_the_end(record: Any, fresh: Any, spaces: bool) -> None:  # noqa: FBT001
    record.pop("new key", None)
    edited = edit.put(written(record, spaces), ("new key",), fresh)
    assert list(json.loads(edited).items()) == [*record.items(), ("new key", fresh)]


@given(OBJECTS, st.booleans(), st.data())
def test_remove_takes_one_member_out(record: Any, spaces: bool, data: Any) -> None:  # noqa: FBT001
    key = data.draw(st.sampled_from(sorted(record)))
    edited = edit.remove(written(record, spaces), (key,))
    assert json.loads(edited) == {other: value for other, value in record.items() if other != key}


@given(st.lists(VALUES, min_size=1, max_size=5), st.data())
def test_elements_of_arrays(items: Any, data: Any) -> None:
    at = data.draw(st.integers(0, len(items) - 1))
    line = written({"a": items}, spaces=True)
    rest = items[:at] + items[at + 1 :]
    assert json.loads(edit.remove(line, ("a", at))) == {"a": rest}
    kept = data.draw(st.lists(st.integers(0, len(items) - 1), unique=True))
    assert json.loads(edit.keep_members(line, ("a",), kept)) == {"a": [items[place] for place in kept]}


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    line = b'{"a":1,"b":2,"a":3}'
    assert edit.replace(line, ("a",), 9) == b'{"a":1,"b":2,"a":9}'
    assert edit.remove(line, ("a",)) == b'{"b":2}'


def test_ill_formed_text_around_a_member_stays() -> None:
    line = b'{"x":"\xff\xfe","id":"","y":"\\ud83d"}'
    assert edit.put(line, ("id",), "a") == b'{"x":"\xff\xfe","id":"a","y":"\\ud83d"}'


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(edit.EditError):
        edit.replace(b'{"a":1}', ("b", "c"), 1)
    with pytest.raises(edit.EditError):
        edit.put(b'{"a":[1]}', ("a", 4), 1)


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ud83d \ude00"', rb'"\ufffd \ufffd"'),
        (rb'"\uD83D\u0041"', rb'"\ufffd\u0041"'),
    ],
)
def test_lone_surrogates(line: bytes, mended: bytes) -> None:
    assert edit.replace_lone_surrogates(line) == mended
    assert not edit.lone_surrogates(mended)
