"""A disk that fails or is full: the writer dies as promised, and what was acknowledged is there."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from deltafold.journal import FileStore, Journal, JournalFailed, Refused, load
from deltafold.journal.stores import files
from tests.cli import streams
from tests.journal import disks, forge
from tests.journal.processes import acknowledged, child


def traced(tmp_path, inject, sync, *, path="s/journal.jsonl"):
    """Run the appender under strace with a fault injected into calls on one file; returns its lines."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    Journal.open(tmp_path, "s", create=True).close()
    log = tmp_path / "strace.log"
    name = inject.partition(":")[0]
    wrapper = ("strace", "-f", "-o", str(log), "-e", f"trace={name}", "-e", f"inject={inject}")
    if path is not None:
        wrapper = (*wrapper, "-P", str(tmp_path / path))
    process = child("appender", tmp_path, "s", sync, 60, wrapper=wrapper)
    lines = process.stdout.readlines()
    process.stdout.close()
    if process.wait() and "ptrace" in log.read_text():
        pytest.skip("processes may not be traced here")
    assert any("INJECTED" in line for line in log.read_text().splitlines()), "the fault never came"
    return lines


@pytest.mark.parametrize("when", [1, 2, 7, 20])
@pytest.mark.parametrize("sync", ["always", "group"])
def test_a_sync_that_fails(tmp_path, sync, when):
    """EIO from fdatasync: the append raises, nothing more is accepted, and it is not asked again as if it had
    worked."""
    lines = traced(tmp_path, f"fdatasync:error=EIO:when={when}", sync)
    assert "failed absent\n" in lines
    assert "dead\n" in lines
    seqs = acknowledged(lines)
    events = load(tmp_path, "s").events
    assert [event.seq for event in events][-1] == max(seqs, default=1), "the failed record was cut back"
    with Journal.open(tmp_path, "s", resume=True) as journal:
        journal.turn(user="after")


@pytest.mark.parametrize("sync", ["always", "group"])
@pytest.mark.parametrize("name", ["quarantine.jsonl", "journal.jsonl"])
def test_a_sync_that_fails_beside_the_history(tmp_path, monkeypatch, sync, name):
    """What is refused is kept as durably as the history, and its failed sync ends the writer as well."""
    journal = Journal.open(tmp_path, "s", create=True, sync=sync)
    journal.append("turn/start", {"turn": 0})
    sync_data = files.sync_data

    def fails(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == name:
            raise OSError(5, "Input/output error")
        sync_data(descriptor)

    monkeypatch.setattr(files, "sync_data", fails)
    with pytest.raises(JournalFailed if name == "quarantine.jsonl" else Refused):
        journal.append(*forge.result(""))
    if name == "journal.jsonl":
        with pytest.raises(JournalFailed):
            journal.append(*forge.user())
    with pytest.raises(JournalFailed):
        journal.append(*forge.end())
    journal.close()
    assert [event.type for event in load(tmp_path, "s").events] == ["session/start", "turn/start"]


@pytest.mark.parametrize("when", [1, 3, 9])
def test_a_write_that_finds_no_space(tmp_path, when):
    lines = traced(tmp_path, f"write:error=ENOSPC:when={when}+", "always")
    assert "failed absent\n" in lines
    assert "dead\n" in lines
    seqs = acknowledged(lines)
    loaded = load(tmp_path, "s")
    assert (loaded.events[-1].seq, loaded.torn) == (max(seqs, default=1), 0)
    with Journal.open(tmp_path, "s", resume=True) as journal:
        journal.turn(user="after")


def test_a_disk_that_cannot_even_be_cut_back(tmp_path):
    """After a failed sync the truncation fails too: the unacknowledged record may stay, whole, and is then a
    record."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    lines = traced(tmp_path, "fdatasync,ftruncate:error=EIO:when=5+", "always", path="s/journal.jsonl")
    seqs = acknowledged(lines)
    events = load(tmp_path, "s").events
    assert [event.seq for event in events] == list(range(len(events)))
    assert events[-1].seq in {max(seqs), max(seqs) + 1}


@pytest.mark.parametrize("call", ["fsync", "fdatasync", "rename", "mkdir"])
def test_a_session_that_cannot_be_made(tmp_path, call):
    """A fault while a session is made: it is there whole afterwards, or not there; and can then be made."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace.log"
    calls = {"rename": "rename,renameat,renameat2", "mkdir": "mkdir,mkdirat"}.get(call, call)
    wrapper = (
        "strace",
        "-f",
        "-o",
        str(log),
        "-e",
        f"trace={calls}",
        "-e",
        f"inject={calls}:error=EIO:when=1",
    )
    process = child("appender", tmp_path / "root", "s", "always", 3, wrapper=wrapper, stderr=-3)
    lines = process.stdout.readlines()
    process.stdout.close()
    assert process.wait() != 0
    assert acknowledged(lines) == []
    with contextlib.suppress(Exception):
        assert load(tmp_path / "root", "s").torn == 0
    with Journal.open(tmp_path / "root", "s", create=True) as journal:
        journal.turn(user="after")
    assert len(load(tmp_path / "root", "s").messages()) == 1


@pytest.mark.parametrize("there", ["journal", "directory"])
def test_names_that_a_killed_process_left_are_made_durable(tmp_path, monkeypatch, there):
    """It may have died between making a name and syncing the directory that holds it."""
    session = tmp_path / "root" / "s"
    session.mkdir(parents=True)
    if there == "journal":
        forge.put(tmp_path / "root", forge.log([forge.turn()]))
    synced = []
    fsync = os.fsync

    def noted(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with Journal.open(tmp_path / "root", "s", create=True):
        assert {session, session.parent} <= set(synced)


def append_for_ever(journal, kept):
    while True:
        text = f"{len(kept)} " + "x" * 700
        journal.append("user/message", {"message": {"role": "user", "content": text}})
        kept.append(text)


def fill(journal):
    """Append until the disk is full; returns the texts that were acknowledged."""
    kept = []
    with pytest.raises(JournalFailed) as failed:
        append_for_ever(journal, kept)
    assert failed.value.outcome == "absent"
    assert failed.value.kind == "failed"
    return kept


@pytest.mark.parametrize("sync", ["always", "group", "os"])
def test_a_full_disk(tmp_path, sync):
    with disks.tmpfs(tmp_path / "small", "64k") as small:
        filler = small / "filler"
        filler.write_bytes(bytes(16 * 1024))
        with Journal.open(small, "s", create=True, sync=sync) as journal:
            journal.append("turn/start", {"turn": 0})
            kept = fill(journal)
            with pytest.raises(JournalFailed):
                journal.append("turn/end", {"turn": 0, "reason": "done"})
            with pytest.raises(JournalFailed):
                journal.messages()
        loaded = load(small, "s")
        assert loaded.torn == 0, "the half-written record was cut back"
        assert [message["content"] for message in loaded.messages()] == kept
        filler.unlink()
        with Journal.open(small, "s", resume=True) as journal:
            journal.turn(user="after")
        assert load(small, "s").messages()[-1]["content"] == "after"


def test_a_disk_that_fills_while_a_raw_stream_comes(tmp_path):
    with disks.tmpfs(tmp_path / "small", "64k") as small:
        with Journal.open(small, "s", create=True) as journal:
            turn = journal.turn(user="hello")
            body = streams.delta({"content": "x" * 1000}) * 100 + streams.DONE
            with pytest.raises(JournalFailed):
                list(turn.stream(body[at : at + 512] for at in range(0, len(body), 512)))
            with pytest.raises(JournalFailed):
                journal.append("turn/end", {"turn": 0, "reason": "done"})
        assert len(load(small, "s").messages()) == 1


def test_a_disk_that_fills_while_something_is_refused(tmp_path):
    with disks.tmpfs(tmp_path / "small", "64k") as small:
        with Journal.open(small, "s", create=True) as journal:
            refused = 0
            try:
                while was_refused(journal):
                    refused += 1
            except JournalFailed:
                assert 0 < refused < 100
        assert load(small, "s").torn == 0


def was_refused(journal):
    with pytest.raises(Refused):
        journal.append(*forge.result("", content="x" * 5000))
    return True


def test_modes_of_what_is_made(tmp_path):
    previous = os.umask(0)
    try:
        with Journal.open(FileStore(tmp_path / "a" / "root"), "s", create=True) as journal:
            turn = journal.turn(user="hello")
            list(turn.stream([streams.WHOLE]))
            with contextlib.suppress(Refused):
                journal.append("tool/result", {})
        with (tmp_path / "a" / "root" / "s" / "journal.jsonl").open("ab") as torn:
            torn.write(b"torn")
        Journal.open(FileStore(tmp_path / "a" / "root"), "s").close()
    finally:
        os.umask(previous)
    made = list((tmp_path / "a").rglob("*"))
    assert {path.name for path in made} >= {"journal.jsonl", "quarantine.jsonl", "raw", "backup", "lock"}
    for path in made:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
