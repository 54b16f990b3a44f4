"""Group commit: one sync serves many, and each append still waits for one that came after it."""

from __future__ import annotations

import os
import threading
import time

import pytest

from deltafold.journal import Journal, JournalFailed, load, syncer
from deltafold.journal.crc32c import extend, extend_in_python
from deltafold.journal.stores import files
from deltafold.journal.syncer import Syncer, Ticket


@pytest.fixture
def slow_disk(monkeypatch):
    """A sync that waits until the test lets it go on; the syncer is a new one."""
    gate = threading.Semaphore(0)
    synced = []

    def sync_data(descriptor):
        gate.acquire()
        synced.append(descriptor)

    monkeypatch.setattr(files, "sync_data", sync_data)
    return gate, synced, Syncer()


def test_appends_that_wait_share_one_sync(slow_disk, tmp_path):
    """While one sync is under way a hundred appends come; one more sync serves them all."""
    gate, synced, shared = slow_disk
    descriptor = os.open(tmp_path / "x", os.O_CREAT | os.O_WRONLY)
    first = shared.submit(descriptor)
    while shared.batches == 0:
        pass
    others = [shared.submit(descriptor) for _ in range(100)]
    gate.release()
    first.wait()
    gate.release()
    for ticket in others:
        ticket.wait()
    os.close(descriptor)
    assert synced == [descriptor] * 2
    assert (shared.batches, shared.appends) == (2, 101)


def test_an_append_never_returns_by_a_sync_that_began_before_it(slow_disk, tmp_path):
    gate, _, shared = slow_disk
    descriptor = os.open(tmp_path / "x", os.O_CREAT | os.O_WRONLY)
    shared.submit(descriptor)
    while shared.batches == 0:
        pass
    late = shared.submit(descriptor)
    settled = threading.Event()
    late.when_settled(settled.set)
    gate.release()
    assert not settled.wait(0.05)
    gate.release()
    late.wait()
    assert settled.is_set()
    os.close(descriptor)


def test_a_failed_sync_reaches_all_who_waited(monkeypatch, tmp_path):
    def sync_data(_descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "sync_data", sync_data)
    shared = Syncer()
    descriptor = os.open(tmp_path / "x", os.O_CREAT | os.O_WRONLY)
    for ticket in [shared.submit(descriptor) for _ in range(5)]:
        with pytest.raises(OSError, match="Input/output error"):
            ticket.wait()
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        shared.submit(descriptor).wait()


def test_a_record_that_is_cut_off_with_an_earlier_one_is_not_acknowledged(tmp_path, monkeypatch):
    """It was put while the earlier one's sync was under way, which then failed; its own sync works."""
    inside, go_on = threading.Event(), threading.Event()
    sync_data = files.sync_data
    outcomes = {}

    def first_fails(descriptor):
        if not inside.is_set():
            inside.set()
            go_on.wait()
            raise OSError(5, "Input/output error")
        sync_data(descriptor)

    def work(name):
        try:
            outcomes[name] = journal.append("user/message", {"message": {"role": "user", "content": name}})
        except JournalFailed as failed:
            outcomes[name] = failed.outcome

    journal = Journal.open(tmp_path, "s", create=True, sync="group")
    journal.append("turn/start", {"turn": 0})
    monkeypatch.setattr(files, "sync_data", first_fails)
    first = threading.Thread(target=work, args=("first",))
    first.start()
    inside.wait()
    second = threading.Thread(target=work, args=("second",))
    second.start()
    while journal.state.next_seq < 4:
        time.sleep(0.001)
    go_on.set()
    first.join()
    second.join()
    journal.close()
    assert outcomes == {"first": "absent", "second": "absent"}
    assert load(tmp_path, "s").messages() == []


def test_a_file_is_closed_only_when_nothing_waits_for_its_sync(slow_disk, tmp_path, monkeypatch):
    """Another file may get its number, and would be synced in its place."""
    gate, synced, shared = slow_disk
    monkeypatch.setattr(syncer, "_shared", shared)
    gate.release(8)  # what making the session syncs
    journal = Journal.open(tmp_path, "s", create=True, sync="group")
    while gate.acquire(blocking=False):
        pass
    before = len(synced)
    _, promise = journal.writer.begin([("turn/start", {"turn": 0})])
    closing = threading.Thread(target=journal.close, kwargs={"clean": False})
    closing.start()
    closing.join(0.05)
    assert closing.is_alive()
    gate.release()
    closing.join()
    promise.wait()
    assert len(synced) == before + 1


def test_sixty_four_sessions_need_far_fewer_syncs_than_appends(tmp_path, monkeypatch):
    """On a disk whose syncs take a while, as disks' do."""
    shared = syncer.shared()
    sync_data = files.sync_data

    def slow(descriptor):
        time.sleep(0.005)
        sync_data(descriptor)

    monkeypatch.setattr(files, "sync_data", slow)
    monkeypatch.setattr(shared._whole_system, "choose", lambda _device: "files")
    journals = [Journal.open(tmp_path, f"s{number}", create=True, sync="group") for number in range(64)]
    batches, appends = shared.batches, shared.appends

    def work(journal):
        journal.append("turn/start", {"turn": 0})
        for number in range(10):
            journal.append("user/message", {"message": {"role": "user", "content": str(number)}})

    threads = [threading.Thread(target=work, args=(journal,)) for journal in journals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.appends - appends == 64 * 11
    assert (shared.batches - batches) * 5 <= shared.appends - appends, "a batch serves at least five appends"
    for journal in journals:
        journal.close()
        assert len(load(tmp_path, journal.session).messages()) == 10


def test_both_ways_of_syncing_many_are_used_and_promise_the_same(tmp_path):
    """The whole file system where it is trusted, each file otherwise; a failure of either reaches the
    waiters."""
    descriptors = [os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY) for number in range(8)]
    shared = Syncer()
    whole = shared._whole_system
    for way in ("system", "files"):
        whole.choose = lambda _device, way=way: way
        tickets = {descriptor: [Ticket()] for descriptor in descriptors}
        shared._sync(os.fstat(descriptors[0]).st_dev, tickets)
        for (ticket,) in tickets.values():
            ticket.wait()
    assert (shared.synced_systems, shared.synced_files) == (1, 8)
    whole.choose = lambda _device: "system"
    whole._syncfs = lambda _descriptor: 5
    ticket = Ticket()
    shared._sync(os.fstat(descriptors[0]).st_dev, {descriptors[0]: [ticket], descriptors[1]: [Ticket()]})
    with pytest.raises(OSError, match="Input/output error"):
        ticket.wait()
    for descriptor in descriptors:
        os.close(descriptor)


def test_the_cheaper_way_is_taken_and_the_other_tried_again():
    whole = Syncer()._whole_system
    whole._syncfs = lambda _descriptor: 0
    whole._trusted[1] = True
    costs = {"system": 0.010, "files": 0.001}
    taken = []
    for _ in range(100):
        way = whole.choose(1)
        taken.append(way)
        whole.learn(1, way, costs[way])
    assert 0 < taken.count("system") < 15
    costs = {"system": 0.001, "files": 0.010}
    for _ in range(200):
        way = whole.choose(1)
        taken.append(way)
        whole.learn(1, way, costs[way])
    assert taken[-50:].count("system") > 40


def test_a_file_system_that_is_not_trusted_is_never_synced_whole():
    whole = Syncer()._whole_system
    whole._trusted[1] = False
    assert {whole.choose(1) for _ in range(100)} == {"files"}


def test_crc_32c():
    """The published check value, in both implementations."""
    assert extend(0, b"123456789") == extend_in_python(0, b"123456789") == 0xE3069283
    assert extend(extend(0, b"1234"), b"56789") == 0xE3069283
    assert extend_in_python(extend_in_python(0, b""), bytes(range(256))) == extend(0, bytes(range(256)))
