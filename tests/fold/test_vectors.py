"""Every vector on every engine, at every cut (S7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import Vector, check, huge_vectors, vectors
from tests.outcomes import run
from tests.support import FIXED_SEED, WIRES, cuts, even_sizes, pieces, random_sizes


@pytest.mark.parametrize("name", vectors())
def test_vector(engine: Any, name: str) -> None:
    vector = vectors()[name]
    check_at_every_cut(engine, vector, vector.expect, vector.options)
    if "skip" in vector.expect:
        check_at_every_cut(engine, vector, vector.expect["skip"], {**vector.options, "malformed": "skip"})


def check_at_every_cut(engine: Any, vector: Vector, expect: dict[str, Any], options: dict[str, Any]) -> None:
    whole = None
    for cut, chunks in cuts(vector.body, vector.name):
        outcome = run(engine, chunks, **options)
        if whole is None:
            check(outcome, expect)
            whole = outcome.plain()
        assert outcome.plain() == whole, f"at the cut {cut!r}"


@pytest.mark.parametrize("name", vectors())
def test_vector_on_its_named_wire(engine: Any, name: str) -> None:
    """Where `auto` finds a wire, naming it gives the same."""
    vector = vectors()[name]
    found = run(engine, [vector.body], **vector.options)
    wire = found.completion.wire
    if "wire" in vector.options or wire not in WIRES:
        return
    named = run(engine, [vector.body], **{**vector.options, "wire": wire})
    assert named.plain() == found.plain()


@pytest.mark.parametrize("name", huge_vectors())
def test_huge_vector(engine: Any, name: str) -> None:
    vector = huge_vectors()[name]
    outcome = run(engine, [vector.body], **vector.options)
    check(outcome, vector.expect)
    for sizes in (even_sizes(997), random_sizes((FIXED_SEED, name), 5000)):
        assert run(engine, pieces(vector.body, sizes), **vector.options).plain() == outcome.plain()
