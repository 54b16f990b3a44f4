"""The file store: one directory a session, one writer a session.

<root>/<session id, percent-encoded>/
    journal.jsonl          the history, append-only
    quarantine.jsonl       what was refused
    raw/<stream>.sse[.zst] what the gateway sent
    backup/                copies made before anything is cut or repaired
    lock                   the writer's `flock`; holds its process id
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from deltafold.journal import names, record, syncer
from deltafold.journal.errors import JournalExists, JournalLocked, JournalMissing
from deltafold.journal.raw import Compression, FileSink, read_stream
from deltafold.journal.stores import files

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from deltafold.journal.stores.base import Line
    from deltafold.journal.syncer import Ticket

JOURNAL: Final = "journal.jsonl"
QUARANTINE: Final = "quarantine.jsonl"
RAW: Final = "raw"
BACKUP: Final = "backup"
LOCK: Final = "lock"
_POLL: Final = 0.05

Sync = Literal["always", "group", "os"]
"""When an append returns: after its own sync, after one shared with all that wait, or once the operating
system has it (a power cut may then lose the tail).
"""


class FileReadLog:
    """A session's directory, for reading."""

    tears = True

    def __init__(self, session: str, path: Path, directory: int, name: str = JOURNAL) -> None:
        """Read from this directory, which `close` closes."""
        self.session = session
        self.location = str(path / name)
        self.path = path
        self.directory = directory
        self.name = name

    def lines(self, *, seq: int = 0, offset: int = 0) -> Iterator[Line]:  # noqa: ARG002  (a file is read by offset)
        """Yield the lines of the journal from an offset on."""
        return self._lines_of(self.name, offset)

    def wait(self, *, seq: int, offset: int, timeout: float) -> bool:  # noqa: ARG002
        """Wait until the journal is longer than `offset`, by looking at it now and then."""
        until = time.monotonic() + timeout
        while os.stat(self.name, dir_fd=self.directory).st_size <= offset:
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _POLL))
        return True

    def refused_lines(self) -> Iterator[Line]:
        """Yield the lines of the quarantine; none where nothing was refused."""
        try:
            yield from self._lines_of(QUARANTINE)
        except FileNotFoundError:
            return

    def _lines_of(self, name: str, offset: int = 0) -> Iterator[Line]:
        descriptor = files.open_file(self.directory, name, os.O_RDONLY)
        with open(descriptor, "rb", buffering=files.BLOCK) as source:  # noqa: PTH123
            yield from files.split_lines(source, offset)

    def raw_names(self) -> list[str]:
        """Return the names of the raw streams, sorted."""
        try:
            folder = files.open_directory(RAW, within=self.directory)
        except FileNotFoundError:
            return []
        try:
            return sorted(f"{RAW}/{name}" for name in os.listdir(folder))  # noqa: PTH208  (of a descriptor)
        finally:
            os.close(folder)

    def read_raw(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a raw stream as the gateway sent them."""
        folder_name, _, file_name = name.partition("/")
        if folder_name != RAW or not file_name or "/" in file_name or file_name in {".", ".."}:
            raise FileNotFoundError(f"{name!r} is no raw stream of this session")
        folder = files.open_directory(RAW, within=self.directory)
        try:
            descriptor = files.open_file(folder, file_name, os.O_RDONLY)
        finally:
            os.close(folder)
        try:
            yield from read_stream(file_name, descriptor)
        finally:
            os.close(descriptor)

    def backup(self) -> str | None:
        """Return the newest backup of a repair."""
        folder = self.path / BACKUP
        try:
            found = sorted(name for name in os.listdir(folder) if name.startswith("repair-"))  # noqa: PTH208
        except OSError:
            return None
        return str(folder / found[-1]) if found else None

    def close(self) -> None:
        """Close the directory."""
        os.close(self.directory)


class FileWriteLog(FileReadLog):
    """A session's directory, held by its one writer."""

    def __init__(self, session: str, path: Path, directory: int, lock: int, sync: Sync) -> None:
        """Open the journal to append to it; `lock` and `directory` are closed by `close`."""
        super().__init__(session, path, directory)
        self._lock = lock
        self._sync: Sync = sync
        self.inline = sync != "always"
        self._guard = threading.RLock()  # a promise may be settled before `commit` returns
        self._journal = files.open_file(directory, JOURNAL, os.O_RDWR | os.O_APPEND)
        self._end = os.fstat(self._journal).st_size
        self._durable = self._end
        self._quarantine: int | None = None
        self._dead = False
        self._cut = False
        self._closed = False
        self._waiting: dict[int, Ticket] = {}
        self.compression: Compression = None
        _held.add(self)

    def drop_tail(self, offset: int) -> str | None:
        """Cut a torn tail, once a copy of it is durable."""
        folder = files.make_directory(BACKUP, within=self.directory)
        stamp = record.now().replace(":", "").replace(".", "")
        name = f"torn-{offset}-{stamp}"
        try:
            files.copy_range(self._journal, offset, folder, name)
        finally:
            os.close(folder)
        os.ftruncate(self._journal, offset)
        files.sync_data(self._journal)
        self._end = self._durable = offset
        return str(self.path / BACKUP / name)

    def commit(self, seq: int, lines: list[bytes]) -> Ticket:  # noqa: ARG002  (the file's end is the expected seq)
        """Append lines; see `WriteLog.commit`."""
        with self._guard:
            self._check_alive()
            try:
                data = b"".join(lines)
                files.write_all(self._journal, data)
                self._end += len(data)
                if self._sync == "always":
                    files.sync_data(self._journal)
            except OSError:
                self._cut_back()
                raise
            return self._promise(self._journal, self._end)

    def _promise(self, descriptor: int, end: int | None) -> Ticket:
        if self._sync == "group":
            ticket = self._waiting[descriptor] = syncer.shared().submit(descriptor)
            ticket.when_settled(lambda: self._settled(ticket, end))
            return ticket
        if end is not None:
            self._durable = end
        return syncer.kept()

    def _settled(self, ticket: Ticket, end: int | None) -> None:
        with self._guard:
            if ticket.error is not None:
                self._cut_back()
            elif end is not None and end > self._durable:
                if self._cut:  # its own sync has worked, but its bytes went with those of the one that failed
                    ticket.error = OSError("cut off with an earlier record, whose sync had failed")
                else:
                    self._durable = end

    def _cut_back(self) -> None:
        """Die; leave nothing behind the last durable record, where the disk still lets us."""
        if self._dead:
            return
        self._dead = self._cut = True
        with contextlib.suppress(OSError):
            os.ftruncate(self._journal, self._durable)
            files.sync_data(self._journal)

    def _check_alive(self) -> None:
        if self._dead:
            raise OSError("a write or sync failed before")

    def keep_refused(self, line: bytes) -> Ticket:
        """Append a line to the quarantine, made with it."""
        with self._guard:
            self._check_alive()
            try:
                if self._quarantine is None:
                    self._quarantine = self._open_quarantine()
                files.write_all(self._quarantine, line)
                if self._sync == "always":
                    files.sync_data(self._quarantine)
            except OSError:
                self._cut_back()
                raise
            return self._promise(self._quarantine, None)

    def _open_quarantine(self) -> int:
        descriptor = files.open_file(self.directory, QUARANTINE, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        os.fsync(self.directory)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            files.write_all(descriptor, b"\n")  # a torn line stays a bad line of its own
        return descriptor

    def raw_sink(self, stream: str) -> FileSink:
        """Begin a raw stream's file."""
        folder = files.make_directory(RAW, within=self.directory)
        return FileSink(folder, stream, self.compression)

    def close(self) -> None:
        """Give the lock back. May be called again."""
        if self._closed:
            return
        self._closed = True
        for ticket in self._waiting.values():  # a number that is given to another file must not be synced
            with contextlib.suppress(OSError):
                ticket.wait()
        self._dead = True
        os.close(self._journal)
        if self._quarantine is not None:
            os.close(self._quarantine)
        os.close(self._lock)
        super().close()

    def leave(self) -> None:
        """Close what a forked child has of its parent's session; the syncs that it waits for are not here."""
        self._waiting.clear()
        self.close()


_held: weakref.WeakSet[FileWriteLog] = weakref.WeakSet()


def _leave() -> None:
    """Let go of a parent's sessions in a forked child, which would keep their locks."""
    for log in list(_held):
        log.leave()


os.register_at_fork(after_in_child=_leave)


class FileStore:
    """Sessions as directories under one root.

    `sync` is `"always"` (default), `"group"` or `"os"`; `compression` is None or `"zstd"` (the extra `zstd`)
    for raw streams.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, sync: Sync = "always", compression: Compression = None
    ) -> None:
        """Keep the root; nothing is opened or made yet."""
        self.root = Path(root)
        self.location = str(self.root)
        self.sync: Sync = sync
        self.compression: Compression = compression

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions.

        A directory without a journal, or whose name encodes no id, is none.
        """
        for name in sorted(os.listdir(self.root)):  # noqa: PTH208  (names, not paths)
            session = names.session_id(name)
            if session is not None and os.path.lexists(self.root / name / JOURNAL):
                yield session

    def path(self, session: str) -> Path:
        """Return a session's directory."""
        return self.root / names.directory_name(session)

    @contextlib.contextmanager
    def read(self, session: str) -> Generator[FileReadLog]:
        """Open a session for reading."""
        log = self._open_read(session)
        try:
            yield log
        finally:
            log.close()

    def _open_read(self, session: str) -> FileReadLog:
        path = self.path(session)
        try:
            directory = files.open_directory(str(path))
        except FileNotFoundError:
            raise self._missing(session) from None
        log = FileReadLog(session, path, directory)
        try:
            os.close(files.open_file(directory, JOURNAL, os.O_RDONLY))
        except OSError as error:
            log.close()
            if isinstance(error, FileNotFoundError):
                raise self._missing(session) from None
            raise
        return log

    def _missing(self, session: str) -> JournalMissing:
        return JournalMissing(
            f"there is no session {session!r} in {self.location}", session=session, location=self.location
        )

    def write(
        self, session: str, *, first_line: Callable[[], bytes] | None, exclusive: bool = False
    ) -> FileWriteLog:
        """Take a session for writing; see `Store.write`."""
        path = self.path(session)
        directory = self._session_directory(session, create=first_line is not None)
        try:
            lock = self._lock(session, path, directory)
        except BaseException:
            os.close(directory)
            raise
        try:
            self._begin(session, directory, first_line, exclusive=exclusive)
            log = FileWriteLog(session, path, directory, lock, self.sync)
        except BaseException:
            os.close(lock)
            os.close(directory)
            raise
        log.compression = self.compression
        return log

    def _lock(self, session: str, path: Path, directory: int) -> int:
        lock = files.lock(directory, LOCK)
        if lock is None:
            raise JournalLocked(session=session, location=str(path), pid=files.lock_holder(directory, LOCK))
        return lock

    def _session_directory(self, session: str, *, create: bool) -> int:
        name = names.directory_name(session)
        if not create:
            try:
                return files.open_directory(str(self.root / name))
            except FileNotFoundError:
                raise self._missing(session) from None
        root = files.make_root(self.location)
        try:
            return files.make_directory(name, within=root)
        finally:
            os.close(root)

    def _begin(
        self, session: str, directory: int, first_line: Callable[[], bytes] | None, *, exclusive: bool
    ) -> None:
        """Make the journal where it is not there (or empty), whole or not at all."""
        try:
            size = os.stat(JOURNAL, dir_fd=directory, follow_symlinks=False).st_size
        except FileNotFoundError:
            size = 0
        if size and exclusive:
            raise JournalExists(
                f"session {session!r} is there already", session=session, location=self.location
            )
        if not size:
            if first_line is None:
                raise self._missing(session)
            files.write_new(directory, JOURNAL, first_line())
        elif self.sync != "os":
            os.fsync(directory)  # whoever made the file may have been killed before its name was durable
        if self.sync != "os":
            files.sync_directory(self.location)  # the same of the directory
