"""One payload after another: ends, empties, JSON, the choice of the wire, errors (P1 to P3, E6, W1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold._json import is_list, is_object
from deltafold.errors import WireError
from deltafold.reference import json
from deltafold.reference.provider import foreign_wire, is_error, payload_error, provider_error
from deltafold.reference.wire import WIRES, decide

if TYPE_CHECKING:
    from deltafold.reference.fold import Fold
    from deltafold.reference.sse import ErrorLine
    from deltafold.reference.wire import Wire

DONE = "[DONE]"
UNDECIDED_KEPT = 64
"""Payloads that are kept until one decides the wire (W1)."""

_SPACE = " \t\r\n"


class Waiting:
    """A payload that waits for the wire to be known: an object, or [DONE] (None)."""

    __slots__ = ("document", "event", "frame", "offset")

    def __init__(
        self, document: json.Document | None, event: str, frame: int | None, offset: int | None
    ) -> None:
        """Keep it with its place."""
        self.document = document
        self.event = event
        self.frame = frame
        self.offset = offset


class Payloads:
    """Folds payloads in order. `frames` counts them."""

    def __init__(self, wire: str, fold: Fold, *, skip_malformed: bool) -> None:
        """Fold into the given response; ValueError for an unknown wire."""
        if wire != "auto" and wire not in WIRES:
            known = ", ".join(map(repr, ("auto", *WIRES)))
            raise ValueError(f"wire is one of {known}, not {wire!r}")
        self.frames = 0
        self._fold = fold
        self._place = fold.place
        self._skip_malformed = skip_malformed
        self._wire: Wire | None = WIRES[wire](fold) if wire in WIRES else None
        self._waiting: list[Waiting] = []
        self._ended_by_wire = False
        self._over = False

    @property
    def wire_name(self) -> str:
        """The wire, "auto" as long as nothing decided it."""
        return self._wire.name if self._wire else "auto"

    def blocks(self) -> list[dict[str, Any]]:
        """Give the blocks of a wire that has them."""
        return self._wire.blocks() if self._wire else []

    def at(self, offset: int | None) -> None:
        """Set the place to the frame that comes next."""
        self._place.frame = self.frames
        self._place.offset = offset
        self._place.surrogates = False

    def take(self, event: str, data: str, offset: int | None) -> None:
        """Take the payload of a frame."""
        self.at(offset)
        self.frames += 1
        text = data.strip(_SPACE)
        if self._over:
            self._take_late(event, text)
        elif text == DONE:
            self._take_marker(event)
        elif text in {"", "null"}:
            self._fold.quirks.report("empty-payload")
        elif text.startswith(":"):
            self._fold.quirks.report("comment-as-data", detail=text)
        else:
            self._take_json(event, data, text)

    def take_tail(self, event: str, data: str, offset: int | None) -> None:
        """Take what the end of input cut off, when it is whole by itself (S5)."""
        self.at(offset)
        frame, self._place.frame = self._place.frame, None
        self._fold.quirks.report("unterminated-tail")
        self._place.frame = frame
        text = data.strip(_SPACE)
        if text != DONE:
            try:
                value = self._parse(text).value
            except json.MalformedJsonError:
                return
            if not is_object(value):
                return
        self.take(event, data, offset)

    def take_error_line(self, line: ErrorLine) -> None:
        """Take a line `error: {json}` as an error (E6); anything else is an unknown field (S4)."""
        self.at(line.offset)
        text = line.text.strip(_SPACE)
        if self._over and text.startswith("{"):
            self._fold.quirks.report("data-after-done", detail="error")
            return
        try:
            document = self._parse(text)
        except json.MalformedJsonError:
            document = None
        if document is not None and is_object(document.value):
            raise payload_error(document, self._place.frame, line.offset)
        if line.ended:
            self._fold.quirks.report("unknown-field", detail="error")

    def close(self) -> None:
        """End the response when the input ends."""
        if self._waiting:
            self._settle()
        if not self._over:
            self._end()

    # payloads

    def _parse(self, text: str) -> json.Document:
        sources = self._wire.sources if self._wire else _ALL_SOURCES
        try:
            return json.parse(text, self._fold.limits.depth, sources | {"error"})
        except json.TooDeepError:
            raise self._place.limit(
                "depth", self._fold.limits.depth, "levels of nesting in a payload"
            ) from None

    def _take_json(self, event: str, data: str, text: str) -> None:
        try:
            document = self._parse(data)
            reason = None if is_object(document.value) else f"it is {_named(document.value)}"
        except json.MalformedJsonError as malformed:
            document, reason = None, str(malformed)
        if document is None or reason is not None:
            self._take_malformed(event, text, document, reason)
        elif self._wire is None:
            self._take_undecided(document, event)
        else:
            self._fold_document(document, event)

    def _take_malformed(
        self, event: str, text: str, document: json.Document | None, reason: str | None
    ) -> None:
        """Refuse or skip what is no JSON object (P3); under `event: error` it is the error's text (E6)."""
        if event == "error":
            said = document.value if document is not None and isinstance(document.value, str) else text
            raise provider_error(said, "", self._place.frame, self._place.offset)
        if not self._skip_malformed:
            raise WireError(
                f"a payload is no JSON object: {reason}",
                kind="malformed-payload",
                frame=self._place.frame,
                offset=self._place.offset,
            )
        self._fold.quirks.report("malformed-payload", detail=reason or "")

    def _fold_document(self, document: json.Document, event: str) -> None:
        """Fold a chunk; an error that it brings stands after what else is in it (E6)."""
        assert self._wire is not None  # noqa: S101
        self._place.surrogates = document.surrogates
        self._wire.fold(document, event)
        error = document.value.get("error")
        if error is not None and not isinstance(error, (dict, str)):
            self._fold.quirks.report("wrong-type", detail="error")
        if self._wire.failed or event == "error" or is_error(error):
            raise self._wire.error(document) or payload_error(document, self._place.frame, self._place.offset)
        if self._fold.marked:
            self._ended_by_wire = True
            self._end()

    def _take_late(self, event: str, text: str) -> None:
        """Report what comes after the end (P1); a `[DONE]` or ping after a wire's own end is usual."""
        if self._ended_by_wire and (text == DONE or self._is_ping(event, text)):
            return
        self._fold.quirks.report("data-after-done", detail=text)

    def _is_ping(self, event: str, text: str) -> bool:
        try:
            payload = json.parse(text, self._fold.limits.depth).value
        except (json.MalformedJsonError, json.TooDeepError):
            payload = None
        kind = payload.get("type") if is_object(payload) else None
        return (kind if isinstance(kind, str) else event) == "ping"

    # the wire, and the end

    def _take_marker(self, event: str) -> None:
        if self._wire is None:
            self._wait(Waiting(None, event, self._place.frame, self._place.offset))
        else:
            self._fold.marked = True
            self._end()

    def _take_undecided(self, document: json.Document, event: str) -> None:
        wire = decide(document.value, event)
        if wire is None:
            self._wait(Waiting(document, event, self._place.frame, self._place.offset))
            return
        self._wire = wire(self._fold)
        waiting, self._waiting = self._waiting, []
        waiting.append(Waiting(document, event, self._place.frame, self._place.offset))
        for payload in waiting:
            self._take_waiting(payload)

    def _take_waiting(self, payload: Waiting) -> None:
        self._place.frame, self._place.offset = payload.frame, payload.offset
        if self._over:
            self._take_late(payload.event, DONE if payload.document is None else payload.document.text)
        elif payload.document is None:
            self._take_marker(payload.event)
        else:
            self._fold_document(payload.document, payload.event)

    def _wait(self, payload: Waiting) -> None:
        if len(self._waiting) >= UNDECIDED_KEPT:
            self._waiting.append(payload)
            self._settle()
        else:
            self._waiting.append(payload)

    def _settle(self) -> None:
        """Say what a stream is whose payloads decided no wire (W1)."""
        waiting, self._waiting = self._waiting, []
        foreign: Waiting | None = None
        for payload in waiting:
            if payload.document is None:
                break
            if payload.event == "error" or is_error(payload.document.value.get("error")):
                raise payload_error(payload.document, payload.frame, payload.offset)
            foreign = foreign or payload
        self._fold.marked = any(payload.document is None for payload in waiting)
        if foreign is not None and foreign.document is not None:
            looks = foreign_wire(foreign.document.value, foreign.event)
            raise WireError(
                f"no payload belongs to a known wire; it looks like {looks}",
                kind="unknown-wire",
                frame=None,
                offset=0,
            )
        self._end()
        for payload in waiting[1:]:
            self._take_waiting(payload)

    def _end(self) -> None:
        """End everything that the fold holds open; what is seen now is seen at the end (Q1)."""
        frame, offset = self._place.frame, self._place.offset
        self._over = True
        self._place.frame = self._place.offset = None
        if self._wire is not None:
            self._wire.close()
        self._fold.finish()
        self._place.frame, self._place.offset = frame, offset


_ALL_SOURCES = frozenset[str]().union(*(wire.sources for wire in WIRES.values()))


def _named(value: Any) -> str:  # noqa: ANN401
    if is_list(value):
        return "a list"
    if isinstance(value, str):
        return "a string"
    return "true or false" if isinstance(value, bool) else "a number"
