"""Rules, quirks, docs and vectors list the same things."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.cases import CHECKS, huge_vectors, vectors
from tests.quirk_docs import PAGE, page
from tests.support import ROOT, SHARED, needs_shared, public

RULES = (
    *("S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"),
    *("P1", "P2", "P3", "P4", "P5", "P6", "P7"),
    *(
        "I1",
        "I2",
        "I3",
        "I4a",
        "I4b",
        "I4c",
        "I4d",
        "I4e",
        "I4f",
        "I4g",
        "I4h",
        "I4i",
        "I4j",
        "I5a",
        "I5b",
        "I5c",
    ),
    *("I6a", "I6b", "I6c", "I6d", "I6e", "I7", "I10", "I11", "I12"),
    *("A1", "A2", "A3", "A4", "A5", "A6", "A7"),
    *("E1", "E2", "E3", "E4", "E5", "E6"),
    *("U1", "X1", "X2", "X3", "X4", "X5", "X6", "Q1", "W1", "W2", "W3", "W4"),
)
"""Every rule of the contract, in its order."""

ALL = {**vectors(), **huge_vectors()}


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_a_vector(rule: str) -> None:
    assert [name for name, vector in ALL.items() if rule in vector.rules]


def test_vectors_cite_rules_that_exist() -> None:
    for name, vector in ALL.items():
        assert vector.rules, name
        assert set(vector.rules) <= set(RULES), name


@needs_shared
def test_the_list_is_that_of_the_contract() -> None:
    text = (SHARED / "spec" / "assembly.md").read_text("utf-8")
    found = re.findall(r"^(?:- |\| )([A-Z]\d+[a-z]?)(?: |\.)", text, re.MULTILINE)
    assert found == list(RULES)


def expected_kinds(expect: dict[str, Any]) -> set[str]:
    return {*expect.get("quirks", ()), *(expected_kinds(expect["skip"]) if "skip" in expect else ())}


def test_quirk_table_is_covered_by_vectors() -> None:
    """Each kind of the table is expected by a vector, and no vector expects another."""
    covered = {kind for vector in ALL.values() for kind in expected_kinds(vector.expect)}
    assert covered == set(public().QUIRKS)


def test_quirk_table_is_what_the_docs_show() -> None:
    assert (ROOT / PAGE).read_text("utf-8") == page(), "run: python -m tests.quirk_docs"
    shown = re.findall(r"^\| `([a-z0-9-]+)` \|", page(), re.MULTILINE)
    assert shown == list(public().QUIRKS)


def test_every_member_of_expect_is_known() -> None:
    by_choice = {"content", "reasoning", "refusal", "finish_reason", "extra", "logprobs"}
    for name, vector in ALL.items():
        unknown = set(vector.expect) - set(CHECKS) - by_choice
        assert not unknown, name
        assert set(vector.document) <= {"rules", "about", "options", "expect", "name", "parts"}, name


@needs_shared
def test_given_vectors_are_as_given() -> None:
    """The cases that came with the contract are here, unchanged."""
    for given in sorted((SHARED / "vectors").rglob("*")):
        if given.is_file():
            ours = ROOT / "tests" / "vectors" / given.relative_to(SHARED / "vectors")
            assert ours.read_bytes() == given.read_bytes(), given.name
