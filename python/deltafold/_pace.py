"""Sources that are read seldom: what comes within `read_every` seconds of a read is taken in one go.

Imported where it is asked for, since it brings asyncio.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold._responses import Read

GRAIN = 0.005
"""Connections whose time to be read again falls into one span of this many seconds are let go together."""
AT_HAND = 1 / 16
"""A pull that takes less than this part of `read_every` found its chunk waiting."""


class Connection(Protocol):
    """What of a connection is held and let go; aiohttp's protocol is one."""

    @property
    def transport(self) -> object: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Holds:
    """The connections of one event loop that are not read for the same number of seconds.

    One timer serves all of them. Whatever becomes of a stream meanwhile (cancelled, closed, forgotten), its
    connection is let go when its time has come: nothing else has to remember it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, read_every: float) -> None:
        """Hold nothing yet."""
        self.loop = loop
        self._read_every = read_every
        self._grain = min(GRAIN, read_every)
        self._due: deque[tuple[int, list[Connection]]] = deque()

    def hold(self, connection: Connection) -> None:
        """Read nothing more from a connection until the time has passed, or up to a grain less."""
        connection.pause_reading()
        due = int((self.loop.time() + self._read_every) / self._grain)
        if not self._due:
            self.loop.call_at(due * self._grain, self._let_go)
        if not self._due or self._due[-1][0] != due:
            self._due.append((due, []))
        self._due[-1][1].append(connection)

    def _let_go(self) -> None:
        _, connections = self._due.popleft()
        if self._due:
            self.loop.call_at(self._due[0][0] * self._grain, self._let_go)
        for connection in connections:
            if connection.transport is not None:
                connection.resume_reading()


_holds: WeakValueDictionary[tuple[int, float], Holds] = WeakValueDictionary()
"""By the loop's `id` and the seconds; kept alive by the streams, and by the loop while it has a timer."""


def holds_of_this_loop(read_every: float) -> Holds:
    """Give what holds connections of the running loop for so long."""
    loop = asyncio.get_running_loop()
    found = _holds.get((id(loop), read_every))
    if found is None or found.loop is not loop:  # the number may have been that of a loop that has gone
        found = _holds[id(loop), read_every] = Holds(loop, read_every)
    return found


def held(read: Read, connection: Callable[[], Connection | None], read_every: float) -> Read:
    """Give a function that reads, and leaves the connection alone afterwards.

    `connection` gives what is to be held, None once the body has ended: a connection goes back to its pool
    then, and only one that is being read comes there.
    """
    hold = holds_of_this_loop(read_every).hold

    async def read_then_hold() -> Any:  # noqa: ANN401
        data = await read()
        current = connection()
        if current is not None:
            hold(current)
        return data

    return read_then_hold


def spaced(read: Read, read_every: float) -> Read:
    """Give a function that pulls from a source which reads only when it is asked.

    A source may give one small chunk for each pull. So that it does not fall behind, a pause follows only a
    pull that had to wait: nothing was left at hand.
    """
    rested = 0.0

    async def rest_then_read() -> Any:  # noqa: ANN401
        nonlocal rested
        started = time.monotonic()
        if started < rested:
            await asyncio.sleep(rested - started)
            started = time.monotonic()
        data = await read()
        came = time.monotonic()
        if came - started > read_every * AT_HAND:
            rested = came + read_every
        return data

    return rest_then_read
