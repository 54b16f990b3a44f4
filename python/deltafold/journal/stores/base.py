"""What a store gives: where the bytes of sessions lie.

No rule is known here; `reader` and `writer` bring those.

Both stores hold the same lines. A session's log reads as if it were one file: a line has an offset, and
offsets count bytes of the lines before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it lies there.

    `data` ends with LF unless the log ends without one or the line is longer than a reader looks at; `size`
    is its true number of bytes.
    """

    offset: int
    data: bytes
    size: int


class Promise(Protocol):
    """An append that is on its way to the disk."""

    def wait(self) -> None:
        """Return once it is there. Raises `OSError` (or the store's own error) when it is not."""
        ...

    def when_settled(self, callback: Callable[[], None]) -> None:
        """Call back once `wait` would not block, on whichever thread settles it."""
        ...


class RawSink(Protocol):
    """A raw stream being kept: bytes exactly as they came."""

    name: str
    """What a record calls it: `raw/<stream>.sse` or `raw/<stream>.sse.zst`."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep a chunk; it is durable only after `finish`."""
        ...

    def finish(self) -> tuple[str, int]:
        """Make it durable. Returns the sha256 (hex) and the count of the bytes that were written."""
        ...

    def abandon(self) -> None:
        """Close without a promise; what is there stays there."""
        ...


class ReadLog(Protocol):
    """One session's log for reading. Reading never blocks a writer."""

    session: str
    location: str
    tears: bool
    """Whether a crash can leave a torn tail; where it cannot, a bad last line is damage like any other."""

    def lines(self, *, seq: int = 0, offset: int = 0) -> Iterator[Line]:
        """Yield the lines from a seq on, which begins at this offset."""
        ...

    def refused_lines(self) -> Iterator[Line]:
        """Yield the lines of the quarantine."""
        ...

    def raw_names(self) -> list[str]:
        """Return the names of the raw streams, sorted."""
        ...

    def read_raw(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a raw stream as the gateway sent them. Raises `OSError` where there is none."""
        ...

    def wait(self, *, seq: int, offset: int, timeout: float) -> bool:
        """Wait until something may stand behind this point, at most `timeout` seconds; whether it may."""
        ...

    def backup(self) -> str | None:
        """Return where the newest backup of a repair is, if there is one."""
        ...


class WriteLog(ReadLog, Protocol):
    """One session's log, held by its one writer."""

    inline: bool
    """Whether `commit` returns at once and only its promise waits; else it blocks until the records are
    durable."""

    def drop_tail(self, offset: int) -> str | None:
        """Cut a torn tail that begins at `offset`, keeping a copy; returns where the copy is."""
        ...

    def commit(self, seq: int, lines: list[bytes]) -> Promise:
        """Put lines behind what is there; the first has this seq.

        Raises `OSError` (or the store's error) when they could not be put; then the log is cut back to the
        last durable record where that can be done, and takes nothing more.
        """
        ...

    def keep_refused(self, line: bytes) -> Promise:
        """Put a line into the quarantine."""
        ...

    def raw_sink(self, stream: str) -> RawSink:
        """Begin to keep a raw stream under a name that was not used before."""
        ...

    def close(self) -> None:
        """Give the session back. Waits for nothing."""
        ...


class Store(Protocol):
    """Many sessions under one root."""

    location: str

    def sessions(self) -> Iterator[str]:
        """Yield the ids of all sessions, in the order of their names."""
        ...

    def read(self, session: str) -> AbstractContextManager[ReadLog]:
        """Open a session for reading. Raises `JournalMissing`."""
        ...

    def write(self, session: str, *, first_line: Callable[[], bytes] | None, exclusive: bool) -> WriteLog:
        """Take a session for writing.

        `first_line` makes the `session/start` line of a session that is not there yet; without it
        `JournalMissing` is raised. With `exclusive` a session that is there raises `JournalExists`. Raises
        `JournalLocked` when another writer has it.
        """
        ...
