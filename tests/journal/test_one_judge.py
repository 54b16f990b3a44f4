"""Accepted by append if and only if accepted by load, for any sequence of events."""

from __future__ import annotations

import copy
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deltafold.journal import FileStore, Journal, JournalCorrupt, Refused, load, record, rules
from deltafold.journal.record import Event
from deltafold.journal.state import State, advance
from tests.journal import forge, strategies

EXAMPLES = int(os.environ.get("DELTAFOLD_JOURNAL_EXAMPLES", "80"))


def loads(data: bytes) -> str | None:
    """The rule by which a reader refuses a log, or None."""
    try:
        forge.read(data)
    except JournalCorrupt as corrupt:
        return corrupt.rule
    return None


def appended(entries: list[tuple[Any, Any]]) -> list[tuple[bool, tuple[Any, Any]]]:
    """What append says of each event in turn; then the file must load and hold exactly the accepted ones."""
    verdicts: list[tuple[bool, tuple[Any, Any]]] = []
    with tempfile.TemporaryDirectory() as root:
        with Journal.open(FileStore(root, sync="os"), "s", create=True) as journal:
            for kind, data in entries:
                try:
                    journal.append(kind, copy.deepcopy(data))
                except Refused:
                    verdicts.append((False, (kind, data)))
                else:
                    verdicts.append((True, (kind, data)))
            journal.close(clean=False)
        kept = [(event.type, event.data) for event in load(root, "s").events[1:]]
        assert kept == [entry for accepted, entry in verdicts if accepted]
        refused = sum(not accepted for accepted, _ in verdicts)
        quarantine = Path(root) / "s" / "quarantine.jsonl"
        assert (len(quarantine.read_bytes().splitlines()) if quarantine.exists() else 0) == refused
    return verdicts


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(strategies.mutated(), strategies.sessions(), st.lists(strategies.ENTRIES, max_size=8)))
def test_accepted_by_append_if_and_only_if_accepted_by_load(entries: list[tuple[Any, Any]]) -> None:
    salt = secrets.token_bytes(16)
    kept: list[tuple[Any, Any]] = []
    for accepted, entry in appended(entries):
        seq = len(kept) + 1
        forged = forge.log(kept, salt=salt) + forge.line(seq, *entry, salt)
        assert (loads(forged) is None) == accepted, entry
        if accepted:
            kept.append(entry)


@settings(max_examples=EXAMPLES, deadline=None)
@given(strategies.sessions())
def test_healthy_sessions_are_accepted(entries: list[tuple[str, Any]]) -> None:
    assert all(accepted for accepted, _ in appended(entries))


@settings(max_examples=EXAMPLES, deadline=None)
@given(strategies.sessions(), st.data())
def test_the_judge_itself_with_seq_and_time(entries: list[tuple[str, Any]], data: st.DataObject) -> None:
    """As above for the two members that append sets itself."""
    salt = secrets.token_bytes(16)
    state = State(session="s")
    lines: list[bytes] = []
    for seq, (kind, members) in enumerate([forge.start("s", salt), *entries]):
        wounded = data.draw(st.integers(0, 9)) == 0
        event = Event(
            data.draw(strategies.JUNK) if wounded else seq,
            data.draw(st.one_of(strategies.JUNK, st.just(record.now()))) if wounded else forge.TIME,
            kind,
            members,
        )
        verdict = rules.admit(state, event)
        lines.append(forge.line(event.seq, event.type, event.data, salt, time=event.time))
        assert loads(b"".join(lines)) == (verdict.rule if verdict else None)
        if verdict is not None:
            return
        advance(state, event)
