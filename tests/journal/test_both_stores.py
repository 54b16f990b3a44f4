"""The same journal over directories and over PostgreSQL."""

from __future__ import annotations

import threading
import time

import pytest

from deltafold.journal import (
    Journal,
    JournalExists,
    JournalLocked,
    JournalMissing,
    Refused,
    load,
)
from deltafold.journal.loading import follow
from deltafold.journal.quarantine import entries
from deltafold.journal.reader import Reader
from deltafold.journal.replay import replay
from tests.cli import streams
from tests.journal import forge
from tests.journal.test_resume import BROKEN, accepted_everywhere
from tests.journal.test_rules import ADMITTED, REFUSED


def test_a_session_from_beginning_to_end(store):
    with Journal.open(store, "session 7/ä", create=True, cwd="/somewhere", meta={"model": "m"}) as journal:
        turn = journal.turn(user="What is tea?")
        list(turn.stream([streams.WHOLE]))
        for call in turn.executable_calls:
            with turn.running(call) as run:
                run.result("a drink")
        list(turn.stream([streams.delta({"content": "Tea is a drink."}, "stop") + streams.DONE]))
        assert journal.messages() == load(store, "session 7/ä").messages()
        accepted_everywhere(journal)
    loaded = load(store, "session 7/ä")
    assert [event.seq for event in loaded.events] == list(range(len(loaded.events)))
    assert loaded.events[0].data["cwd"] == "/somewhere"
    assert loaded.state.closed
    assert list(store.sessions()) == ["session 7/ä"]
    with store.read("session 7/ä") as log:
        assert [row.outcome for row in replay(log)] == ["same", "same"]
        assert b"".join(log.read_raw(log.raw_names()[0])) == streams.WHOLE


def test_missing_and_existing(store):
    with pytest.raises(JournalMissing):
        load(store, "s")
    with pytest.raises(JournalMissing):
        Journal.open(store, "s")
    Journal.open(store, "s", create=True).close()
    with pytest.raises(JournalMissing):
        Journal.open(store, "t")
    with pytest.raises(JournalExists):
        Journal.open(store, "s", exclusive=True)
    Journal.open(store, "t", exclusive=True).close()
    assert list(store.sessions()) == ["s", "t"]


def test_one_writer_a_session(store):
    with Journal.open(store, "s", create=True):
        with pytest.raises(JournalLocked) as locked:
            Journal.open(store, "s")
        assert locked.value.pid is not None
        Journal.open(store, "t", create=True).close()
    Journal.open(store, "s").close()


@pytest.mark.parametrize("row", ADMITTED, ids=lambda row: row[0])
def test_admitted(postgres, row):
    """Over files these rows are those of `test_rules.py`."""
    with Journal.open(postgres, "s", create=True) as journal:
        for kind, data in [*row[1], row[2]]:
            journal.append(kind, data)
    event = load(postgres, "s").events[len(row[1]) + 1]
    assert (event.type, event.data) == row[2]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row[0]} {row[1]}")
def test_refused(postgres, row):
    rule, _, before, entry = row
    with Journal.open(postgres, "s", create=True) as journal:
        for kind, data in before:
            journal.append(kind, data)
        with pytest.raises(Refused) as refused:
            journal.append(*entry)
        assert (refused.value.rule, refused.value.seq) == (rule, len(before) + 1)
        journal.close(clean=False)
    loaded = load(postgres, "s")
    assert (len(loaded.events), loaded.size) == (len(before) + 1, refused.value.offset)
    with postgres.read("s") as log:
        reader = Reader(log)
        list(reader.events())
        (kept,) = entries(log, reader.salt)
    assert (kept.rule, kept.intact) == (rule, True)


@pytest.mark.parametrize("name", list(BROKEN)[:6])
def test_the_six_resumes(store, name):
    with Journal.open(store, "s", create=True) as journal:
        journal.adopt(BROKEN[name])
        accepted_everywhere(journal)
    accepted_everywhere(load(store, "s"))


def test_resume(store):
    journal = Journal.open(store, "s", create=True)
    journal.append_all(
        [forge.turn(), forge.user(), forge.assistant(forge.call(), forge.call("b")), forge.started()]
    )
    journal.writer.log.close()
    with Journal.open(store, "s", resume=True) as journal:
        accepted_everywhere(journal)
        assert [m["tool_call_id"] for m in journal.messages() if m["role"] == "tool"] == ["call_1", "b"]


def test_all_or_none(store):
    with Journal.open(store, "s", create=True) as journal:
        with pytest.raises(Refused):
            journal.append_all([forge.turn(), forge.user(), forge.turn(1)])
        assert journal.state.next_seq == 1
        journal.append_all([forge.turn(), forge.user()])
        assert len(load(store, "s").events) == 3


def test_many_threads_on_one_journal(store):
    with Journal.open(store, "s", create=True) as journal:
        journal.append(*forge.turn())

        def work(name):
            for number in range(20):
                journal.append(*forge.user(f"{name} {number}"))

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    texts = [message["content"] for message in load(store, "s").messages()]
    for name in "abcd":
        assert [text for text in texts if text[0] == name] == [f"{name} {number}" for number in range(20)]


def test_following_a_live_session(store):
    """A follower reads what a writer adds; being woken only tells it to look."""
    seen = []
    with Journal.open(store, "s", create=True) as journal:
        journal.append(*forge.turn())

        def read():
            for event in follow(store, "s", after=0, timeout=60.0):
                seen.append(event.seq)
                if event.seq == 31:
                    break

        thread = threading.Thread(target=read)
        thread.start()
        for number in range(30):
            journal.append(*forge.user(str(number)))
            if number % 10 == 0:
                time.sleep(0.05)
        thread.join()
    assert seen == list(range(1, 32))
    rest = follow(store, "s", after=31, timeout=0.01)
    assert [event.type for event in rest] == ["session/close"], "it ends when nothing new has come"


def test_listing_many_sessions(store):
    names = [f"s{number:03}" for number in range(30)]
    for name in names:
        Journal.open(store, name, create=True).close()
    assert list(store.sessions()) == names
