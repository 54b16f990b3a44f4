"""Apply and restore: old or new at every moment, whatever call fails, whenever the process is killed."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.repair import apply, backup
from tests.harness import samples
from tests.harness.applying import names, planned, refused_untouched

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


STRIDE = 1 if "DELTAFOLD_HARNESS_LONG" in os.environ else 11
"""Lines of the package from one death to the next; `test_killed.py` goes by system calls."""
NAMES = ["poison-empty-identity-raw", "poison-empty-identity-zstd", "torn-tail-mid-turn"]


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(session: Path) -> None:
    os.chown(session, 12345, 54321)
    plan = planned(session)
    apply.apply_plan(plan, DEFAULT_LIMITS)
    assert session.read_bytes() == plan.data
    assert (session.stat().st_uid, session.stat().st_gid) == (12345, 54321)
    apply.restore_file(str(session), DEFAULT_LIMITS)
    assert (session.stat().st_uid, session.stat().st_gid) == (12345, 54321)


def test_a_file_whose_owner_cannot_be_kept_is_left_as_it_is(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fstat

    class Another:
        """What fstat says, as if another user asked."""

        def __init__(self, descriptor: int) -> None:
            self.real = real(descriptor)
            self.st_uid = self.real.st_uid + 1

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

    def refused(*_given: object) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    plan = planned(session)
    monkeypatch.setattr(os, "fchown", refused)
    monkeypatch.setattr(os, "fstat", Another)
    refused_untouched(session, lambda: apply.apply_plan(plan, DEFAULT_LIMITS), "owner-lost")


@pytest.mark.usefixtures("quick")
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


@pytest.mark.usefixtures("quick")
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
        at += STRIDE
    assert path.read_bytes() == plan.data
    assert seen["old"] > 100 // STRIDE
    assert seen["new"] > 5 // STRIDE


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
        at += STRIDE
    assert path.read_bytes() == old
    assert at > 100
