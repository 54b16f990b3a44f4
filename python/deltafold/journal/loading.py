"""Loading a session without writing it: what its records say, and where they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from deltafold.journal.history import History, Wire
from deltafold.journal.opening import store_of
from deltafold.journal.reader import Reader

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from deltafold.journal.record import Event
    from deltafold.journal.state import State
    from deltafold.journal.stores.base import Store


_WAKE_UP: Final = 60.0


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session as it was read.

    `events` are its records in order, `state` what they amount to, `size` their bytes, `torn` the bytes of a
    torn tail behind them (also those of a record that a live writer is just putting).
    """

    session: str
    location: str
    events: tuple[Event, ...]
    state: State
    size: int
    torn: int

    def messages(self, wire: Wire = "openai-chat") -> list[dict[str, Any]]:
        """Return the history as messages; see `Journal.messages`."""
        history = History()
        for event in self.events:
            history.add(event)
        return history.messages(wire)


def follow(
    root: str | os.PathLike[str] | Store, session: str, *, after: int = -1, timeout: float | None = None
) -> Iterator[Event]:
    """Yield a session's events with a seq above `after`, then those that its writer adds.

    Ends after `timeout` seconds without a new one; with None it does not end. Being woken is only a hint:
    what is yielded was read, and judged, from the log. Raises as `load` does.
    """
    with store_of(root).read(session) as log:
        reader = Reader(log)
        while True:
            for event in reader.events():
                if event.seq > after:
                    yield event
            seq, offset = reader.state.next_seq, reader.size + reader.torn
            while not log.wait(seq=seq, offset=offset, timeout=_WAKE_UP if timeout is None else timeout):
                if timeout is not None:
                    return


def load(root: str | os.PathLike[str] | Store, session: str) -> Loaded:
    """Read a session; no writer is held up and nothing is changed.

    Raises `JournalMissing`, `UnknownFormat`, and `JournalCorrupt` for anything but a torn tail.
    """
    with store_of(root).read(session) as log:
        reader = Reader(log)
        events = tuple(reader.events())
        return Loaded(session, log.location, events, reader.state, reader.size, reader.torn)
