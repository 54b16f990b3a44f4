"""The events of one call of `feed`, in order; neighbouring deltas of one text joined if asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.events import ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta

if TYPE_CHECKING:
    from deltafold.events import Event

_TEXTS: dict[str, type[TextDelta | ReasoningDelta | RefusalDelta]] = {
    "content": TextDelta,
    "reasoning": ReasoningDelta,
    "refusal": RefusalDelta,
}


class Emitter:
    """Collects events until they are handed out."""

    __slots__ = ("_coalesce", "_events", "_pieces", "_text")

    def __init__(self, *, coalesce: bool) -> None:
        """Begin with none."""
        self._coalesce = coalesce
        self._events: list[Event] = []
        self._text: tuple[str, int, int] | None = None
        self._pieces: list[str] = []

    def delta(self, kind: str, choice: int, text: str, call: int = -1) -> None:
        """Put a delta of a text: `content`, `reasoning`, `refusal`, or `arguments` of a call."""
        which = (kind, choice, call)
        if not self._coalesce or which != self._text:
            self._close()
            self._text = which
        self._pieces.append(text)

    def put(self, event: Event) -> None:
        """Put any other event."""
        self._close()
        self._events.append(event)

    def drain(self) -> list[Event]:
        """Hand out what has come."""
        self._close()
        events = self._events
        self._events = []
        return events

    def _close(self) -> None:
        if self._text is None:
            return
        kind, choice, call = self._text
        text = "".join(self._pieces)
        self._events.append(
            ToolCallDelta(choice, call, text) if kind == "arguments" else _TEXTS[kind](choice, text),
        )
        self._text = None
        self._pieces = []
