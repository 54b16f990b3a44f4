"""The session log whose writer obeys its reader.

`Journal` (and `AsyncJournal`) write a session; `load` and `check` read one; every record passes one judge,
`rules.admit`, on its way in and on its way out. See `docs/journal.md`.
"""

from __future__ import annotations

from deltafold.journal.aio import AsyncJournal, AsyncRun, AsyncTurn, AsyncTurnStream
from deltafold.journal.errors import (
    JournalCorrupt,
    JournalError,
    JournalExists,
    JournalFailed,
    JournalLocked,
    JournalMissing,
    Refused,
    SessionLost,
    UnknownFormat,
)
from deltafold.journal.journal import Journal
from deltafold.journal.loading import Loaded, load
from deltafold.journal.names import BadSessionId
from deltafold.journal.opening import TornTail
from deltafold.journal.record import Event
from deltafold.journal.rules import RULES, Rule, Verdict, admit
from deltafold.journal.state import State
from deltafold.journal.stores.file import FileStore
from deltafold.journal.turn import Run, Turn, TurnStream

__all__ = [
    "RULES",
    "AsyncJournal",
    "AsyncRun",
    "AsyncTurn",
    "AsyncTurnStream",
    "BadSessionId",
    "Event",
    "FileStore",
    "Journal",
    "JournalCorrupt",
    "JournalError",
    "JournalExists",
    "JournalFailed",
    "JournalLocked",
    "JournalMissing",
    "Loaded",
    "Refused",
    "Rule",
    "Run",
    "SessionLost",
    "State",
    "TornTail",
    "Turn",
    "TurnStream",
    "UnknownFormat",
    "Verdict",
    "admit",
    "load",
]
