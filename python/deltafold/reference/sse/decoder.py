"""The public decoder: strict WHATWG, every field visible (S4, S5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltafold.events import ByValue
from deltafold.policy import Limits
from deltafold.reference.json import exact_integer
from deltafold.reference.sse.lines import DataBuffer, LineReader, Oversize, as_bytes

if TYPE_CHECKING:
    from deltafold._stream import BytesLike
    from deltafold.errors import DeltafoldError
    from deltafold.reference.sse.lines import Line

_RETRY_DIGITS = 4300
"""Python refuses to show an integer of more digits."""


@dataclass(frozen=True, slots=True, eq=False)
class ServerSentEvent(ByValue):
    """One event: its type, its data, the last event id, and the `retry` of its block if one came."""

    event: str
    data: str
    id: str
    retry: int | None = None


class SSEDecoder:
    """A strict decoder of event streams; an unterminated tail is no event (S5).

    `last_event_id`, `retry` (milliseconds) and `comments` (a count) are as of now. `tail` are the raw bytes
    that came and belong to no event yet: pending `data` lines and the line that has not ended. The default
    limits hold; an error is raised by the call after the one that met it, so that no event is lost (P7).
    """

    def __init__(self) -> None:
        """Begin before the first byte."""
        limits = Limits()
        self.last_event_id = ""
        self.retry: int | None = None
        self.comments = 0
        self._lines = LineReader(limits.line)
        self._data = DataBuffer(limits.event)
        self._raw_data: list[bytes] = []
        self._event = ""
        self._id: str | None = None
        self._block_retry: int | None = None
        self._block_start: int | None = None
        self._count = 0
        self._error: DeltafoldError | None = None

    @property
    def tail(self) -> bytes:
        """The bytes that came and belong to no event yet."""
        return b"".join(self._raw_data) + self._lines.pending

    def feed(self, data: BytesLike) -> list[ServerSentEvent]:
        """Give the events that these bytes complete; any cut of a stream gives the same events (S7)."""
        if self._error is not None:
            raise self._error
        events: list[ServerSentEvent] = []
        try:
            for line in self._lines.feed(as_bytes(data)):
                self._take(line, events)
        except Oversize as oversize:
            self._error = oversize.error(self._count)
        return events

    def close(self) -> list[ServerSentEvent]:
        """End the input; always [], for what is left is no event (S5)."""
        if self._error is not None:
            raise self._error
        return []

    def _take(self, line: Line, events: list[ServerSentEvent]) -> None:
        if not line.length:
            self._dispatch(events)
        elif line.is_comment:
            self.comments += 1
        else:
            self._field(line)

    def _field(self, line: Line) -> None:
        if self._block_start is None:
            self._block_start = line.offset
        name, value, length = line.field()
        if name == "data":
            self._data.add(value, length, self._block_start)
            self._raw_data.append(line.raw + b"\n")
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= _RETRY_DIGITS:
            self.retry = self._block_retry = exact_integer(value)

    def _dispatch(self, events: list[ServerSentEvent]) -> None:
        if self._id is not None:
            self.last_event_id = self._id
        if self._data:
            self._count += 1
            event = self._event or "message"
            events.append(ServerSentEvent(event, self._data.take(), self.last_event_id, self._block_retry))
        self._raw_data = []
        self._event = ""
        self._id = self._block_retry = self._block_start = None
