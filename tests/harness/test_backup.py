"""Backups: byte for byte, with hashes and an audit trail; a damaged one is not put back."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.repair import apply, backup
from tests.harness import samples
from tests.harness.applying import applied, planned, refused_untouched

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_backup_holds(session: Path) -> None:
    old = session.read_bytes()
    plan = planned(session)
    done = apply.apply_plan(plan, DEFAULT_LIMITS)
    folder = session.parent / backup.FOLDER
    assert (folder / done.backup / session.name).read_bytes() == old
    manifest = json.loads((folder / done.backup / "manifest.json").read_text())
    assert manifest["old"]["sha256"] == hashlib.sha256(old).hexdigest()
    assert manifest["old"]["bytes"] == len(old)
    assert manifest["new"]["sha256"] == hashlib.sha256(session.read_bytes()).hexdigest()
    assert manifest["plan"]["changes"] == [change.to_dict() for change in plan.changes]
    assert (folder.stat().st_mode & 0o777, (folder / done.backup).stat().st_mode & 0o777) == (0o700, 0o700)
    assert all(entry.stat().st_mode & 0o777 == 0o600 for entry in (folder / done.backup).iterdir())


pytestmark = pytest.mark.usefixtures("quick")


def trail(session: Path) -> list[dict[str, Any]]:
    text = (session.parent / backup.FOLDER / backup.AUDIT).read_bytes()
    return [json.loads(line) for line in text.splitlines() if line.endswith(b"}")]


def steps(session: Path) -> list[tuple[str, str]]:
    return [(entry["action"], entry["state"]) for entry in trail(session)]


def test_the_audit_trail_says_what_begins_and_how_it_ended(session: Path) -> None:
    plan = planned(session)
    done = apply.apply_plan(plan, DEFAULT_LIMITS)
    first = trail(session)[0]
    assert (first["backup"], first["changes"]) == (done.backup, len(plan.changes))
    assert (first["old_sha256"], first["new_sha256"]) == (done.old_sha256, done.new_sha256)
    apply.restore_file(str(session), DEFAULT_LIMITS)
    plan.after = {"ok": {"events": 1}}
    with pytest.raises(RefusedError, match="otherwise than planned"):
        apply.apply_plan(plan, DEFAULT_LIMITS)
    ends = [("repair", "done"), ("restore", "done"), ("repair", "refused")]
    assert steps(session) == [step for action, end in ends for step in ((action, "begun"), (action, end))]
    assert trail(session)[-1]["kind"] == "verification-failed"
    assert all(entry["time"].endswith("Z") for entry in trail(session))


def test_a_line_of_the_trail_that_was_cut_short_spoils_no_other(session: Path) -> None:
    applied(session)
    apply.restore_file(str(session), DEFAULT_LIMITS)
    audit = session.parent / backup.FOLDER / backup.AUDIT
    os.truncate(audit, audit.stat().st_size - 9)
    applied(session)
    assert steps(session)[-3:] == [("restore", "begun"), ("repair", "begun"), ("repair", "done")]


def test_a_pipe_in_place_of_the_trail_is_refused(session: Path) -> None:
    folder = session.parent / backup.FOLDER
    folder.mkdir()
    os.mkfifo(folder / backup.AUDIT)
    reader = os.open(folder / backup.AUDIT, os.O_RDONLY | os.O_NONBLOCK)
    plan = planned(session)
    refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "file-not-regular")
    os.close(reader)


def test_what_is_taken_out_is_kept(tmp_path: Path) -> None:
    path = samples.copy("null-line-committed", tmp_path / "root")
    done = applied(path)
    text = (path.parent / backup.FOLDER / done.backup / "quarantine.jsonl").read_text()
    assert [json.loads(line) for line in text.splitlines()] == [
        {"why": "a line that holds no event, 4 bytes", "base64": "bnVsbA==", "line": 21}
    ]


def test_two_repairs_are_taken_back_one_by_one(tmp_path: Path) -> None:
    path = samples.copy("healthy-raw", tmp_path / "root")
    states = []
    for damage in (b"null\n", b"5\n"):
        with path.open("ab") as file:
            file.write(damage)
        states.append(path.read_bytes())
        applied(path)
    apply.restore_file(str(path), DEFAULT_LIMITS)
    assert path.read_bytes() == states[1]
    with pytest.raises(RefusedError, match="not what any repair left"):
        apply.restore_file(str(path), DEFAULT_LIMITS)
    path.write_bytes(samples.data("healthy-raw"))
    apply.restore_file(str(path), DEFAULT_LIMITS)
    assert path.read_bytes() in states


def test_a_damaged_backup_is_not_put_back(session: Path) -> None:
    done = applied(session)
    (session.parent / backup.FOLDER / done.backup / session.name).write_bytes(b"something else")
    refused_untouched(session, lambda: apply.restore_file(str(session), DEFAULT_LIMITS), "backup-damaged")


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../../../../etc/passwd"},
        {"file": "other.jsonl"},
        {"old": {"sha256": 5, "bytes": 1}},
        {"old": None},
        {"new": []},
    ],
)
def test_a_hostile_manifest_is_no_manifest(change: Any, session: Path) -> None:
    done = applied(session)
    manifest = session.parent / backup.FOLDER / done.backup / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **change}))
    refused_untouched(session, lambda: apply.restore_file(str(session), DEFAULT_LIMITS), "no-backup")


def test_manifests_of_odd_form_are_passed_over(session: Path) -> None:
    done = applied(session)
    folder = session.parent / backup.FOLDER
    for name, text in (("zz-1", "{"), ("zz-2", "[" * 100_000), ("zz-3", "[]"), ("zz-4", "")):
        (folder / name).mkdir()
        (folder / name / "manifest.json").write_text(text)
    (folder / "zz-5").mkdir()
    (folder / "zz-6").symlink_to("/etc")
    assert apply.restore_file(str(session), DEFAULT_LIMITS).backup == done.backup


def test_a_link_in_place_of_the_backup_folder_is_refused(session: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (session.parent / backup.FOLDER).symlink_to(elsewhere)
    plan = planned(session)
    refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "file-link")
    assert list(elsewhere.iterdir()) == []


def test_nothing_to_restore(session: Path) -> None:
    refused_untouched(session, lambda: apply.restore_file(str(session), DEFAULT_LIMITS), "no-backup")
