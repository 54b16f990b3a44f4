"""What the journal refuses, and why: each error says session, place and rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deltafold.errors import DeltafoldError


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a log something is.

    The session, its file (or table), the record's seq and its first byte's offset.
    """

    session: str
    location: str
    seq: int | None
    offset: int | None

    def __str__(self) -> str:
        """Say it in one phrase."""
        where = "" if self.seq is None else f", seq {self.seq}"
        where += "" if self.offset is None else f", byte {self.offset}"
        return f"session {self.session!r}{where} ({self.location})"


class JournalError(DeltafoldError):
    """Anything the journal raises on purpose. `session` names the session, `location` its file or table.

    `kind` is the class in small words; `offset` counts bytes of the journal, `frame` and `partial` are always
    None.
    """

    _kind: ClassVar[str] = "journal"

    def __init__(self, message: str, *, session: str, location: str, offset: int | None = None) -> None:
        """Keep what is to be said, and of which session."""
        super().__init__(message, kind=self._kind, offset=offset)
        self.session = session
        self.location = location

    def __str__(self) -> str:
        """Say it as it stands: the place is in it."""
        return self.message

    @property
    def file(self) -> str:
        """The file that `location` names; of a database, the schema and the session."""
        return self.location


class Refused(JournalError):  # noqa: N818  (the contract's name)
    """An event that no reader would accept was not written; it is in quarantine unless that was turned off.

    `rule` is J1 to J8, `reason` says what is wrong, `seq` and `offset` say where the record would have stood.
    """

    _kind = "refused"

    def __init__(self, place: Place, rule: str, reason: str) -> None:
        """Say what was refused, and where it would have stood."""
        super().__init__(
            f"{rule}: {reason}; {place}", session=place.session, location=place.location, offset=place.offset
        )
        self.rule = rule
        self.reason = reason
        self.seq = place.seq


class JournalCorrupt(JournalError):  # noqa: N818  (the contract's name)
    """A log holds something that was not written by its rules. Nothing was changed.

    `rule`, `reason`, `seq` and `offset` (bytes from the start of the file) name the first fault; `backup` is
    a copy made by an earlier repair, where there is one; `command` shows everything that can still be read.
    """

    _kind = "corrupt"

    def __init__(self, place: Place, rule: str, reason: str, *, backup: str | None, command: str) -> None:
        """Say where the fault is, and what to do."""
        text = f"{rule}: {reason}; {place}; see what can be read with: {command}"
        if backup is not None:
            text += f"; backup: {backup}"
        super().__init__(text, session=place.session, location=place.location, offset=place.offset)
        self.rule = rule
        self.reason = reason
        self.seq = place.seq
        self.backup = backup
        self.command = command


class UnknownFormat(JournalError):  # noqa: N818  (reads as what it is)
    """The log has a format that this version does not know. Nothing was changed."""

    _kind = "unknown-format"


class JournalMissing(JournalError):  # noqa: N818
    """There is no such session, and none was to be made."""

    _kind = "missing"


class JournalExists(JournalError):  # noqa: N818
    """The session is there already, and was to be made anew."""

    _kind = "exists"


class JournalLocked(JournalError):  # noqa: N818  (the contract's name)
    """Another writer has the session.

    `pid` is its process where that is known, `host` its machine (PostgreSQL).
    """

    _kind = "locked"

    def __init__(self, *, session: str, location: str, pid: int | None, host: str | None = None) -> None:
        """Say who has it."""
        holder = "another writer" if pid is None else f"process {pid}"
        if host is not None:
            holder += f" on {host}"
        super().__init__(
            f"session {session!r} is open in {holder} ({location})", session=session, location=location
        )
        self.pid = pid
        self.host = host


class JournalFailed(JournalError):  # noqa: N818
    """A write or sync failed: the writer is dead and accepts nothing until the session is reopened.

    The record whose append raised this was not acknowledged. `outcome` is "absent" where it is known not to
    be in the log, "unknown" where only reopening tells.
    """

    _kind = "failed"

    def __init__(self, message: str, *, session: str, location: str, outcome: str) -> None:
        """Say what failed, and whether the record may be there."""
        super().__init__(f"{message}; session {session!r} ({location})", session=session, location=location)
        self.outcome = outcome


class SessionLost(JournalFailed):
    """Another worker has taken the session over: this one's fencing epoch is past (PostgreSQL)."""

    _kind = "lost"
