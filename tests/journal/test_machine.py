"""A state machine against a plain list: append, crash at byte n, flip a bit, reopen, resume."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from deltafold.journal import FileStore, Journal, JournalCorrupt, Refused, load
from deltafold.journal.check import check
from deltafold.journal.repair.apply import apply_plan
from deltafold.journal.repair.plan import plan_repair
from deltafold.journal.targets import targets_of
from tests.journal import forge, strategies

EXAMPLES = 300 if "DELTAFOLD_JOURNAL_LONG" in os.environ else 25


class Machine(RuleBasedStateMachine):
    """The model is `kept`: what was acknowledged, in order, from the first record behind the start."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="deltafold-machine-"))
        self.path = self.root / "s" / "journal.jsonl"
        self.kept: list[tuple[str, Any]] = []
        self.journal: Journal | None = None

    @initialize()
    def create(self) -> None:
        self.journal = Journal.open(FileStore(self.root, sync="os"), "s", create=True)

    def teardown(self) -> None:
        self._drop()
        shutil.rmtree(self.root)

    def _drop(self) -> None:
        """The process is gone; nothing is written in going."""
        if self.journal is not None:
            self.journal.close(clean=False)
            self.journal = None

    def _tell(self, entries: list[tuple[Any, Any]]) -> None:
        assert self.journal is not None
        for kind, data in entries:
            try:
                self.journal.append(kind, data)
            except Refused:
                continue
            self.kept.append((kind, data))

    @precondition(lambda self: self.journal is not None)
    @rule(entries=st.lists(strategies.ENTRIES, max_size=4))
    def append_anything(self, entries: list[tuple[Any, Any]]) -> None:
        self._tell(entries)

    @precondition(lambda self: self.journal is not None)
    @rule(entries=strategies.sessions(), count=st.integers(1, 12))
    def append_a_session(self, entries: list[tuple[str, Any]], count: int) -> None:
        self._tell(entries[:count])

    @precondition(lambda self: self.journal is not None)
    @rule()
    def close(self) -> None:
        assert self.journal is not None
        before = self.journal.state
        self.journal.close()
        self.journal = None
        if before.turn is not None and before.at_rest:
            self.kept.append(("turn/end", {"turn": before.turn, "reason": "done"}))
        self.kept.append(("session/close", {}))

    @precondition(lambda self: self.journal is not None)
    @rule()
    def kill(self) -> None:
        self._drop()

    @precondition(lambda self: self.journal is not None)
    @rule(
        entry=strategies.ENTRIES,
        part=st.floats(0, 1, exclude_max=True),
        tail=st.sampled_from([b"", b"\0" * 9, b"\n"]),
    )
    def crash_in_a_write(self, entry: tuple[Any, Any], part: float, tail: bytes) -> None:
        """The record was not acknowledged; only its first bytes are there."""
        self._drop()
        salt = bytes.fromhex(load(self.root, "s").events[0].data["salt"])
        with contextlib.suppress(TypeError, ValueError):
            line = forge.line(len(self.kept) + 1, *entry, salt)
            with self.path.open("ab") as file:
                file.write(line[: int(part * (len(line) - 1))] + tail)

    @precondition(lambda self: self.journal is None)
    @rule(resume=st.booleans())
    def reopen(self, resume: bool) -> None:  # noqa: FBT001
        self.journal = Journal.open(FileStore(self.root, sync="os"), "s")
        if resume:
            before = self.journal.state
            self.journal.resume()
            added = load(self.root, "s").events[before.next_seq :]
            self.kept += [(event.type, event.data) for event in added]
            assert self.journal.state.turn is None
            assert len(added) == (0 if before.turn is None else before.unanswered + 1)

    @precondition(lambda self: self.journal is None)
    @rule(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def flip_a_bit_and_repair(self, place: float, bit: int) -> None:
        """The flip is noticed. In a record that has others behind it, repair finds it and puts it back."""
        data = self.path.read_bytes()
        position = int(place * len(data))
        flipped = bytearray(data)
        flipped[position] ^= 1 << bit
        self.path.write_bytes(bytes(flipped))
        try:
            loaded = load(self.root, "s")
        except JournalCorrupt:
            assert check(next(targets_of(str(self.root), "s"))).exit_code == 2
            plan = plan_repair(next(targets_of(str(self.root), "s")))
            apply_plan(plan)
            repaired = [(event.type, event.data) for event in load(self.root, "s").events[1:]]
            assert repaired[: len(self.kept)] == self.kept
            assert {kind for kind, _ in repaired[len(self.kept) :]} == {"session/repair"}
        else:
            assert loaded.torn > 0
            assert len(loaded.events) - 1 >= len(self.kept) - 1
        self.path.write_bytes(data)

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        if self.path.exists():
            events = load(self.root, "s").events
            assert [(event.type, event.data) for event in events[1:]] == self.kept


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=EXAMPLES, stateful_step_count=20, deadline=None)
