"""Apply refuses where somebody writes, where the file is not what was planned, where a link stands."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.repair import apply, backup, files
from tests.harness import samples
from tests.harness.applying import applied, names, planned, refused_untouched

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_to_apply(tmp_path: Path) -> None:
    path = samples.copy("healthy-raw", tmp_path / "root")
    with pytest.raises(RefusedError) as refused:
        applied(path)
    assert refused.value.kind == "nothing-to-apply"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


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


def test_a_link_in_place_of_the_session_is_refused(session: Path, tmp_path: Path) -> None:
    plan = planned(session)
    target = tmp_path / "target.jsonl"
    session.rename(target)
    session.symlink_to(target)
    with pytest.raises(RefusedError) as refused:
        apply.apply_plan(plan, DEFAULT_LIMITS)
    assert refused.value.kind == "file-link"
    assert target.read_bytes() == samples.data("poison-empty-identity-raw")


def test_the_lock_is_given_up(session: Path) -> None:
    applied(session)
    descriptor = os.open(session.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
