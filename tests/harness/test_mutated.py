"""Damage of any kind, seeded: the check never fails, a plan holds what it promises, a line that no change
names keeps its bytes.

`test_real_loader.py` puts the same kind of damage before the published packages.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from deltafold.harness.document import open_document
from deltafold.harness.faults import find_faults
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model.reader import answer
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import make_plan
from tests.harness import mutate, samples
from tests.support import FIXED_SEED, RANDOM_SEED

if TYPE_CHECKING:
    from deltafold.harness.repair.plan import Plan

COUNT = 5000 if "DELTAFOLD_HARNESS_LONG" in os.environ else 80
PLAIN = [
    name for name, case in samples.CASES.items() if case["compression"] == "none" and "layout" not in name
]
STATUSES = {"healthy", "repairable", "needs-decision", "not-repairable", "not-damaged", "left-alone"}


def damaged(chance: random.Random) -> tuple[bytes, samples.Place]:
    """One damaged session, plain or compressed."""
    name = chance.choice(PLAIN)
    lines = mutate.mutate_lines(chance, samples.data(name).split(b"\n")[:-1] or [b""])
    where = samples.place(name)
    if chance.random() < 0.3:
        packed = samples.Place(where.path + ".zstd", where.root, "zstd", where.session)
        return mutate.encode(chance, lines), packed
    return mutate.finish(chance, lines), where


def assert_least_change(data: bytes, plan: Plan) -> None:
    """Lines that neither a change nor the quarantine names stand in the new text, in order, byte for byte."""
    assert plan.draft is not None
    assert plan.data is not None
    if plan.draft.renumbered or any(not frame.sound for frame in plan.draft.document.frames):
        return
    named = {change.line for change in plan.changes} | {entry.line for entry in plan.draft.removed}
    seqs = {change.seq for change in plan.changes}
    before = open_document(data, plan.place.compression, DEFAULT_LIMITS, lenient=True)
    kept = [
        line.raw
        for line in before.lines
        if line.number not in named and not seqs & {record.get("seq") for record in line.records}
    ]
    after = open_document(plan.data, plan.place.compression, DEFAULT_LIMITS)
    rest = iter(line.raw for line in after.lines)
    assert [line for line in kept if line not in rest] == []


@pytest.mark.parametrize("seed", [FIXED_SEED, RANDOM_SEED])
def test_whatever_is_damaged(seed: int) -> None:
    chance = random.Random(seed)
    repaired = 0
    for number in range(COUNT):
        data, where = damaged(chance)
        before = open_document(data, where.compression, DEFAULT_LIMITS)
        told = answer(before, where)
        faults = find_faults(before, where, told)
        assert "ok" in told or faults, (seed, number)
        options = Options(fork=chance.choice([None, "first", "last"]), cwd="/home/demo")
        plan = make_plan(data, where, options, DEFAULT_LIMITS)
        assert plan.status in STATUSES
        assert (plan.data is not None) is (plan.status == "repairable"), (seed, number)
        if plan.data is None:
            continue
        repaired += 1
        after = open_document(plan.data, where.compression, DEFAULT_LIMITS)
        assert answer(after, where) == plan.after, (seed, number)
        assert "ok" in (plan.after or {}), (seed, number)
        assert_least_change(data, plan)
        again = make_plan(plan.data, where, options, DEFAULT_LIMITS)
        assert again.data is None, (seed, number, again.changes)
    assert repaired > COUNT // 3
