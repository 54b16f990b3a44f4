"""Power cuts: what was acknowledged is on the disk, and a control shows that the test would notice."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading

import pytest

from deltafold.journal import FileStore, Journal, JournalFailed, JournalMissing, load
from tests.cli import streams
from tests.journal import disks, figures, forge

LONG = "DELTAFOLD_JOURNAL_LONG" in os.environ
ROUNDS = 400 if LONG else 40


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    with disks.ext4(tmp_path_factory.mktemp("power")) as disk:
        yield disk


def text(number):
    return {"message": {"role": "user", "content": f"record {number}"}}


def numbers(root, session):
    """The numbers of the records that are there after the power came back."""
    try:
        events = load(root, session).events
    except JournalMissing:
        return []
    return [
        int(event.data["message"]["content"].split()[1]) for event in events if event.type == "user/message"
    ]


def give_back(journal):
    """What remains of a process whose power was cut: its descriptors go."""
    journal.writer.log.close()


def append_and_lose_power(disk, sync, session, count):
    """Append; cut the power right after the last acknowledgement; return what was acknowledged and what is
    there."""
    root = disk.mount_point / "root"
    journal = Journal.open(root, session, create=True, sync=sync)
    acknowledged = []
    try:
        journal.append("turn/start", {"turn": 0})
        for number in range(count):
            journal.append("user/message", text(number))
            acknowledged.append(number)
        disk.cut_power()
    finally:
        give_back(journal)
    disk.restart()
    return acknowledged, numbers(root, session)


@pytest.mark.parametrize("sync", ["always", "group"])
def test_no_acknowledged_record_is_lost(disk, sync):
    """Each round is a new session: its directory, its file and its records must all be there."""
    lost = 0
    for number in range(ROUNDS):
        acknowledged, there = append_and_lose_power(disk, sync, f"{sync}-{number}", 1 + number % 4)
        lost += acknowledged != there
    figures.note(f"power cuts, sync={sync}: {ROUNDS} rounds, {lost} lost an acknowledged record")
    assert lost == 0, f"{lost} of {ROUNDS} rounds lost acknowledged records"


def test_without_the_sync_the_same_test_loses_records(disk):
    """The control: `sync="os"` promises nothing against a power cut, and keeps no more than that."""
    lost = 0
    rounds = max(5, ROUNDS // 4)
    for number in range(rounds):
        acknowledged, there = append_and_lose_power(disk, "os", f"os-{number}", 3)
        assert there == acknowledged[: len(there)], "what is there is a prefix"
        lost += acknowledged != there
    figures.note(f"power cuts, no sync: {rounds} rounds, {lost} lost records that were appended")
    assert lost > 0, "nothing was lost, so the test above shows nothing"


@pytest.mark.parametrize("sync", ["always", "group"])
def test_power_cut_in_the_middle_of_many_writers(disk, sync):
    """The cut comes at any moment of eight writers' work."""
    total = 0
    for number in range(60 if LONG else 3):
        root = disk.mount_point / f"many-{sync}-{number}"
        acknowledged: dict[str, list[int]] = {f"s{writer}": [] for writer in range(8)}
        stop = threading.Event()
        journals = [Journal.open(root, session, create=True, sync=sync) for session in acknowledged]

        def work(journal: Journal, seen: list[int], stop: threading.Event = stop) -> None:
            with contextlib.suppress(JournalFailed):
                journal.append("turn/start", {"turn": 0})
                while not stop.is_set():
                    journal.append("user/message", text(len(seen)))
                    seen.append(len(seen))

        threads = [
            threading.Thread(target=work, args=(journal, acknowledged[journal.session]))
            for journal in journals
        ]
        for thread in threads:
            thread.start()
        stop.wait(0.05 + 0.01 * number)
        # Taken before the cut: what a sync that is under way answers afterwards, nobody hears when the power
        # goes (ext4 may answer it with success although the shutdown has dropped the transaction).
        before = {session: list(seen) for session, seen in acknowledged.items()}
        disk.cut_power()
        stop.set()
        for thread in threads:
            thread.join()
        for journal in journals:
            give_back(journal)
        disk.restart()
        for session, seen in before.items():
            there = numbers(root, session)
            assert there[: len(seen)] == seen
            total += len(seen)
            with Journal.open(root, session, resume=True) as journal:
                journal.turn(user=f"record {len(there)}")
            assert numbers(root, session) == [*there, len(there)]
    figures.note(f"power cuts under eight writers, sync={sync}: {total} acknowledged records, none lost")


def test_the_raw_stream_of_an_acknowledged_answer_is_there(disk):
    root = disk.mount_point / "raw"
    for number in range(5):
        journal = Journal.open(root, f"s{number}", create=True)
        turn = journal.turn(user="hello")
        list(turn.stream([streams.WHOLE]))
        disk.cut_power()
        give_back(journal)
        disk.restart()
        stream = next(event for event in load(root, f"s{number}").events if "stream" in event.data).data[
            "stream"
        ]
        kept = (root / f"s{number}" / stream["file"]).read_bytes()
        assert kept == streams.WHOLE
        assert hashlib.sha256(kept).hexdigest() == stream["sha256"]


def test_what_was_refused_is_as_durable(disk):
    root = disk.mount_point / "refused"
    for number in range(5):
        journal = Journal.open(FileStore(root), f"s{number}", create=True)
        with contextlib.suppress(Exception):
            journal.append("tool/result", forge.result("")[1])
        disk.cut_power()
        give_back(journal)
        disk.restart()
        assert b'"rule":"J2"' in (root / f"s{number}" / "quarantine.jsonl").read_bytes()
