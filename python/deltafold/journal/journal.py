"""`Journal`: a session that can be written, and always read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypedDict

from deltafold.journal import closers
from deltafold.journal.adopt import Adoption
from deltafold.journal.history import History, Wire
from deltafold.journal.opening import TornTail, open_writer, store_of
from deltafold.journal.reader import Reader
from deltafold.journal.turn import Content, Turn, user_entry

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from types import TracebackType

    from deltafold.journal.raw import Compression
    from deltafold.journal.state import State
    from deltafold.journal.stores.base import Store
    from deltafold.journal.stores.file import Sync
    from deltafold.journal.writer import Entry, Writer


def opening_entries(state: State, user: Content | dict[str, Any] | None) -> tuple[int, list[Entry]]:
    """Return the number of the next turn and the records that begin it.

    An open turn at whose calls nothing is open ends first.
    """
    entries: list[Entry] = []
    if state.turn is not None:
        reason = "done" if state.at_rest else closers.INTERRUPTED
        entries.append(("turn/end", {"turn": state.turn, "reason": reason}))
    number = state.last_turn + 1
    entries.append(("turn/start", {"turn": number}))
    if user is not None:
        entries.append(user_entry(user))
    return number, entries


def closing_entries(state: State) -> list[Entry]:
    """Return the records of a clean close.

    A turn at rest ends, one that waits for more is left for `resume`.
    """
    entries: list[Entry] = []
    if state.turn is not None and state.at_rest:
        entries.append(("turn/end", {"turn": state.turn, "reason": "done"}))
    return [*entries, ("session/close", {})]


class OpenOptions(TypedDict, total=False):
    """The options of `Journal.open`."""

    create: bool
    exclusive: bool
    resume: bool
    sync: Sync
    raw: bool
    compression: Compression
    quarantine: bool
    cwd: str | None
    meta: dict[str, Any] | None


class Journal:
    """One session, open for writing. Use `Journal.open`, best as a context manager.

    Every record is judged by J1 to J8 before a byte is written, and a method that records returns when the
    record is on the disk (by the store's `sync`). Several threads may use one journal; one process may write
    a session at a time.
    """

    def __init__(self, writer: Writer, torn: TornTail | None, *, raw: bool = True) -> None:
        """Wrap a writer; `Journal.open` makes one."""
        self.writer = writer
        self.keeps_raw = raw
        self._history: History | None = None
        self._turn: Turn | None = None
        self._closed = False
        self.torn = torn
        """The torn tail that was cut when the session was opened, or None."""

    @classmethod
    def open(  # noqa: PLR0913  (each is a choice of its own, named)
        cls,
        root: str | os.PathLike[str] | Store,
        session: str,
        *,
        create: bool = False,
        exclusive: bool = False,
        resume: bool = False,
        sync: Sync = "always",
        raw: bool = True,
        compression: Compression = None,
        quarantine: bool = True,
        cwd: str | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Journal:
        """Open a session for writing.

        root: a directory, a `postgresql://` address (extra `postgres`), or a store. create: make the session
        where it is not there; with exclusive, refuse one that is. resume: close an interrupted turn. sync:
        "always", "group" or "os" (files only). raw: keep the bytes of every response, compressed with "zstd"
        (extra `zstd`) if asked. quarantine: keep refused events. cwd, meta: written into the first record of
        a new session.

        Raises `BadSessionId`, `JournalMissing`, `JournalExists`, `JournalLocked`, `UnknownFormat`,
        `JournalCorrupt`.
        """
        store = store_of(root, sync=sync, compression=compression)
        writer, torn = open_writer(
            store,
            session,
            create=create or exclusive,
            exclusive=exclusive,
            cwd=cwd,
            meta=meta,
            keep_refused=quarantine,
        )
        journal = cls(writer, torn, raw=raw)
        if resume:
            try:
                journal.resume()
            except BaseException:
                writer.log.close()
                raise
        return journal

    @property
    def session(self) -> str:
        """The session's id."""
        return self.writer.log.session

    @property
    def location(self) -> str:
        """Where the history lies: the path of its file, or its table and session."""
        return self.writer.log.location

    @property
    def state(self) -> State:
        """What the records amount to: next seq, open turn, calls without a result. A copy."""
        return self.writer.state.copy()

    def append(self, kind: str, data: dict[str, Any]) -> int:
        """Write one record and return its seq once it is durable.

        Raises `Refused` (with the rule) for one that no reader would accept; it is then in quarantine. Raises
        `JournalFailed` after a failed write or sync: the journal then accepts nothing until it is opened
        again.
        """
        return self.append_all([(kind, data)])

    def append_all(self, entries: list[Entry]) -> int:
        """Write several records in one step, all or none, and return the first's seq."""
        return int(self.writer.append(entries)[0].seq)

    def turn(self, user: Content | dict[str, Any] | None = None) -> Turn:
        """Begin a turn, with a user message if one is given; an open turn ends first.

        Raises `Refused` (J6) while a call has no result: answer it, or `resume()`.
        """
        number, entries = opening_entries(self.writer.state, user)
        self._leave_turn()
        self.writer.append(entries)
        self._turn = Turn(self.writer, number, raw=self.keeps_raw)
        return self._turn

    @property
    def current_turn(self) -> Turn | None:
        """The open turn, also one that was open when the session was opened; None outside of one."""
        number = self.writer.state.turn
        if number is None:
            return None
        if self._turn is None or self._turn.number != number:
            self._turn = Turn(self.writer, number, raw=self.keeps_raw)
        return self._turn

    def resume(self) -> bool:
        """Close an interrupted turn with ordinary records; whether there was one.

        A call that had started is answered as `outcome-unknown`, one that had not as `not-started`. Then
        `messages()` is a history that every provider accepts.
        """
        entries = closers.close_turn(self.writer.state)
        if entries:
            self._leave_turn()
            self.writer.append(entries)
        return bool(entries)

    def adopt(self, messages: Iterable[dict[str, Any]]) -> list[str]:
        """Take over chat messages that another program kept, broken as they may be.

        Pairing is by position where ids are empty; an empty id is replaced by one of I10; a call without a
        result is answered as `outcome-unknown`; a call without a name and a result without a call go to
        quarantine. Returns what was changed or set aside, in words. Every record passes J1 to J8.
        """
        self._leave_turn()
        return Adoption(self.writer).take(messages)

    def messages(self, wire: Wire = "openai-chat") -> list[dict[str, Any]]:
        """Return the history as the messages of the next request; they are the caller's own.

        Over a chat session asked for another wire, what only its own wire knows (signed thinking, items) is
        left out. While a call has no result, no provider accepts the history.
        """
        self.writer.check_alive()
        with self.writer.paused():
            if self._history is None:
                self._history = History()
                for event in Reader(self.writer.log).events():
                    self._history.add(event)
                self.writer.listener = self._history.add
            return self._history.messages(wire)

    def _leave_turn(self) -> None:
        if self._turn is not None:
            self._turn.abandon()
            self._turn = None

    def close(self, *, clean: bool = True) -> None:
        """Give the session back; a clean close says so in the log (`session/close`). May be called again."""
        if self._closed:
            return
        self._closed = True
        self._leave_turn()
        try:
            if clean and not self.writer.dead:
                self.writer.append(closing_entries(self.writer.state))
        finally:
            self.writer.close()

    def __enter__(self) -> Self:
        """Return the journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close.

        After an exception the file is as whole, so the close is as clean; an open turn waits for `resume`.
        """
        self.close()
