"""Processes that die, stop, race and are copied: what was acknowledged stays, and one writer has a
session."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
import warnings
from itertools import pairwise

import pytest

from deltafold.journal import Journal, JournalCorrupt, JournalFailed, JournalLocked, load
from deltafold.journal.targets import targets_of
from tests.journal import figures
from tests.journal.processes import acknowledged, child

ROUNDS = 200 if "DELTAFOLD_JOURNAL_LONG" in os.environ else 5


def wait_for(process, word):
    for line in process.stdout:
        if line.startswith(word):
            return line
    raise AssertionError(f"the child ended without {word!r}")


def stop(process):
    process.kill()
    rest = process.stdout.readlines()
    process.wait()
    process.stdout.close()
    return rest


@pytest.mark.parametrize("sync", ["always", "group"])
def test_sigkill_in_a_loop(tmp_path, sync):
    """A killed process loses nothing that it acknowledged; the next one goes on in the same session."""
    chance = random.Random(7)
    expected = -1
    total = 0
    for _ in range(ROUNDS):
        process = child("appender", tmp_path, "s", sync)
        wait_for(process, "open")
        time.sleep(chance.uniform(0.0, 0.05))
        seqs = acknowledged(stop(process))
        loaded = load(tmp_path, "s")
        last = loaded.events[-1].seq
        assert all(a < b for a, b in pairwise(seqs))
        assert last >= max(seqs, default=expected)
        expected = last
        total += len(seqs)
    with Journal.open(tmp_path, "s", resume=True) as journal:
        assert journal.state.turn is None
    assert expected > 0
    figures.note(f"SIGKILL, sync={sync}: {ROUNDS} kills, {total} acknowledged records, none lost")


def test_two_processes_race_for_one_session(tmp_path):
    for number in range(2):
        racers = [child("appender", tmp_path, f"s{number}", "os") for _ in range(3)]
        first = [racer.stdout.readline().split() for racer in racers]
        winners = [racer for racer, line in zip(racers, first, strict=True) if line[0] == "open"]
        assert len(winners) == 1
        holder = str(winners[0].pid)
        assert all(line == ["locked", holder] for line in first if line[0] != "open")
        with pytest.raises(JournalLocked) as locked:
            Journal.open(tmp_path, f"s{number}")
        assert locked.value.pid == winners[0].pid
        for racer in racers:
            stop(racer)
        Journal.open(tmp_path, f"s{number}").close()


def test_a_stopped_holder_keeps_its_session(tmp_path):
    process = child("appender", tmp_path, "s", "always")
    wait_for(process, "ack")
    process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(JournalLocked) as locked:
            Journal.open(tmp_path, "s")
        assert locked.value.pid == process.pid
        assert str(process.pid) in str(locked.value)
        assert load(tmp_path, "s").events, "readers are not held up"
    finally:
        process.send_signal(signal.SIGCONT)
    seqs = acknowledged(stop(process))
    with Journal.open(tmp_path, "s", resume=True):
        pass
    assert load(tmp_path, "s").events[-1].seq > max(seqs, default=0)


def test_a_directory_copied_under_a_live_writer(tmp_path):
    """The copy is no longer locked, holds what was acknowledged, and goes its own way."""
    process = child("appender", tmp_path / "one", "s", "always")
    seqs = [int(wait_for(process, "ack").split()[1]) for _ in range(5)]
    shutil.copytree(tmp_path / "one" / "s", tmp_path / "two" / "s")
    shutil.copytree(tmp_path / "one" / "s", tmp_path / "one" / "other")
    with Journal.open(tmp_path / "two", "s", resume=True) as copy:
        assert copy.state.next_seq > max(seqs)
        copy.turn(user="only in the copy")
    wait_for(process, "ack")
    stop(process)
    originals = [event.data for event in load(tmp_path / "one", "s").events]
    assert not any("only in the copy" in str(data) for data in originals)
    with pytest.raises(JournalCorrupt, match="belongs to session 's', not to 'other'"):
        Journal.open(tmp_path / "one", "other")


def test_a_forked_child_cannot_write(tmp_path):
    with Journal.open(tmp_path, "s", create=True) as journal:
        journal.turn(user="before")
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other tests have left threads
            child_id = os.fork()
        if child_id == 0:  # pragma: no cover  (another process)
            try:
                journal.append("user/message", {"message": {"role": "user", "content": "from the child"}})
            except JournalFailed:
                os.write(writing, b"refused")
            finally:
                os._exit(0)
        os.waitpid(child_id, 0)
        os.close(writing)
        assert os.read(reading, 100) == b"refused"
        os.close(reading)
        journal.turn(user="after")
    assert [message["content"] for message in load(tmp_path, "s").messages()] == ["before", "after"]


def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    """The parent closes while its child lives on: the session is free."""
    journal = Journal.open(tmp_path, "s", create=True)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other tests have left threads
        child_id = os.fork()
    if child_id == 0:  # pragma: no cover  (another process)
        os.read(reading, 1)
        os._exit(0)
    try:
        with pytest.raises(JournalLocked):
            Journal.open(tmp_path, "s")
        journal.close()
        journal.close()
        Journal.open(tmp_path, "s").close()
    finally:
        os.write(writing, b"x")
        os.waitpid(child_id, 0)
        os.close(reading)
        os.close(writing)


def test_a_look_at_the_lock_keeps_no_writer_out(tmp_path):
    """A check of a live root may come at any moment of an opening."""
    Journal.open(tmp_path, "s", create=True).close()
    stop = threading.Event()

    def look():
        while not stop.is_set():
            next(targets_of(str(tmp_path), "s")).is_live()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(50):
            Journal.open(tmp_path, "s", sync="os").close()
    finally:
        stop.set()
        thread.join()


def test_a_second_opening_in_one_process(tmp_path):
    with Journal.open(tmp_path, "s", create=True), pytest.raises(JournalLocked) as locked:
        Journal.open(tmp_path, "s")
    assert locked.value.pid == os.getpid()
    Journal.open(tmp_path, "s").close()


def test_a_reader_beside_a_live_writer_sees_whole_records_only(tmp_path):
    process = child("appender", tmp_path, "s", "group")
    wait_for(process, "ack")
    lengths = [len(load(tmp_path, "s").events) for _ in range(20)]
    stop(process)
    assert lengths == sorted(lengths)
