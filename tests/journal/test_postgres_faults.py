"""PostgreSQL that is killed, connections that break at commit, workers that race: what was acknowledged is
there, once."""

from __future__ import annotations

import os
import threading
import time

import pytest

from deltafold.journal import Journal, JournalCorrupt, JournalFailed, JournalLocked, SessionLost, load
from deltafold.journal.loading import follow
from tests.journal import figures, forge, postgres_server
from tests.journal.processes import acknowledged, child
from tests.journal.proxy import Proxy

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")

# After the extra is known to be there.
from deltafold.journal.stores import postgres as module  # noqa: E402
from deltafold.journal.stores.postgres import PostgresStore  # noqa: E402

ROUNDS = 20 if "DELTAFOLD_JOURNAL_LONG" in os.environ else 2


def text(number):
    return {"message": {"role": "user", "content": f"record {number}"}}


def numbers(store, session):
    messages = load(store, session).messages()
    return [int(message["content"].split()[1]) for message in messages]


@pytest.fixture
def proxied(server, postgres):
    """A store whose connections go through a proxy, and the proxy."""
    proxy = Proxy(server.port)
    address = server.address.replace(f":{server.port}/", f":{proxy.port}/")
    yield PostgresStore(address, schema=postgres.schema), proxy
    proxy.close()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_connection_lost_at_commit(proxied, postgres, moment):
    """Whether the record arrived is not known from the answer that never came; it is read."""
    store, proxy = proxied
    journal = Journal.open(store, "s", create=True)
    journal.append("turn/start", {"turn": 0})
    for number in range(8):
        journal.append("user/message", text(number))
    proxy.break_next(b"record 8", moment)
    if moment == "after":
        journal.append("user/message", text(8))
        journal.append("user/message", text(9))
        journal.close()
        assert numbers(postgres, "s") == list(range(10))
    else:
        with pytest.raises(JournalFailed) as failed:
            journal.append("user/message", text(8))
        assert failed.value.outcome == "absent"
        with pytest.raises(JournalFailed):
            journal.append("user/message", text(9))
        journal.close()
        assert numbers(postgres, "s") == list(range(8))
        with Journal.open(store, "s") as again:
            again.append("user/message", text(8))
        assert numbers(postgres, "s") == list(range(9))
    assert proxy.broken == 1


def test_a_server_that_stays_away_leaves_the_outcome_unknown(proxied, postgres, monkeypatch):
    monkeypatch.setattr(module, "_RECONNECTS", 3)
    monkeypatch.setattr(module, "_RECONNECT_PAUSE", 0.01)
    store, proxy = proxied
    journal = Journal.open(store, "s", create=True)
    journal.append("turn/start", {"turn": 0})
    proxy.refusing = True
    proxy.break_next(b"record 0", "after")
    with pytest.raises(JournalFailed) as failed:
        journal.append("user/message", text(0))
    assert failed.value.outcome == "unknown"
    journal.close()
    proxy.refusing = False
    assert numbers(postgres, "s") == [0], "reopening tells: it was written"


def test_another_worker_took_over_while_the_connection_was_lost(proxied, postgres):
    store, proxy = proxied
    journal = Journal.open(store, "s", create=True)
    journal.append("turn/start", {"turn": 0})
    proxy.refusing = True
    taken: list[Journal] = []

    def take_over() -> None:
        while not proxy.broken:
            time.sleep(0.01)
        while True:
            try:
                taken.append(Journal.open(postgres, "s"))
            except JournalLocked:
                time.sleep(0.05)
            else:
                break
        proxy.refusing = False

    thread = threading.Thread(target=take_over)
    thread.start()
    proxy.break_next(b"record 0", "before")
    with pytest.raises(SessionLost):
        journal.append("user/message", text(0))
    thread.join()
    taken[0].append("user/message", text(1))
    with pytest.raises(JournalFailed):
        journal.append("user/message", text(0))
    journal.close()
    taken[0].close()
    assert numbers(postgres, "s") == [1]


def test_a_worker_that_lost_its_session_cannot_write(server, postgres):
    """Taken over although its connection lives (a stopped process, say): nothing of it is written any
    more."""
    old = Journal.open(postgres, "s", create=True)
    old.append("turn/start", {"turn": 0})
    with pytest.raises(JournalLocked) as locked:
        Journal.open(postgres, "s")
    assert (locked.value.pid, locked.value.host) == (os.getpid(), os.uname().nodename)
    new = Journal.open(PostgresStore(server.address, schema=postgres.schema, takeover=True), "s")
    with pytest.raises(SessionLost, match="epoch"):
        old.append("user/message", text(0))
    with pytest.raises(JournalFailed):
        old.append("user/message", text(0))
    new.append("user/message", text(1))
    turn = new.current_turn
    assert turn is not None
    old.close()
    new.close()
    assert numbers(postgres, "s") == [1]


def test_nothing_else_of_a_lost_worker_is_kept_either(server, postgres):
    """Its quarantine and raw streams are fenced too."""
    old = Journal.open(postgres, "s", create=True)
    turn = old.turn(user="record 0")
    new = Journal.open(PostgresStore(server.address, schema=postgres.schema, takeover=True), "s")
    with pytest.raises(SessionLost):
        old.append("user/message", {})
    with pytest.raises(JournalFailed):
        list(turn.stream([b"data: {}\n\n"]))
    old.close()
    new.close()
    with postgres.read("s") as log:
        assert list(log.refused_lines()) == []
        assert log.raw_names() == []


def test_two_workers_race_for_one_session(server, postgres):
    """Processes that open one session at once: one has it, and its records are the only ones."""
    for number in range(2):
        racers = [child("postgres_worker", server.address, postgres.schema, f"s{number}") for _ in range(3)]
        first = [racer.stdout.readline().split()[0] for racer in racers]
        assert sorted(first) == ["locked", "locked", "open"]
        time.sleep(0.2)
        outputs = []
        for racer in racers:
            racer.kill()
            outputs.append(racer.stdout.readlines())
            racer.wait()
            racer.stdout.close()
        seqs = acknowledged([line for output in outputs for line in output])
        events = load(postgres, f"s{number}").events
        assert [event.seq for event in events] == list(range(len(events)))
        assert events[-1].seq >= max(seqs, default=0)


def test_a_killed_worker_frees_its_session(server, postgres):
    racer = child("postgres_worker", server.address, postgres.schema, "s")
    assert racer.stdout.readline().startswith("open")
    racer.kill()
    lines = racer.stdout.readlines()
    racer.wait()
    racer.stdout.close()
    for _ in range(100):
        try:
            journal = Journal.open(postgres, "s", resume=True)
        except JournalLocked:
            time.sleep(0.05)
        else:
            break
    with journal:
        journal.turn(user="record 0")
    assert load(postgres, "s").events[-1].seq > max(acknowledged(lines), default=0)


def test_a_flipped_bit_in_a_row_is_damage_also_in_the_last(postgres):
    with Journal.open(postgres, "s", create=True) as journal:
        journal.append("turn/start", {"turn": 0})
    with postgres.connect() as connection:
        for seq in (2, 1):
            connection.execute(
                f"UPDATE {postgres.schema}.record SET line = set_byte(line, 30, get_byte(line, 30) # 1)"  # noqa: S608
                " WHERE session = 's' AND seq = %s",
                (seq,),
            )
            with pytest.raises(JournalCorrupt) as corrupt:
                load(postgres, "s")
            assert corrupt.value.seq == seq
            with pytest.raises(JournalCorrupt):
                Journal.open(postgres, "s")


def test_a_server_killed_under_load():
    """kill -9 of every process of the server while eight workers write, round after round."""
    with postgres_server.running() as server:
        store = PostgresStore(server.address)
        kept: dict[str, list[int]] = {f"s{worker}": [] for worker in range(8)}
        unknown = 0
        for _ in range(ROUNDS):
            stop = threading.Event()
            outcomes: list[str] = []

            def work(session: str, stop: threading.Event = stop, outcomes: list[str] = outcomes) -> None:
                journal = Journal.open(store, session, create=True, resume=True)
                seen = kept[session]
                try:
                    journal.append("turn/start", {"turn": journal.state.last_turn + 1})
                    while not stop.is_set():
                        journal.append("user/message", text(seen[-1] + 1 if seen else 0))
                        seen.append(seen[-1] + 1 if seen else 0)
                except JournalFailed as failed:
                    outcomes.append(failed.outcome)
                finally:
                    journal.writer.log.close()

            threads = [threading.Thread(target=work, args=(session,)) for session in kept]
            for thread in threads:
                thread.start()
            goal = {session: len(seen) + 3 for session, seen in kept.items()}
            while any(len(kept[session]) < wanted for session, wanted in goal.items()):
                assert all(thread.is_alive() for thread in threads)
                time.sleep(0.01)
            server.kill()
            server.start()
            stop.set()
            for thread in threads:
                thread.join()
            unknown += outcomes.count("unknown")
            for session, seen in kept.items():
                there = numbers(store, session)
                assert there[: len(seen)] == seen, "an acknowledged record is lost, or there twice"
                assert len(there) - len(seen) <= 1
                kept[session] = there
        assert unknown == 0, "the server came back: every outcome could be read"
        assert all(len(seen) > ROUNDS for seen in kept.values())
        total = sum(map(len, kept.values()))
        figures.note(
            f"PostgreSQL killed -9 under eight workers: {ROUNDS} kills, {total} records, none lost or doubled"
        )


def test_a_notification_only_wakes(postgres, monkeypatch):
    """A forged one delivers nothing, and a record that nobody told of is read all the same."""
    monkeypatch.setattr(module, "_LOOK_AGAIN", 0.05)
    with Journal.open(postgres, "s", create=True) as journal, postgres.connect() as forger:
        journal.append("turn/start", {"turn": 0})
        following = follow(postgres, "s", timeout=60.0)
        assert [next(following).seq, next(following).seq] == [0, 1]
        monkeypatch.setattr(module.PostgresWriteLog, "channel", "where nobody listens")

        def write_later() -> None:
            for _ in range(5):
                time.sleep(0.02)
                forger.execute("SELECT pg_notify(%s, %s)", (f"{postgres.schema}_appended", '{"seq":2}'))
            journal.append("user/message", text(0))

        later = threading.Thread(target=write_later)
        later.start()
        assert next(following).data == text(0)
        later.join()
        following.close()


def test_a_row_is_inserted_at_the_expected_seq_only(postgres):
    """Somebody else wrote there, by whatever way: the append fails and changes nothing."""
    journal = Journal.open(postgres, "s", create=True)
    journal.append("turn/start", {"turn": 0})
    with postgres.connect() as other:
        insert = f"INSERT INTO {postgres.schema}.record VALUES ('s', %s, 'x')"  # noqa: S608
        other.execute(insert, (2,))
        with pytest.raises(psycopg.errors.UniqueViolation):
            other.execute(insert, (1,))
        with pytest.raises(JournalFailed) as failed:
            journal.append("user/message", text(0))
        assert failed.value.outcome == "absent"
        with pytest.raises(JournalFailed):
            journal.append("user/message", text(0))
        journal.close()
        with pytest.raises(JournalCorrupt) as corrupt:
            load(postgres, "s")
        assert corrupt.value.seq == 2
        other.execute(f"DELETE FROM {postgres.schema}.record WHERE seq = 2")  # noqa: S608
    assert numbers(postgres, "s") == []
    with Journal.open(postgres, "s", resume=True) as again:
        assert again.state.next_seq == 3


def test_a_database_without_our_tables(server):
    store = PostgresStore(server.address, schema="nothing_here")
    assert list(store.sessions()) == []
    with pytest.raises(Exception, match="there is no session"):
        load(store, "s")
    with pytest.raises(Exception, match="there is no session"):
        Journal.open(store, "s")


def test_a_schema_is_a_plain_name(server):
    with pytest.raises(ValueError, match="small letters"):
        PostgresStore(server.address, schema='x"; DROP TABLE record; --')


def test_the_address_alone_names_the_store(server):
    with Journal.open(server.address, "by-address", create=True) as journal:
        journal.append(*forge.turn())
    assert len(load(server.address, "by-address").events) == 3
