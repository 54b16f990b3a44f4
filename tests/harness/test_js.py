"""JavaScript's own operations, where Python's differ."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltafold.harness import js

NUMBERS = [
    ("0", "0"),
    ("-0", "0"),
    ("1.0", "1"),
    ("1e3", "1000"),
    ("1.5", "1.5"),
    ("-2.50", "-2.5"),
    ("123456789012345680000", "123456789012345680000"),
    ("1e21", "1e+21"),
    ("1.25e21", "1.25e+21"),
    ("1e-6", "0.000001"),
    ("1e-7", "1e-7"),
    ("0.00000123", "0.00000123"),
    ("1.5e-10", "1.5e-10"),
    ("9007199254740993", "9007199254740992"),
    ("1e400", "Infinity"),
    ("-1e400", "-Infinity"),
    ("5e-324", "5e-324"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("0.1", "0.1"),
    ("100.25", "100.25"),
]


@pytest.mark.parametrize(("literal", "written"), NUMBERS)
def test_numbers_are_read_and_written_as_javascript_does(literal: str, written: str) -> None:
    assert js.to_text(js.parse(literal)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (js.UNDEFINED, "undefined"),
        (True, "true"),
        ("x", "x"),
        ({}, "[object Object]"),
        ([], ""),
        ([1, [2, None], "a"], "1,2,,a"),
        ([None], ""),
        ([{}], "[object Object]"),
    ],
)
def test_template_strings(value: Any, written: str) -> None:
    assert js.to_text(value) == written


def test_an_object_with_a_to_string_of_its_own_cannot_be_written() -> None:
    with pytest.raises(js.NotPrimitiveError, match="Cannot convert object to primitive value"):
        js.to_text([{"toString": 1}])


BROKEN_NESTING = ["[" * 5000, "[" * 5000 + "]" * 4999 + "}"]
BROKEN = [
    "NaN",
    "Infinity",
    "-Infinity",
    "01",
    "1.",
    ".5",
    "{'a':1}",
    "[1,]",
    "{,}",
    "nul",
    "tru",
    '"',
    "[",
    "{",
]
BROKEN += ['{"a"}', '{"a":}']


@pytest.mark.parametrize("text", ["", " ", "\ufeff{}", '"\x01"', "1 2", *BROKEN, *BROKEN_NESTING])
def test_what_json_parse_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        js.parse(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', '"\\ud83d"', "[1e400]", "\r\n{}\t", '"\u2028"', "[" * 20000 + "]" * 20000]
)
def test_what_json_parse_takes(text: str) -> None:
    js.parse(text)


def test_the_last_duplicate_wins_and_lone_surrogates_stay() -> None:
    assert js.parse('{"a":1,"a":2}') == {"a": 2}
    assert js.parse('"\\ud83d"') == "\ud83d"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=12,
    )
)
def test_the_deep_parser_is_the_fast_one(value: Any) -> None:
    text = json.dumps([value, {"k": value}], allow_nan=True).replace("Infinity", "1e999")
    deep = js.parse_deep(text, js.integer, js.number)
    assert js.deep_equal(deep, js.parse(text))


def test_depth_is_no_limit_for_any_operation() -> None:
    text = "[" * 30000 + "1" + "]" * 30000
    value = js.parse(text)
    assert js.stringify(value) == text
    assert js.deep_equal(value, js.parse(text))
    assert js.to_text(value) == "1"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, -0.0, True),
        ("1", 1, False),
        (None, js.UNDEFINED, False),
        ("a", "a", True),
    ],
)
def test_strict_equality(left: Any, right: Any, same: bool) -> None:  # noqa: FBT001 (a column of the table)
    assert js.equal(left, right) is same


def test_objects_are_equal_by_identity_alone() -> None:
    one: js.Record = {}
    assert js.equal(one, one)
    assert not js.equal(one, {})


def test_safe_integers() -> None:
    assert js.is_safe_integer(js.parse("9007199254740991"))
    assert not js.is_safe_integer(js.parse("9007199254740992"))
    assert js.is_safe_integer(js.parse("-0"))
    assert not js.is_safe_integer(js.parse("true"))
    assert js.is_negative_zero(js.parse("-0.0"))
    assert math.copysign(1, float(str(js.parse("-0.0")))) == -1


def test_a_member_of_null_or_undefined_throws_as_v8_words_it() -> None:
    with pytest.raises(js.JsError, match=r"Cannot read properties of null \(reading 'seq'\)"):
        js.get(None, "seq")
    with pytest.raises(js.JsError, match=r"Cannot read properties of undefined \(reading 'turn'\)"):
        js.get(js.UNDEFINED, "turn")
    assert js.get("text", "seq") is js.UNDEFINED


def test_stringify_is_json_stringify() -> None:
    value = js.parse('{"a":[1,2.50,-0,1e400],"b":"\\ud83d\\u0007\u00e9\u2028","c":{}}')
    assert js.stringify(value) == '{"a":[1,2.5,0,null],"b":"\\ud83d\\u0007\u00e9\u2028","c":{}}'
