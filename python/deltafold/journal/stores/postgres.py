"""The PostgreSQL store (extra `postgres`): sessions for workers on more than one machine.

A record is a row with the primary key (session, seq), inserted at the expected seq only. A worker takes a
session by a lock of its connection and by raising the session's epoch; every write is fenced by that epoch,
so a worker that lost its session (a stopped process, a broken connection) can write nothing more. `NOTIFY`
only wakes readers; what they read comes from the table.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import time
from typing import TYPE_CHECKING, Any, Final, LiteralString, TypeAlias, cast

import psycopg
from psycopg import errors, sql

from deltafold.journal.errors import JournalExists, JournalFailed, JournalLocked, JournalMissing, SessionLost
from deltafold.journal.names import directory_name
from deltafold.journal.stores import postgres_sql as statements
from deltafold.journal.stores.base import Line
from deltafold.journal.syncer import Ticket, kept

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

_LOOK_AGAIN: Final = 5.0
_RECONNECTS: Final = 40
_RECONNECT_PAUSE: Final = 0.25
_BATCH_BYTES: Final = 1024 * 1024
_MAX_BATCH: Final = 1024
_RAW_PART: Final = 256 * 1024
_SCHEMA_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@contextlib.contextmanager
def reachable(location: str) -> Generator[None]:
    """Turn a broken or refused connection into `ConnectionError`, which is an `OSError` as of a disk."""
    try:
        yield
    except psycopg.OperationalError as error:
        raise ConnectionError(f"{location}: {error}") from error


class PostgresStore:
    """Sessions in a PostgreSQL database.

    address: what `psycopg.connect` takes. schema: where the tables are, made at the first write. takeover:
    take a session although another worker's connection holds it (that worker is then fenced off); without it
    that raises `JournalLocked`.
    """

    def __init__(self, address: str, *, schema: str = "deltafold", takeover: bool = False) -> None:
        """Keep the address; nothing is connected yet."""
        if _SCHEMA_NAME.fullmatch(schema) is None:
            raise ValueError(f"a schema is named by small letters, digits and _, not {schema!r}")
        self.address = address
        self.schema = schema
        self.takeover = takeover
        self.location = f"postgresql schema {schema}"

    def connect(self) -> Connection:
        """Return a new connection; each statement is a transaction of its own. Raises `ConnectionError`."""
        with reachable(self.location):
            connection = psycopg.connect(self.address, autocommit=True, connect_timeout=10)
        try:
            if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
                connection.execute("SET synchronous_commit = on")  # an acknowledged record is on the disk
        except BaseException:
            connection.close()
            raise
        return connection

    def statement(self, text: LiteralString) -> sql.Composed:
        """Return a statement for this store's schema."""
        return sql.SQL(text).format(s=sql.Identifier(self.schema))

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions."""
        last = ""
        with contextlib.closing(self.connect()) as connection, reachable(self.location):
            while True:
                try:
                    rows = connection.execute(self.statement(statements.SESSIONS), (last,)).fetchall()
                except errors.UndefinedTable:
                    return
                if not rows:
                    return
                for (session,) in rows:
                    yield cast("str", session)
                last = cast("str", rows[-1][0])

    @contextlib.contextmanager
    def read(self, session: str) -> Generator[PostgresReadLog]:
        """Open a session for reading."""
        with contextlib.closing(self.connect()) as connection:
            try:
                found = connection.execute(self.statement(statements.THERE), (session,)).fetchone()
            except errors.UndefinedTable:
                found = None
            if found is None:
                raise self._missing(session)
            yield PostgresReadLog(self, connection, session)

    def _missing(self, session: str) -> JournalMissing:
        return JournalMissing(
            f"there is no session {session!r} in {self.location}", session=session, location=self.location
        )

    def write(
        self, session: str, *, first_line: Callable[[], bytes] | None, exclusive: bool = False
    ) -> PostgresWriteLog:
        """Take a session for writing; see `Store.write`."""
        directory_name(session)  # the same ids are sessions in both stores
        connection = self.connect()
        try:
            with reachable(self.location):
                if first_line is not None:
                    self._make_tables(connection)
                self.take(connection, session, wait=False)
                epoch = self._enter(connection, session, first_line, exclusive=exclusive)
            return PostgresWriteLog(self, connection, session, epoch)
        except errors.UndefinedTable:
            connection.close()
            raise self._missing(session) from None
        except BaseException:
            connection.close()
            raise

    def _make_tables(self, connection: Connection) -> None:
        with connection.transaction():
            connection.execute(statements.SCHEMA_LOCK)
            for text in statements.SCHEMA:
                connection.execute(self.statement(text))

    def take(self, connection: Connection, session: str, *, wait: bool) -> None:
        """Take the lock that tells others that a live worker has the session. Raises `JournalLocked`.

        With `wait` the lock of this worker's own broken connection is given time to go.
        """
        for attempt in range(_RECONNECTS if wait else 1):
            if attempt:
                time.sleep(_RECONNECT_PAUSE)
            row = connection.execute(statements.TAKE, (f"{self.schema}/{session}",)).fetchone()
            if row == (True,) or self.takeover:
                return
        holder = connection.execute(self.statement(statements.HOLDER), (session,)).fetchone() or (None, None)
        raise JournalLocked(session=session, location=self.location, pid=holder[0], host=holder[1])

    def _enter(
        self, connection: Connection, session: str, first_line: Callable[[], bytes] | None, *, exclusive: bool
    ) -> int:
        """Begin the session where it is not there, and raise its epoch."""
        with connection.transaction():
            found = connection.execute(self.statement(statements.FOUND), (session,)).fetchone()
            if found is not None and exclusive:
                raise JournalExists(
                    f"session {session!r} is there already", session=session, location=self.location
                )
            if found is None:
                if first_line is None:
                    raise self._missing(session)
                connection.execute(self.statement(statements.BEGIN), (session,))
                connection.execute(self.statement(statements.FIRST), (session, first_line()))
            holder = (os.getpid(), socket.gethostname(), session)
            row = connection.execute(self.statement(statements.FENCE), holder).fetchone()
        return cast("int", row[0]) if row is not None else 0


class PostgresReadLog:
    """One session's rows, for reading."""

    tears = False

    def __init__(self, store: PostgresStore, connection: Connection, session: str) -> None:
        """Read over this connection."""
        self.store = store
        self.session = session
        self.location = f"{store.location}, session {session}"
        self._connection = connection

    def rows(self, text: LiteralString, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement. Raises `ConnectionError`."""
        with reachable(self.location):
            found: list[tuple[Any, ...]] = self._connection.execute(
                self.store.statement(text), values
            ).fetchall()
        return found

    def lines(self, *, seq: int = 0, offset: int = 0) -> Iterator[Line]:
        """Yield the lines from a seq on, in batches of about a megabyte."""
        batch = 16
        while True:
            rows = self.rows(statements.LINES, (self.session, seq, batch))
            for number, line in rows:
                yield Line(offset, line, len(line))
                offset += len(line)
                seq = number + 1
            if len(rows) < batch:
                return
            if sum(len(line) for _, line in rows) * 2 < _BATCH_BYTES:
                batch = min(batch * 2, _MAX_BATCH)

    def refused_lines(self) -> Iterator[Line]:
        """Yield the lines of the quarantine."""
        offset = 0
        for (line,) in self.rows(statements.REFUSED, (self.session,)):
            yield Line(offset, line, len(line))
            offset += len(line)

    def raw_names(self) -> list[str]:
        """Return the names of the raw streams, sorted."""
        return [name for (name,) in self.rows(statements.RAW_NAMES, (self.session,))]

    def read_raw(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a raw stream."""
        part = 0
        while rows := self.rows(statements.RAW_PART, (self.session, name, part)):
            yield rows[0][0]
            part += 1
        if part == 0:
            raise FileNotFoundError(f"{name!r} is no raw stream of this session")

    def wait(self, *, seq: int, offset: int, timeout: float) -> bool:  # noqa: ARG002  (a table is read by seq)
        """Wait to be woken, and look whether there is more; also when nobody woke it."""
        self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self.channel)))
        until = time.monotonic() + timeout
        while not self.rows(statements.BEHIND, (self.session, seq)):
            left = until - time.monotonic()
            if left <= 0:
                return False
            for _ in self._connection.notifies(timeout=min(left, _LOOK_AGAIN), stop_after=1):
                pass
        return True

    @property
    def channel(self) -> str:
        """The channel on which appends wake readers."""
        return f"{self.store.schema}_appended"[:63]

    def backup(self) -> str | None:
        """Return None: backups of a database are the database's own."""
        return None


class PostgresWriteLog(PostgresReadLog):
    """One session's rows, held by its one worker."""

    inline = False

    def __init__(self, store: PostgresStore, connection: Connection, session: str, epoch: int) -> None:
        """Write with this epoch."""
        super().__init__(store, connection, session)
        self.epoch = epoch

    def drop_tail(self, offset: int) -> str | None:
        """Refuse: rows do not tear."""
        raise OSError(f"a database has no torn tail (byte {offset})")

    def commit(self, seq: int, lines: list[bytes]) -> Ticket:
        """Insert lines at the expected seq, fenced; see `WriteLog.commit`.

        When the connection breaks before the answer, the session is fenced anew and the rows are read: they
        are there, and the append has worked, or they are not and never will be. Raises `SessionLost` and
        `JournalFailed`.
        """
        values = {"seq": seq, "lines": lines, "count": len(lines), "channel": self.channel}
        try:
            count = self._fenced(statements.APPEND, values)
        except psycopg.OperationalError as error:
            count = len(lines) if self._arrived(seq, lines, error) else 0
            if count == 0:
                raise self._failed(f"the connection broke before the record was written ({error})") from error
        except psycopg.Error as error:
            raise self._failed(f"the database refused the record ({error})") from error
        if count != len(lines):
            raise self._lost()
        return kept()

    def _fenced(self, text: LiteralString, values: Mapping[str, Any]) -> int:
        """Run a statement that writes by session and epoch; returns how many rows it wrote."""
        given = {"session": self.session, "epoch": self.epoch, **values}
        count: int = self._connection.execute(self.store.statement(text), given).rowcount
        return count

    def _arrived(self, seq: int, lines: list[bytes], cause: Exception) -> bool:
        """Whether an append whose answer was lost is in the table.

        It is known for certain once the session is fenced anew.
        """
        self._connection.close()
        self._connection = self._reconnected(cause)
        arrived = False
        try:
            fenced = self.rows(statements.REFENCE, (self.session, self.epoch))
            there = self.rows(statements.LINES, (self.session, seq, len(lines)))
            arrived = [line for _, line in there] == lines
            if not fenced:
                raise self._lost("present" if arrived else "absent") from cause
            self.epoch = fenced[0][0]
            with reachable(self.location):
                self.store.take(self._connection, self.session, wait=True)
        except JournalLocked:
            raise self._lost("present" if arrived else "absent") from cause
        except ConnectionError as again:
            raise self._failed(f"the connection broke again ({again})", outcome="unknown") from cause
        return arrived

    def _reconnected(self, cause: Exception) -> Connection:
        for _ in range(_RECONNECTS):
            try:
                return self.store.connect()
            except ConnectionError:
                time.sleep(_RECONNECT_PAUSE)
        raise self._failed(
            "the server is gone; only reopening tells what it has", outcome="unknown"
        ) from cause

    def _failed(self, message: str, *, outcome: str = "absent") -> JournalFailed:
        return JournalFailed(message, session=self.session, location=self.location, outcome=outcome)

    def _lost(self, outcome: str = "absent") -> SessionLost:
        return SessionLost(
            f"another worker has taken the session (epoch {self.epoch} is past); the record is {outcome}",
            session=self.session,
            location=self.location,
            outcome=outcome,
        )

    def keep_refused(self, line: bytes) -> Ticket:
        """Insert a line into the quarantine, fenced."""
        self._keep(statements.REFUSE, {"line": line})
        return kept()

    def keep_raw(self, stream: str, part: int, body: bytes) -> None:
        """Insert a part of a raw stream, fenced."""
        self._keep(statements.KEEP_RAW, {"stream": stream, "part": part, "body": body})

    def _keep(self, text: LiteralString, values: Mapping[str, Any]) -> None:
        try:
            count = self._fenced(text, values)
        except psycopg.Error as error:
            raise self._failed(f"the database did not take it ({error})") from error
        if count != 1:
            raise self._lost()

    def raw_sink(self, stream: str) -> PostgresSink:
        """Begin a raw stream."""
        return PostgresSink(self, stream)

    def close(self) -> None:
        """Give the session back."""
        self._connection.close()


class PostgresSink:
    """A raw stream on its way into the table, in parts; a crash loses the last part."""

    def __init__(self, log: PostgresWriteLog, stream: str) -> None:
        """Begin without a part."""
        self.name = f"raw/{stream}.sse"
        self._log = log
        self._parts = 0
        self._held = bytearray()
        self._digest = hashlib.sha256()
        self._count = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep a chunk."""
        self._digest.update(data)
        self._held += data
        self._count += len(data)
        if len(self._held) >= _RAW_PART:
            self._flush()

    def _flush(self) -> None:
        self._log.keep_raw(self.name, self._parts, bytes(self._held))
        self._parts += 1
        self._held.clear()

    def finish(self) -> tuple[str, int]:
        """Make it durable; returns sha256 and count of the bytes."""
        if self._held or self._parts == 0:
            self._flush()
        return self._digest.hexdigest(), self._count

    def abandon(self) -> None:
        """Forget what is not in the table yet."""
        self._held.clear()
