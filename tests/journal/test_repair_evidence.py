"""Identity comes back from evidence; where two histories are there, or none, the plan asks and does not
guess."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltafold.journal import FileStore, Journal, JournalCorrupt, JournalLocked, load
from deltafold.journal.check import check
from deltafold.journal.repair.apply import RepairRefused, apply_plan, backups, restore
from deltafold.journal.repair.plan import plan_repair
from tests.cli import streams
from tests.journal import figures, forge, strategies
from tests.journal.damage import CASES, HEALTHY, SALT, SAYS, lines_of
from tests.journal.forge import assistant, call, end, result, turn, user
from tests.journal.processes import environment
from tests.journal.test_repair import entries_of, repaired, target
from tests.journal.test_resume import accepted_everywhere

LONG = "DELTAFOLD_JOURNAL_LONG" in os.environ
RAW = streams.delta({"content": "Let me look."}) + streams.WHOLE


def session_with_raw(root: Path) -> list[tuple[str, Any]]:
    """A session as `Journal` writes it, with the raw stream of its first answer."""
    with Journal.open(FileStore(root, sync="os"), "s", create=True) as journal:
        turn = journal.turn(user="What is tea?")
        list(turn.stream([RAW]))
        with turn.running(turn.executable_calls[0]) as run:
            run.result("a drink")
        list(turn.stream([streams.delta({"content": "A drink."}, "stop") + streams.DONE]))
    return [(event.type, event.data) for event in load(root, "s").events[1:]]


def rewritten(root: Path, change) -> list[tuple[str, Any]]:
    """The same session after a program that breaks it: sealed, and wrong."""
    entries = session_with_raw(root)
    path = root / "s" / "journal.jsonl"
    first = path.read_bytes().splitlines(keepends=True)[0]
    salt = bytes.fromhex(json.loads(first)["data"]["salt"])
    broken = json.loads(json.dumps(entries))
    change(broken)
    lines = [forge.line(seq, *entry, salt) for seq, entry in enumerate(broken, 1)]
    path.write_bytes(first + b"".join(lines))
    return entries


def blank_ids(entries: Any) -> None:
    """What the reports show: the id is "" in the message, the call, the result and its source."""
    entries[2][1]["message"]["tool_calls"][0]["id"] = ""
    entries[3][1]["call_id"] = ""
    entries[4][1] |= {"call_id": "", "source": {"kind": "tool", "call_id": ""}}


def blank_names(entries: Any) -> None:
    entries[2][1]["message"]["tool_calls"][0]["function"]["name"] = ""
    entries[3][1]["name"] = ""


def cut_arguments(entries: Any) -> None:
    entries[2][1]["message"]["tool_calls"][0]["function"]["arguments"] = '{"q"'


def all_three(entries: Any) -> None:
    blank_ids(entries)
    blank_names(entries)
    cut_arguments(entries)


@pytest.mark.parametrize("change", [blank_ids, blank_names, cut_arguments, all_three])
def test_identity_from_the_raw_stream(tmp_path, change):
    """In all linked records the same, and that of the stream: nothing is made up."""
    entries = rewritten(tmp_path, change)
    assert check(target(tmp_path)).exit_code == 2
    plan = plan_repair(target(tmp_path))
    assert any("raw stream" in entry.why for entry in plan.changes)
    apply_plan(plan)
    assert entries_of(tmp_path) == entries
    accepted_everywhere(load(tmp_path, "s"))


def test_a_raw_stream_that_was_changed_proves_nothing(tmp_path):
    rewritten(tmp_path, blank_ids)
    (raw,) = [path for path in (tmp_path / "s" / "raw").iterdir() if path.name.startswith("00000003")]
    raw.write_bytes(raw.read_bytes().replace(b"call_1", b"call_9"))
    apply_plan(plan_repair(target(tmp_path)))
    kinds = dict(entries_of(tmp_path))
    assert kinds["tool/call"]["call_id"] == "call-0", "made by I10, and said so"
    assert "is made (I10)" in json.dumps(load(tmp_path, "s").events[-1].data)


def test_a_message_whose_record_is_spoiled_comes_back_from_its_stream(tmp_path):
    entries = session_with_raw(tmp_path)
    path = tmp_path / "s" / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"content":"Let me look."', b'"content":"Xet me XXXk."'))
    with pytest.raises(JournalCorrupt):
        load(tmp_path, "s")
    apply_plan(plan_repair(target(tmp_path)))
    assert entries_of(tmp_path) == entries


# Forks and glued files


def forked() -> tuple[bytes, list[Any], list[Any]]:
    """One log that went on in two ways, both in one file."""
    common = [turn(), user(), SAYS, end(), turn(1)]
    first, second = [user("first way"), SAYS, end(1)], [user("second way"), assistant(text="other"), end(1)]
    tail = [forge.line(seq, *entry, SALT) for seq, entry in enumerate(second, len(common) + 1)]
    return forge.log([*common, *first], salt=SALT) + b"".join(tail), [*common, *first], [*common, *second]


def test_a_fork_is_never_merged(tmp_path):
    data, first, second = forked()
    forge.put(tmp_path, data)
    assert "duplicate-different" in {fault.kind for fault in check(target(tmp_path)).faults}
    plan = plan_repair(target(tmp_path))
    assert "forked at seq 6" in str(plan.blocked)
    assert [choice.split(":")[0] for choice in plan.choices] == [
        "--keep first",
        "--keep last",
        "--checkpoint",
    ]
    with pytest.raises(RepairRefused, match="needs a choice"):
        apply_plan(plan)
    assert repaired(tmp_path / "first", data, keep="first")[1] == first
    assert repaired(tmp_path / "last", data, keep="last")[1] == second


@pytest.mark.parametrize("order", ["ours first", "other first"])
def test_two_files_glued(tmp_path, order):
    """The log of this session is kept, wherever in the file it stands."""
    ours = forge.log(HEALTHY, salt=SALT)
    other = forge.log([turn(), user("of another session"), SAYS, end()], session="other")
    data = ours + other if order == "ours first" else other + ours
    forge.put(tmp_path, data)
    report = check(target(tmp_path))
    kinds = {fault.kind for fault in report.faults}
    if order == "ours first":
        assert kinds == {"torn-tail"}, "what a deleted log leaves behind a tear looks the same"
        assert f"another log begins at byte {len(ours)}: two files may have been glued" in report.notes[-1]
    else:
        assert "two-files-glued" in kinds
    _, entries = repaired(tmp_path, data)
    assert entries == HEALTHY


def test_a_copied_directory_is_not_repaired(tmp_path):
    forge.put(tmp_path, forge.log(HEALTHY, session="other"))
    plan = plan_repair(target(tmp_path))
    assert "renamed back" in str(plan.blocked)


# The first record


@pytest.mark.parametrize("place", ["salt", "session", "form", "seal"])
def test_a_flipped_bit_in_the_first_record(tmp_path, place):
    data = forge.log(HEALTHY, salt=SALT)
    at = {"salt": data.index(b'"salt":"') + 10, "session": data.index(b'"s"') + 1, "form": 1, "seal": 170}[
        place
    ]
    assert at < data.index(b"\n")
    broken = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    _, entries = repaired(tmp_path, broken)
    assert entries == HEALTHY


def test_a_first_record_that_is_spoiled_is_rebuilt_around_its_salt(tmp_path):
    lines = lines_of(HEALTHY)
    lines[0] = lines[0].replace(b'"writer":"forge"', b'"WRITER":"spoiled"')
    _, entries = repaired(tmp_path, b"".join(lines))
    assert entries == HEALTHY
    assert load(tmp_path, "s").events[0].data["writer"] == "unknown"


def test_a_lost_salt_blocks(tmp_path):
    lines = lines_of(HEALTHY)
    forge.put(tmp_path, b"".join([b"x" * 100 + b"\n", *lines[1:]]))
    plan = plan_repair(target(tmp_path))
    assert "no other record can be proven" in str(plan.blocked)
    with pytest.raises(RepairRefused):
        apply_plan(plan)


# What is refused


def test_refused_while_a_writer_is_live(tmp_path):
    path = forge.put(tmp_path, CASES["empty id in all"].data)
    plan = plan_repair(target(tmp_path))
    other = forge.put(tmp_path, forge.log([turn()], salt=SALT)).read_bytes()
    with Journal.open(tmp_path, "s"):
        path.write_bytes(CASES["empty id in all"].data)
        with pytest.raises(JournalLocked):
            apply_plan(plan)
        with pytest.raises(JournalLocked):
            restore(target(tmp_path))
        path.write_bytes(other)


def test_refused_when_the_file_has_changed_since_the_plan(tmp_path):
    path = forge.put(tmp_path, CASES["empty id in all"].data)
    plan = plan_repair(target(tmp_path))
    with path.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(RepairRefused, match="changed since the plan"):
        apply_plan(plan)
    assert backups(target(tmp_path)) == []


def test_restore_refuses_a_backup_that_does_not_match_its_manifest(tmp_path):
    path = forge.put(tmp_path, CASES["empty id in all"].data)
    done = apply_plan(plan_repair(target(tmp_path)))
    new = path.read_bytes()
    with (Path(done.backup) / "journal.jsonl").open("ab") as file:
        file.write(b"x")
    with pytest.raises(RepairRefused, match="does not match its manifest"):
        restore(target(tmp_path))
    with pytest.raises(RepairRefused, match="there is no backup nothing"):
        restore(target(tmp_path), "nothing")
    for manifest in ("", "[]", '{"files": 5}', '{"files": [{"name": "journal.jsonl"}]}', '{"files": []}'):
        (Path(done.backup) / "manifest.json").write_text(manifest)
        with pytest.raises(RepairRefused, match="manifest"):
            restore(target(tmp_path))
    assert path.read_bytes() == new


def test_the_checkpoint(tmp_path):
    """Instead of mending, everything behind the last turn before the fault can be cut off."""
    first = [turn(), user(), SAYS, end()]
    data = forge.log([*first, turn(1), user(), assistant(call("")), result("")], salt=SALT)
    plan, entries = repaired(tmp_path, data, to_checkpoint=True)
    assert entries == first
    assert (plan.checkpoint.records, plan.checkpoint.offset) == (5, len(forge.log(first, salt=SALT)))


# Whatever is there


@settings(max_examples=1500 if LONG else 40, deadline=None)
@given(strategies.mutated(), st.booleans(), st.data())
def test_any_mutated_session_is_repaired_or_asks(tmp_path_factory, entries, checkpoint, data):
    """Sealed nonsense: what comes out is admitted, accepted by every provider, and repairing it again changes
    nothing."""
    root = tmp_path_factory.mktemp("any")
    log = forge.log(entries, salt=SALT)
    if data.draw(st.booleans()):
        at, seq = data.draw(st.integers(1, len(entries))), data.draw(strategies.JUNK | st.integers(0, 9))
        lines = log.splitlines(keepends=True)
        with contextlib.suppress(ValueError):
            lines[at] = forge.line(seq, *entries[at - 1], SALT, time=data.draw(strategies.JUNK))
        log = b"".join(lines)
    path = forge.put(root, log)
    report = check(target(root))
    plan = plan_repair(target(root), to_checkpoint=checkpoint)
    assert report.status == ("clean" if plan.healthy else "damaged")
    assert bool(report.faults) != plan.healthy
    if plan.blocked is not None:
        return
    apply_plan(plan)
    assert plan_repair(target(root)).healthy
    with Journal.open(FileStore(root, sync="os"), "s", resume=True) as journal:
        journal.turn(user="What else?")
        accepted_everywhere(journal)
    assert path.exists()


@settings(max_examples=1500 if LONG else 40, deadline=None)
@given(st.data())
def test_any_wounded_bytes_are_repaired_or_ask(tmp_path_factory, data):
    """Bytes overwritten, cut out, put in, lines moved: nothing raises, and no record that was not there comes
    out."""
    root = tmp_path_factory.mktemp("bytes")
    whole = forge.log(HEALTHY, salt=SALT)
    wounded = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(wounded)))
        size = data.draw(st.sampled_from([0, 1, 3, 40, 400]))
        wounded[at : at + size] = data.draw(
            st.binary(max_size=30) | st.sampled_from([b"", b"\n", whole[200:700]])
        )
    path = forge.put(root, bytes(wounded))
    plan = plan_repair(target(root))
    if plan.blocked is not None or plan.healthy:
        return
    apply_plan(plan)
    assert plan_repair(target(root)).healthy
    texts = {str(message["content"]) for message in load(root, "s").messages()}
    known = {"What is tea?", "a drink", "Tea is a drink.", "None"}
    assert all(text in known or "not known" in text or "did not run" in text for text in texts)
    assert path.exists()


# Killed anywhere


APPLY = """
import sys
from deltafold.journal.repair.apply import apply_plan
from deltafold.journal.repair.plan import plan_repair
from deltafold.journal.targets import targets_of
print(apply_plan(plan_repair(next(targets_of(sys.argv[1], "s")))))
"""
STEPS = (
    "openat,write,fdatasync,fsync,rename,renameat,renameat2,ftruncate,flock,mkdir,mkdirat,pwrite64,unlinkat"
)


def applied(root: Path, log: Path, *inject: str) -> int:
    """Run `--apply` under strace; its system calls that change something are in the log."""
    wrapper = ["strace", "-f", "-o", str(log), "-e", f"trace={STEPS}", *inject]
    command = [*wrapper, sys.executable, "-B", "-c", APPLY, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    return done.returncode


def moments_of(lines: list[str], place: str) -> list[str]:
    """What to ask of strace to kill at each call from the first that names a place; it counts by name."""
    counts: Counter[str] = Counter()
    moments: list[str] = []
    for line in [line for line in lines if "(" in line]:
        name = line.split()[1].partition("(")[0]
        counts[name] += 1
        if moments or place in line:
            moments.append(f"inject={name}:signal=SIGKILL:when={counts[name]}")
    return moments


def test_killed_anywhere_there_is_the_old_file_or_the_new_one(tmp_path):
    """SIGKILL at each system call of `--apply` in turn, from the first that concerns the session on."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    data = CASES["unnamed call"].data
    root, log = tmp_path / "root", tmp_path / "strace.log"
    path = forge.put(root, data)
    if applied(root, log) and "ptrace" in log.read_text():
        pytest.skip("processes may not be traced here")
    moments = moments_of(log.read_text().splitlines(), str(root / "s"))
    outcomes = []
    for inject in [*moments[:: 1 if LONG else 9], None]:
        shutil.rmtree(root)
        path = forge.put(root, data)
        code = applied(root, log, *(("-e", inject) if inject else ()))
        assert (code == 0) == (inject is None), inject
        new = path.read_bytes()
        assert new == data or b'"session/repair"' in new.splitlines()[-1]
        if new != data:
            assert load(root, "s").torn == 0
            restore(target(root))
            assert path.read_bytes() == data
        apply_plan(plan_repair(target(root)))
        assert load(root, "s").torn == 0
        outcomes.append(new != data)
    assert outcomes == sorted(outcomes), "the old file up to the rename, the new one from there on"
    assert (outcomes[0], outcomes[-1]) == (False, True)
    figures.note(
        f"repair --apply killed at {len(outcomes) - 1} system calls: the old file or the new one each time"
    )
