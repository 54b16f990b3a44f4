"""The writer: it asks the rules first, writes second, and after a failed write or sync it is dead."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltafold.journal import quarantine, record, rules
from deltafold.journal.errors import JournalFailed, Place, Refused
from deltafold.journal.record import Event
from deltafold.journal.state import advance

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from deltafold.journal.state import State
    from deltafold.journal.stores.base import Promise, RawSink, WriteLog

Entry = tuple[str, dict[str, Any]]
"""What a record is to say: its type and its data."""


class Writer:
    """The one writer of a session, behind a log that was read to its end.

    `append` is `begin` and then `wait`; several threads may append, each record is judged and put in one
    step.
    """

    def __init__(
        self, log: WriteLog, state: State, salt: bytes, size: int, *, keep_refused: bool = True
    ) -> None:
        """Take over a log that was read to its end."""
        self.log = log
        self.state = state
        self.salt = salt
        self.size = size
        self.keep_refused = keep_refused
        self._guard = threading.RLock()
        self._process = os.getpid()
        self._failure: str | None = None
        self.listener: Callable[[Event], None] | None = None
        """Called with every event that was put."""

    def begin(self, entries: Sequence[Entry], *, stream: str | None = None) -> tuple[list[Event], Promise]:
        """Judge and put records, all or none; they are on the disk once the promise is kept.

        Raises `Refused` for the first that may not follow (nothing is then written to the history) and
        `JournalFailed`.
        """
        with self._guard:
            self.check_alive()
            events, lines = self._judge(entries, stream)
            try:
                promise = self.log.commit(events[0].seq, lines)
            except OSError as error:
                raise self._died(error) from error
            except JournalFailed as error:
                self._failure = str(error)
                raise
            for event in events:
                advance(self.state, event)
                if self.listener is not None:
                    self.listener(event)
            self.size += sum(map(len, lines))
        return events, promise

    def _judge(self, entries: Sequence[Entry], stream: str | None) -> tuple[list[Event], list[bytes]]:
        ahead = self.state if len(entries) == 1 else self.state.copy()
        events: list[Event] = []
        lines: list[bytes] = []
        offset = self.size
        for position, (kind, data) in enumerate(entries):
            event = Event(self.state.next_seq + position, record.now(), kind, data)
            verdict = rules.admit(ahead, event)
            if verdict is not None:
                raise self._refuse(event, verdict, offset, stream)
            if len(entries) > 1:
                advance(ahead, event)
            lines.append(record.encode(event, self.salt))
            events.append(event)
            offset += len(lines[-1])
        return events, lines

    def _refuse(self, event: Event, verdict: rules.Verdict, offset: int, stream: str | None) -> Refused:
        if self.keep_refused:
            self.quarantine(verdict.rule, verdict.reason, event.type, event.data, stream)
        place = Place(self.log.session, self.log.location, event.seq, offset)
        return Refused(place, verdict.rule, verdict.reason)

    def quarantine(self, rule: str, reason: str, kind: object, data: object, stream: str | None) -> None:
        """Keep something out of the history, durably. Raises `JournalFailed`."""
        line = quarantine.encode(
            rule=rule, reason=reason, kind=kind, data=data, stream=stream, salt=self.salt
        )
        with self._guard:
            self.check_alive()
            with self.dying():
                promise = self.log.keep_refused(line)
        self.wait(promise)

    def wait(self, promise: Promise) -> None:
        """Return once a promise is kept. Raises `JournalFailed`, after which the writer is dead."""
        try:
            promise.wait()
        except OSError as error:
            raise self._died(error) from error
        except JournalFailed as error:
            self._failure = str(error)
            raise

    def append(self, entries: Sequence[Entry], *, stream: str | None = None) -> list[Event]:
        """Put records and return once they are on the disk; raises as `begin` and `wait` do."""
        events, promise = self.begin(entries, stream=stream)
        self.wait(promise)
        return events

    def raw_sink(self, stream: str) -> RawSink:
        """Begin to keep a raw stream. Raises `JournalFailed`."""
        with self._guard:
            self.check_alive()
            with self.dying():
                return self.log.raw_sink(stream)

    @contextmanager
    def dying(self) -> Generator[None]:
        """Turn a failed write or sync into `JournalFailed`: after it the writer accepts nothing more."""
        try:
            yield
        except OSError as error:
            raise self._died(error) from error
        except JournalFailed as error:
            self._failure = str(error)
            raise

    def _died(self, error: OSError) -> JournalFailed:
        """Accept nothing more; return the error to raise."""
        self._failure = f"a write or sync failed ({error}); reopen the session"
        place = {"session": self.log.session, "location": self.log.location}
        return JournalFailed(self._failure, **place, outcome="absent")

    def check_alive(self) -> None:
        """Raise `JournalFailed` when nothing more is accepted."""
        if self._failure is None and self._process != os.getpid():
            self._failure = "the session was opened in another process; a forked child opens its own"
        if self._failure is not None:
            raise JournalFailed(
                self._failure, session=self.log.session, location=self.log.location, outcome="absent"
            )

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no record be put meanwhile."""
        with self._guard:
            yield

    def close(self) -> None:
        """Give the session back."""
        with self._guard:
            if self._failure is None:
                self._failure = "the journal is closed"
            self.log.close()

    @property
    def dead(self) -> bool:
        """Whether nothing more is accepted: a write or sync has failed, or the journal is closed."""
        return self._failure is not None
