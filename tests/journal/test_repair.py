"""Every kind of damage that the checks can name, repaired: what is known stays, what is not known stays
unknown."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.journal import Journal, JournalCorrupt, load
from deltafold.journal.check import check
from deltafold.journal.faults import ADVICE
from deltafold.journal.repair.apply import apply_plan, restore
from deltafold.journal.repair.plan import plan_repair
from deltafold.journal.targets import Target, targets_of
from tests.journal import forge
from tests.journal.damage import CASES, HEALTHY, MARK, SALT, Entries
from tests.journal.test_resume import accepted_everywhere

if TYPE_CHECKING:
    from deltafold.journal.repair.model import Plan


def target(root) -> Target:
    return next(targets_of(str(root), "s"))


def entries_of(root) -> Entries:
    """The records behind the first, without the one that the repair itself leaves at the end."""
    *events, last = load(root, "s").events[1:]
    assert last.type == "session/repair"
    return [(event.type, event.data) for event in events]


def repaired(root, data: bytes, **options: Any) -> tuple[Plan, Entries]:
    """Repair a log and restore it; returns the plan and the records that came out."""
    path = forge.put(root, data)
    plan = plan_repair(target(root), **options)
    assert path.read_bytes() == data, "a plan changes nothing"
    done = apply_plan(plan)
    assert done is not None
    assert hashlib.sha256(path.read_bytes()).hexdigest() == done.sha256
    assert check(target(root)).exit_code == 0
    entries = entries_of(root)
    assert plan_repair(target(root)).healthy
    with Journal.open(root, "s", resume=True) as journal:
        accepted_everywhere(journal)
    written = path.read_bytes()
    restore(target(root))
    assert path.read_bytes() == data, "restored byte for byte"
    restore(target(root))
    assert path.read_bytes() == written, "and what was there was kept as well"
    return plan, entries


def matches(found: tuple[str, Any], expected: tuple[str, Any]) -> bool:
    """Whether a record is the expected one; a placeholder, or an answer that the repair gave, by what counts
    of it."""
    kind, data = found
    if expected == MARK:
        return kind == "session/repair"
    if kind == expected[0] == "tool/result" and "content" not in expected[1]:
        return expected[1].items() <= data.items() and data["source"]["call_id"] == data["call_id"]
    return (kind, data) == expected


@pytest.mark.parametrize("name", CASES)
def test_a_kind_of_damage(tmp_path, name):
    case = CASES[name]
    forge.put(tmp_path, case.data)
    report = check(target(tmp_path))
    assert report.exit_code == (1 if case.kinds == {"torn-tail"} else 2)
    assert {fault.kind for fault in report.faults} == case.kinds
    assert report.faults[0].advice == ADVICE[report.faults[0].kind]
    plan, entries = repaired(tmp_path, case.data)
    assert len(entries) == len(case.expected)
    for found, expected in zip(entries, case.expected, strict=True):
        assert matches(found, expected), (found, expected)
    assert plan.changes
    assert {change.kind for change in plan.changes} <= set(ADVICE)


@pytest.mark.parametrize("name", CASES)
def test_lines_that_are_no_part_of_a_fault_keep_their_bytes(tmp_path, name):
    case = CASES[name]
    path = forge.put(tmp_path, case.data)
    plan = plan_repair(target(tmp_path))
    apply_plan(plan)
    old = set(case.data.splitlines(keepends=True))
    new = path.read_bytes().splitlines(keepends=True)[:-1]
    touched = [line for line in new if line not in old]
    kept_otherwise = [
        change for change in plan.changes if change.action in {"rewritten", "inserted", "quarantined"}
    ]
    bits = [change for change in plan.changes if change.action == "restored"]
    gaps = [line for line in new if b'"kind":"seq-gap"' in line]
    allowed = len(kept_otherwise) + 2 * len(bits) + len(gaps) + plan.renumbered
    assert len(touched) <= allowed, "a flipped line end concerns two lines, anything else one"
    if not any(change.action == "inserted" for change in plan.changes):
        assert plan.renumbered == 0, "only a record that is put in makes the ones behind it move"


def test_every_kind_of_fault_has_a_case():
    named = {kind for case in CASES.values() for kind in case.kinds}
    assert set(ADVICE) - named == {"two-files-glued", "duplicate-different"}, "those two are below"


def test_a_healthy_session_is_left_alone(tmp_path):
    path = forge.put(tmp_path, forge.log(HEALTHY, salt=SALT))
    before = path.stat()
    plan = plan_repair(target(tmp_path))
    assert plan.healthy
    assert apply_plan(plan) is None
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["journal.jsonl"]


def test_the_repair_says_what_it_did(tmp_path):
    forge.put(tmp_path, CASES["empty id in the result"].data)
    done = apply_plan(plan_repair(target(tmp_path)))
    last = load(tmp_path, "s").events[-1].data
    (change,) = last["changes"]
    assert (change["kind"], change["action"], change["seq"]) == ("empty-id", "rewritten", 7)
    backup = tmp_path / "s" / last["backup"]["file"]
    assert backup.read_bytes() == CASES["empty id in the result"].data
    assert hashlib.sha256(backup.read_bytes()).hexdigest() == last["backup"]["sha256"]
    assert str(backup.parent) == done.backup


def test_damage_behind_a_repair_names_its_backup(tmp_path):
    path = forge.put(tmp_path, CASES["empty id in the result"].data)
    done = apply_plan(plan_repair(target(tmp_path)))
    assert done is not None
    path.write_bytes(path.read_bytes().replace(b"What", b"What?", 1))
    with pytest.raises(JournalCorrupt) as corrupt:
        load(tmp_path, "s")
    assert corrupt.value.backup == done.backup
    assert f"backup: {done.backup}" in str(corrupt.value)
    assert "see what can be read with: deltafold journal export" in str(corrupt.value)


def test_what_is_set_aside_is_in_quarantine(tmp_path):
    forge.put(tmp_path, CASES["unnamed call"].data)
    apply_plan(plan_repair(target(tmp_path)))
    kept = (tmp_path / "s" / "quarantine.jsonl").read_bytes().splitlines()
    assert len(kept) == 2
    assert b"repair: the call was never named" in kept[0]
    assert b'"call_id":"b"' in kept[1]
