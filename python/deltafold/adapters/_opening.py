"""Event streams over responses that an SDK opens: what the adapters of openai and anthropic share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

import deltafold
from deltafold._json import is_object
from deltafold._responses import AsyncResponseChunks, Client, Read, client_of
from deltafold._stream import AsyncEventStream, EventStream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from deltafold import Completion
    from deltafold._stream import BytesLike, Tee

FOLD_OPTIONS = ("policy", "limits", "malformed", "coalesce")
"""The keywords of an adapter's `stream` that are meant for the fold; `tee` is a further one."""


def split_options(arguments: dict[str, Any]) -> tuple[dict[str, Any], Tee, dict[str, Any]]:
    """Give what is meant for the fold, the tee, and what is meant for the SDK."""
    fold = {name: arguments[name] for name in FOLD_OPTIONS if name in arguments}
    create = {name: value for name, value in arguments.items() if name not in FOLD_OPTIONS and name != "tee"}
    return fold, arguments.get("tee"), {**create, "stream": True}


class Envelope:
    """Keeps what a response says of itself beside what is folded, from few frames found by their text.

    `marks` are texts one of which each frame of interest holds; `keep` gets their JSON values in order.
    """

    def __init__(self, marks: tuple[str, ...], keep: Callable[[dict[str, Any]], None], tee: Tee) -> None:
        """Look at the bytes that go to `tee` too."""
        self._marks = marks
        self._keep = keep
        self._decode = deltafold.SSEDecoder().feed
        self._tee = tee if tee is None or callable(tee) else tee.write

    def __call__(self, chunk: BytesLike) -> None:
        """Look for frames of interest among those that this chunk completes."""
        if self._tee is not None:
            self._tee(bytes(chunk))
        for event in self._decode(chunk):
            data = event.data
            if any(mark in data for mark in self._marks):
                try:
                    value = orjson.loads(data)
                except ValueError:
                    continue
                if is_object(value):
                    self._keep(value)


class LazyResponse(AsyncResponseChunks):
    """An async response that is asked for when its first bytes are."""

    def __init__(self, opening: Callable[[], Awaitable[Any]]) -> None:
        """Keep what asks: it gives an awaitable of the response of a known client."""
        super().__init__(None, Client(_nothing))
        self._opening = opening

    async def open(self, read_every: float = 0.0) -> Read:
        """Ask, then read."""
        self._response = await self._opening()
        client = client_of(self._response)
        if client is None:
            raise TypeError(f"{type(self._response).__module__} is no known client")
        self._client = client
        return await super().open(read_every)

    async def aclose(self) -> None:
        """Close the response if there is one."""
        if self._response is not None:
            await super().aclose()


def _nothing(_response: object) -> Read:
    return bytes


class DrainedStream(EventStream):
    """A stream whose result can be asked for at any time."""

    def until_done(self) -> Completion:
        """Read to the end and give the result; its error, or IncompleteStream, is raised (E5)."""
        for _event in self:
            pass
        return self.completion.check()


class AsyncDrainedStream(AsyncEventStream):
    """As DrainedStream, for async use."""

    async def until_done(self) -> Completion:
        """Read to the end and give the result; its error, or IncompleteStream, is raised (E5)."""
        async for _event in self:
            pass
        return self.completion.check()
