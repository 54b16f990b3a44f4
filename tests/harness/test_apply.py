"""Apply and restore: old or new at every moment, byte-exact backups, refusal where somebody writes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.harness.layout import place_of
from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.repair import apply, backup, files, live
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import Plan, make_plan
from tests.harness import samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def names(session: Path) -> list[str]:
    return [entry.name for entry in session.parent.iterdir()]


NAMES = ["poison-empty-identity-raw", "poison-empty-identity-zstd", "torn-tail-mid-turn"]


def planned(path: Path) -> Plan:
    return make_plan(path.read_bytes(), place_of(str(path)), Options(), DEFAULT_LIMITS)


def applied(path: Path) -> apply.Done:
    return apply.apply_plan(planned(path), DEFAULT_LIMITS)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return samples.copy("poison-empty-identity-raw", tmp_path / "root")


@pytest.mark.parametrize("name", NAMES)
def test_apply_and_restore(name: str, tmp_path: Path) -> None:
    path = samples.copy(name, tmp_path / "root")
    path.chmod(0o640)
    old, before = path.read_bytes(), path.stat()
    plan = planned(path)
    done = apply.apply_plan(plan, DEFAULT_LIMITS)
    assert path.read_bytes() == plan.data
    assert path.stat().st_mode == before.st_mode
    assert done.old_sha256 == hashlib.sha256(old).hexdigest()
    assert done.new_sha256 == hashlib.sha256(plan.data or b"").hexdigest()
    restored = apply.restore_file(str(path), DEFAULT_LIMITS)
    assert path.read_bytes() == old
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert restored.backup == done.backup
    assert sorted(entry.name for entry in path.parent.iterdir()) == [backup.FOLDER, path.name]


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
    audit = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    assert [(entry["action"], entry["backup"]) for entry in audit] == [("repair", done.backup)]
    assert (folder.stat().st_mode & 0o777, (folder / done.backup).stat().st_mode & 0o777) == (0o700, 0o700)
    assert all(entry.stat().st_mode & 0o777 == 0o600 for entry in (folder / done.backup).iterdir())


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


def test_nothing_to_apply(tmp_path: Path) -> None:
    path = samples.copy("healthy-raw", tmp_path / "root")
    with pytest.raises(RefusedError) as refused:
        applied(path)
    assert refused.value.kind == "nothing-to-apply"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def refused_untouched(path: Path, run: Callable[[], object], kind: str) -> None:
    """Something is refused, and the file and its directory are as they were."""
    before = path.read_bytes()
    with pytest.raises(RefusedError) as refused:
        run()
    assert refused.value.kind == kind
    assert path.read_bytes() == before
    assert not [entry.name for entry in path.parent.iterdir() if entry.name.endswith(".tmp")]


def test_refused_when_the_file_changed_since_the_plan(session: Path) -> None:
    plan = planned(session)
    with session.open("ab") as file:
        file.write(b"{}\n")
    refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "file-changed")
    assert backup.FOLDER not in names(session)


OPENER = "import sys, time; file = open(sys.argv[1], 'ab'); print('open', flush=True); time.sleep(60)"
LOCKER = """
import fcntl, sys, time
file = open(sys.argv[1], 'rb')
fcntl.flock(file, fcntl.LOCK_EX)
print('locked', flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("code", "name"),
    [(OPENER, "session.jsonl"), (LOCKER, "session.jsonl"), (LOCKER, "session.lock"), (LOCKER, "")],
)
def test_refused_while_a_writer_is_live(code: str, name: str, session: Path) -> None:
    """A log held open for writing, a locked log, the lock file of later versions, another repair."""
    if code is LOCKER and not name:
        code = code.replace("open(sys.argv[1], 'rb')", "__import__('os').open(sys.argv[1], 0)")
    target = session.parent / name
    if name == "session.lock":
        target.touch()
    plan = planned(session)
    with subprocess.Popen([sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "writer-live")
        finally:
            other.kill()
    apply.apply_plan(plan, DEFAULT_LIMITS)


def test_a_reader_is_no_writer(session: Path) -> None:
    code = OPENER.replace("'ab'", "'rb'")
    with subprocess.Popen([sys.executable, "-c", code, str(session)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        applied(session)
        other.kill()


def test_a_writer_of_this_moment_is_waited_for(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file written a moment ago is looked at again after the time in which a batch is gathered."""

    def write_more(_seconds: float) -> None:
        with session.open("ab") as file:
            file.write(b"more\n")

    plan = planned(session)
    monkeypatch.setattr(apply.time, "sleep", write_more)
    with pytest.raises(RefusedError) as refused:
        apply.apply_plan(plan, DEFAULT_LIMITS)
    assert refused.value.kind == "writer-live"
    assert session.read_bytes().endswith(b"more\n")


def test_a_late_append_to_the_old_file_is_not_lost(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that nothing showed appends between the last look and the rename: it is put back."""
    plan, real = planned(session), files.Directory.rename
    writer = session.open("ab")

    def late(self: files.Directory, old: str, new: str) -> None:
        if not writer.closed:
            writer.write(b'{"late":1}\n')
            writer.close()
        real(self, old, new)

    monkeypatch.setattr(files.Directory, "rename", late)
    with pytest.raises(RefusedError) as refused:
        apply.apply_plan(plan, DEFAULT_LIMITS)
    assert refused.value.kind == "writer-live"
    assert session.read_bytes() == samples.data("poison-empty-identity-raw") + b'{"late":1}\n'
    assert sorted(names(session)) == [backup.FOLDER, session.name]


def test_a_file_that_reads_otherwise_than_planned_is_not_put_in_place(session: Path) -> None:
    plan = planned(session)
    plan.after = {"ok": {"events": 1}}
    refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "verification-failed")


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "link", "fchmod", "open"])
def test_a_failing_system_call_leaves_the_old_file(
    call: str, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, an I/O error: whatever call fails first, the old file stands, without temporary ones."""
    plan, real = planned(session), getattr(os, call)
    before = session.read_bytes()
    failures = 0
    for at in range(40):
        count = 0

        def failing(*given: Any, limit: int = at, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == limit + 1:
                raise OSError(errno.EIO, "injected")
            return real(*given, **named)

        monkeypatch.setattr(os, call, failing)
        try:
            apply.apply_plan(plan, DEFAULT_LIMITS)
        except OSError:
            failures += 1
        finally:
            monkeypatch.setattr(os, call, real)
        if count <= at:
            break
        assert session.read_bytes() in (before, plan.data)
        assert not [entry for entry in names(session) if entry.endswith(".tmp")]
        session.write_bytes(before)
    assert failures > 0
    assert session.read_bytes() == plan.data


def test_without_hard_links(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_given: Any, **_named: Any) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", none)
    plan = planned(session)
    apply.apply_plan(plan, DEFAULT_LIMITS)
    assert session.read_bytes() == plan.data


def steps_of(run: Callable[[], object], kill_at: int | None) -> int:
    """Run something and count the lines of the package that it passes; at a given one die by SIGKILL."""
    passed = 0

    def trace(frame: Any, event: str, _argument: Any) -> Any:
        nonlocal passed
        if "/harness/" not in frame.f_code.co_filename or "/tests/" in frame.f_code.co_filename:
            return None
        if not frame.f_code.co_filename.endswith(
            ("apply.py", "backup.py", "files.py", "live.py", "source.py")
        ):
            return None
        if event == "line":
            passed += 1
            if passed == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return passed


def killed_at(run: Callable[[], object], at: int) -> bool:
    """Run something in a child that dies at a point; True when it died there and had not finished."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            steps_of(run, at)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting, and no look at the processes of this machine: neither adds a moment at which to die."""
    monkeypatch.setattr(live, "_processes", list[str])
    monkeypatch.setattr(apply, "_SETTLE_SECONDS", 0)


@pytest.mark.usefixtures("quick")
def test_killed_anywhere_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """SIGKILL at every line that apply passes: the path holds one of the two, and apply can go on."""
    path = samples.copy("poison-empty-identity-raw", tmp_path / "root")
    old, plan = path.read_bytes(), planned(path)
    seen = {"old": 0, "new": 0}
    at = 1
    while killed_at(lambda: apply.apply_plan(plan, DEFAULT_LIMITS), at):
        now = path.read_bytes()
        assert now in (old, plan.data)
        if now == old:
            seen["old"] += 1
        else:
            seen["new"] += 1
            apply.restore_file(str(path), DEFAULT_LIMITS)
            assert path.read_bytes() == old
        at += 1
    assert path.read_bytes() == plan.data
    assert seen["old"] > 100
    assert seen["new"] > 5


@pytest.mark.usefixtures("quick")
def test_killed_anywhere_restore_leaves_one_of_the_two(tmp_path: Path) -> None:
    path = samples.copy("poison-empty-identity-raw", tmp_path / "root")
    old, plan = path.read_bytes(), planned(path)
    at, finished = 1, False
    while not finished:
        if path.read_bytes() == old:
            apply.apply_plan(plan, DEFAULT_LIMITS)
        finished = not killed_at(lambda: apply.restore_file(str(path), DEFAULT_LIMITS), at)
        assert path.read_bytes() in (old, plan.data)
        at += 3
    assert path.read_bytes() == old
    assert at > 100


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


def test_a_link_in_place_of_the_session_is_refused(session: Path, tmp_path: Path) -> None:
    plan = planned(session)
    target = tmp_path / "target.jsonl"
    session.rename(target)
    session.symlink_to(target)
    with pytest.raises(RefusedError) as refused:
        apply.apply_plan(plan, DEFAULT_LIMITS)
    assert refused.value.kind == "file-link"
    assert target.read_bytes() == samples.data("poison-empty-identity-raw")


def test_nothing_to_restore(session: Path) -> None:
    refused_untouched(session, lambda: apply.restore_file(str(session), DEFAULT_LIMITS), "no-backup")


def test_the_lock_is_given_up(session: Path) -> None:
    applied(session)
    descriptor = os.open(session.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
