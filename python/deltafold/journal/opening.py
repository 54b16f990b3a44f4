"""Opening a session for writing.

Take it, read it to its end, cut a torn tail, and hand over to the writer.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltafold.journal import record, rules, shapes
from deltafold.journal.errors import JournalMissing, Place, Refused
from deltafold.journal.reader import Reader
from deltafold.journal.record import Event
from deltafold.journal.state import State
from deltafold.journal.stores.file import FileStore, Sync
from deltafold.journal.writer import Writer

if TYPE_CHECKING:
    from deltafold.journal.raw import Compression
    from deltafold.journal.stores.base import Store

POSTGRES_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class TornTail:
    """What was cut when the session was opened: how many bytes, from which offset, and where the copy is."""

    offset: int
    size: int
    backup: str | None


def store_of(
    root: str | os.PathLike[str] | Store, *, sync: Sync = "always", compression: Compression = None
) -> Store:
    """Return the store that a root names: a directory, a `postgresql://` address, or a store itself."""
    if isinstance(root, str) and root.startswith(POSTGRES_SCHEMES):
        from deltafold.journal.stores.postgres import PostgresStore  # noqa: PLC0415  (an extra)

        return PostgresStore(root)
    if isinstance(root, str | os.PathLike):
        return FileStore(root, sync=sync, compression=compression)
    return root


def writer_version() -> str:
    """Return what a record names as its writer."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (slow to import, needed once)

    try:
        return f"deltafold {version('deltafold')}"
    except PackageNotFoundError:
        return "deltafold"


def start_line(session: str, location: str, *, cwd: str | None, meta: dict[str, Any] | None) -> bytes:
    """Return a new log's first line, with a salt of its own.

    Raises `Refused` when the rules do not let it pass.
    """
    salt = secrets.token_bytes(record.SALT_BYTES)
    data: dict[str, Any] = {
        "format": shapes.FORMAT,
        "session": session,
        "writer": writer_version(),
        "salt": salt.hex(),
    }
    if cwd is not None:
        data["cwd"] = cwd
    if meta is not None:
        data["meta"] = meta
    event = Event(0, record.now(), "session/start", data)
    verdict = rules.admit(State(session=session), event)
    if verdict is not None:
        raise Refused(Place(session, location, 0, 0), verdict.rule, verdict.reason)
    return record.encode(event, salt)


def open_writer(  # noqa: PLR0913  (the options of `Journal.open`)
    store: Store,
    session: str,
    *,
    create: bool,
    exclusive: bool,
    cwd: str | None,
    meta: dict[str, Any] | None,
    keep_refused: bool,
) -> tuple[Writer, TornTail | None]:
    """Take a session for writing and read it to its end.

    Raises `JournalMissing`, `JournalExists`, `JournalLocked`, `UnknownFormat` and `JournalCorrupt`; the
    session is then given back, unchanged.
    """

    def first_line() -> bytes:
        return start_line(session, store.location, cwd=cwd, meta=meta)

    torn: TornTail | None = None
    for _ in range(2):  # a log of which even the first record is torn is begun anew
        log = store.write(session, first_line=first_line if create else None, exclusive=exclusive)
        try:
            reader = Reader(log)
            for _event in reader.events():
                pass
            if reader.torn and (create or reader.state.next_seq):
                torn = TornTail(reader.size, reader.torn, log.drop_tail(reader.size))
        except BaseException:
            log.close()
            raise
        if reader.salt is not None and reader.state.next_seq:
            return Writer(log, reader.state, reader.salt, reader.size, keep_refused=keep_refused), torn
        log.close()
        if not create:
            break
    message = f"session {session!r} has no record: its first one was torn"
    raise JournalMissing(message, session=session, location=store.location)
