"""From bytes to events and a Completion: frames, payloads, the choice of the wire, errors (P, E, W1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import TYPE_CHECKING, cast

from deltafold.errors import DeltafoldError
from deltafold.policy import Limits, Policy
from deltafold.reference.build import completion
from deltafold.reference.emitter import Emitter
from deltafold.reference.fold import Fold
from deltafold.reference.payload import Payloads
from deltafold.reference.place import Place
from deltafold.reference.provider import BODY_KEPT, body_error
from deltafold.reference.sse import ErrorLine, Frame, FrameReader, Oddity, Oversize, as_bytes, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from deltafold._stream import BytesLike, Malformed, WireName
    from deltafold.completion import Completion
    from deltafold.events import Event


class Assembler:
    """Folds one response, fed in any cuts (S7).

    After `finish` no more input is taken. Threads that share one take turns.
    """

    def __init__(
        self,
        *,
        wire: WireName = "auto",
        policy: Policy | None = None,
        limits: Limits | None = None,
        malformed: Malformed = "raise",
        coalesce: bool = True,
    ) -> None:
        """Begin an empty response; ValueError for an unknown wire or way with malformed payloads."""
        if malformed not in {"raise", "skip"}:
            raise ValueError(f"malformed is 'raise' or 'skip', not {malformed!r}")
        self._lock = RLock()
        self._error: DeltafoldError | None = None
        self._limits = limits or Limits()
        self._place = Place()
        self._emitter = Emitter(coalesce=coalesce)
        self._fold = Fold(policy or Policy(), self._limits, self._place, self._emitter)
        self._payloads = Payloads(wire, self._fold, skip_malformed=malformed == "skip")
        self._reader = FrameReader(self._limits)
        self._head = bytearray()
        self._has_nul = False
        self._finished = False
        self._completion: Completion | None = None

    @property
    def error(self) -> DeltafoldError | None:
        """The error that the next call raises, or None (P7)."""
        return self._error

    def feed(self, data: BytesLike) -> list[Event]:
        """Take bytes of the stream, give the events that they complete.

        An error is not raised here but by the next call, so that no event is lost (P7). ValueError after
        `finish`.
        """
        raw = as_bytes(data)
        with self._lock:
            self._may_feed()
            return self._guard(lambda: self._feed(raw))

    def feed_payload(self, payload: BytesLike | str) -> list[Event]:
        """Take one payload that has no framing: a frame without an offset."""
        raw = payload.encode(errors="surrogatepass") if isinstance(payload, str) else as_bytes(payload)
        with self._lock:
            self._may_feed()
            return self._guard(lambda: self._feed_payload(raw))

    def finish(self) -> list[Event]:
        """End the input, give the last events; [] when called again."""
        with self._lock:
            self._raise_error()
            if self._finished:
                return []
            self._finished = True
            return self._guard(self._finish)

    def close(self) -> Completion:
        """Finish, and give the result; again the same when called again. A cut stream is a result (E5)."""
        with self._lock:
            self.finish()
            self._raise_error()
            if self._completion is None:
                self._completion = self.snapshot()
            return self._completion

    def snapshot(self) -> Completion:
        """Give the response so far; `end` is "open" until it has ended."""
        with self._lock:
            if self._completion is not None:
                return self._completion
            if self._error is not None and self._error.partial is not None:
                return self._error.partial
            return completion(self._fold, self._payloads.wire_name, self._payloads.blocks())

    def _may_feed(self) -> None:
        self._raise_error()
        if self._finished:
            raise ValueError("the assembler has been finished, it takes no more input")

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _guard(self, step: Callable[[], None]) -> list[Event]:
        """Run a step; an error in it waits for the next call, and knows what came before it (P7)."""
        try:
            step()
        except DeltafoldError as error:
            self._fold.fail(error)
            error.partial = completion(self._fold, self._payloads.wire_name, self._payloads.blocks())
            self._error = error
        return self._emitter.drain()

    def _feed(self, data: bytes) -> None:
        if not self._reader.is_event_stream:
            self._head += data[: BODY_KEPT - len(self._head)]
            self._has_nul = self._has_nul or b"\0" in data
        self._take(self._reader.feed(data))

    def _feed_payload(self, raw: bytes) -> None:
        self._payloads.at(None)
        if len(raw) > self._limits.event:
            raise Oversize("event", self._limits.event, None).error(self._payloads.frames)
        text, valid = decode(raw)
        if not valid:
            self._fold.quirks.report("invalid-utf8", detail="in a payload")
        self._payloads.take("", text, None)

    def _take(self, items: Iterator[Frame | ErrorLine | Oddity]) -> None:
        payloads = self._payloads
        try:
            for item in items:
                if isinstance(item, Frame):
                    (payloads.take_tail if item.is_tail else payloads.take)(
                        item.event, item.data, item.offset
                    )
                elif isinstance(item, ErrorLine):
                    payloads.take_error_line(item)
                else:
                    payloads.at(None)
                    self._fold.quirks.report(item.kind, detail=item.detail)
        except Oversize as oversize:
            raise oversize.error(payloads.frames) from None

    def _finish(self) -> None:
        self._take(self._reader.close())
        reader = self._reader
        if not self._payloads.frames and not reader.is_event_stream:
            is_text = reader.is_valid and not self._has_nul
            if reader.has_other_lines or not is_text:
                raise body_error(bytes(self._head), reader.position, self._limits.depth, is_text=is_text)
        self._payloads.close()


def _chunks(data: BytesLike | Iterable[BytesLike]) -> Iterable[BytesLike]:
    """Give the chunks; any object with the buffer protocol is one of them."""
    try:
        return (memoryview(cast("BytesLike", data)),)
    except TypeError:
        return cast("Iterable[BytesLike]", data)


def assemble(
    data: BytesLike | Iterable[BytesLike],
    *,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
) -> Completion:
    """Fold a whole stream, given at once or in chunks; errors are raised with what came before (P7)."""
    assembler = Assembler(wire=wire, policy=policy, limits=limits, malformed=malformed)
    for chunk in _chunks(data):
        assembler.feed(chunk)
    return assembler.close()


def assemble_many(  # noqa: PLR0913
    bodies: Iterable[BytesLike | Iterable[BytesLike]],
    *,
    threads: int | None = None,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
) -> list[Completion]:
    """Fold many bodies, the order kept; an error of a body is in its Completion, it is never raised."""

    def one(body: BytesLike | Iterable[BytesLike]) -> Completion:
        try:
            return assemble(body, wire=wire, policy=policy, limits=limits, malformed=malformed)
        except DeltafoldError as error:
            if error.partial is None:
                raise
            return error.partial

    if threads is None or threads < 2:  # noqa: PLR2004
        return [one(body) for body in bodies]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, bodies))
