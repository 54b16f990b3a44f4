"""`kill -9` at every system call of `--apply` and of `restore`: the old file or the new one, never neither.

What a process leaves behind when it dies changes with its system calls alone, and only with those that write.
strace counts each call by its own name, so each moment is named by a call and a count.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from deltafold.harness.check import CLEAN, Scan
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.repair import apply, backup
from tests.harness import samples
from tests.harness.applying import applied, names, planned
from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LONG = "DELTAFOLD_HARNESS_LONG" in os.environ
STRIDE = 1 if LONG else 12
NAMES = ["poison-empty-identity-raw", *(["poison-empty-identity-zstd"] if LONG else [])]
COMMAND = """
import sys
from deltafold.cli import main
from deltafold.harness.repair import apply, live
live._processes, apply._SETTLE_SECONDS = list, 0
sys.exit(main(["harness", *sys.argv[1:]]))
"""
"""The command, without a look at the processes of this machine, whose number is another each time."""
CALLS = (
    "openat,write,pwrite64,ftruncate,fchmod,fsync,fdatasync,flock,mkdir,mkdirat,link,linkat,"
    "rename,renameat,renameat2,unlink,unlinkat,utimensat"
)
SWAP = ("linkat", "link", "renameat", "renameat2", "rename", "unlinkat", "unlink")
CALL = re.compile(r"^\d+ +(\w+)\(")


def run(log: Path, *words: str, inject: str | None = None) -> int:
    """Run the command under strace and return its exit code; its calls are in the log."""
    tracer = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={CALLS}"]
    tracer += [] if inject is None else ["-e", f"inject={inject}"]
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(log.parent / "compiled")}
    command = [*tracer, sys.executable, "-W", "ignore", "-c", COMMAND, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if "ptrace" in done.stderr:
        pytest.skip("processes may not be traced here")
    return done.returncode


def moments(log: Path, begin: str) -> list[str]:
    """Every call from the first that concerns the session on, as strace is asked for it.

    Of each stretch without a rename, link or unlink the short form takes one in some.
    """
    counts: Counter[str] = Counter()
    found: list[tuple[str, str]] = []
    for line in log.read_text().splitlines():
        match = CALL.match(line)
        if match is None:
            continue
        name = match.group(1)
        counts[name] += 1
        if found or begin in line:
            found.append((name, f"{name}:signal=SIGKILL:when={counts[name]}"))
    near = {near for at, (name, _) in enumerate(found) if name in SWAP for near in (at, at + 1)}
    return [moment for at, (_, moment) in enumerate(found) if at in near or at % STRIDE == 0]


def assert_alone(path: Path) -> None:
    """The reader of a root sees this one session; what a dead process left is at most a temporary file."""
    results = list(Scan().run([str(path.parents[2])]))
    assert [result.place.path for result in results] == [str(path)]
    assert {fault.kind for fault in results[0].faults if fault.severity.value == "note"} <= {
        "layout-leftover"
    }
    left = [name for name in names(path) if name not in (path.name, backup.FOLDER)]
    assert all(name.startswith(path.name) and name.endswith(".tmp") for name in left)
    assert len(left) <= 2


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", NAMES)
def test_apply_killed_at_any_system_call(name: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    path = samples.copy(name, tmp_path / "root")
    old, plan = path.read_bytes(), planned(path)
    for _compiled in (False, True):
        shutil.rmtree(tmp_path / "root")
        samples.copy(name, tmp_path / "root")
        assert run(log, "repair", "--apply", str(path)) == 0
        assert path.read_bytes() == plan.data
    seen: list[bool] = []
    for inject in moments(log, str(tmp_path / "root")):
        shutil.rmtree(tmp_path / "root")
        samples.copy(name, tmp_path / "root")
        assert run(log, "repair", "--apply", str(path), inject=inject) != 0, inject
        now = path.read_bytes()
        assert now in (old, plan.data), inject
        seen.append(now != old)
        assert_alone(path)
        if now == old:
            applied(path)
        assert path.read_bytes() == plan.data
        assert {result.code for result in Scan().run([str(path)])} == {CLEAN}
        apply.restore_file(str(path), DEFAULT_LIMITS)
        assert path.read_bytes() == old, inject
    assert seen == sorted(seen), "the old file up to the rename, the new one from there on"
    assert set(seen) == {False, True}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.usefixtures("quick")
def test_restore_killed_at_any_system_call(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    path = samples.copy("poison-empty-identity-raw", tmp_path / "root")
    old, plan = path.read_bytes(), planned(path)
    applied(path)
    shutil.copytree(tmp_path / "root", tmp_path / "repaired")
    for _compiled in (False, True):
        shutil.rmtree(tmp_path / "root")
        shutil.copytree(tmp_path / "repaired", tmp_path / "root")
        assert run(log, "restore", str(path)) == 0
        assert path.read_bytes() == old
    seen: list[bool] = []
    for inject in moments(log, str(tmp_path / "root")):
        shutil.rmtree(tmp_path / "root")
        shutil.copytree(tmp_path / "repaired", tmp_path / "root")
        assert run(log, "restore", str(path), inject=inject) != 0, inject
        now = path.read_bytes()
        assert now in (old, plan.data), inject
        seen.append(now == old)
        assert_alone(path)
        if now != old:
            apply.restore_file(str(path), DEFAULT_LIMITS)
        assert path.read_bytes() == old
    assert seen == sorted(seen)
    assert set(seen) == {False, True}
