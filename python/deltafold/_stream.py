"""Iterators of events over any engine's Assembler, sync and async (P7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

from deltafold._responses import AsyncResponseChunks, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
    from types import TracebackType

    from deltafold.completion import Completion
    from deltafold.errors import DeltafoldError
    from deltafold.events import Event

WireName: TypeAlias = Literal["auto", "openai-chat", "anthropic-messages", "openai-responses"]
Malformed: TypeAlias = Literal["raise", "skip"]
BytesLike: TypeAlias = bytes | bytearray | memoryview


class AssemblerLike(Protocol):
    """What an engine's Assembler has that a stream needs."""

    @property
    def error(self) -> DeltafoldError | None: ...
    def feed(self, data: BytesLike, /) -> list[Event]: ...
    def finish(self) -> list[Event]: ...
    def close(self) -> Completion: ...
    def snapshot(self) -> Completion: ...


class Writable(Protocol):
    """A file opened for binary writing."""

    def write(self, data: bytes, /) -> object: ...


Tee: TypeAlias = "Callable[[bytes], object] | Writable | None"


def _writer(tee: Any) -> Callable[[BytesLike], object] | None:  # noqa: ANN401
    """Give the function that takes each chunk before it is parsed."""
    taker: Callable[[BytesLike], object] | None = tee if tee is None or callable(tee) else tee.write
    return taker


class _Stream:
    """What both kinds of stream share."""

    def __init__(self, assembler: AssemblerLike, tee: Tee) -> None:
        self._assembler = assembler
        self._tee = _writer(tee)
        self._completion: Completion | None = None

    @property
    def completion(self) -> Completion:
        """The result, once the events are used up; ValueError before. Its error is raised here too."""
        if self._completion is None:
            if self._assembler.error is not None:
                raise self._assembler.error
            raise ValueError("the stream has not been read to its end; .snapshot() gives what there is")
        return self._completion

    def snapshot(self) -> Completion:
        """Give the response so far; `end` is "open" until it has ended."""
        return self._completion if self._completion is not None else self._assembler.snapshot()


class EventStream(_Stream):
    """The events of a response, to be iterated once; afterwards `.completion`.

    The chunks are bytes, or a response of a client that is known (deltafold._responses). An error is raised
    when the events before it have been handed out (P7). As a context manager it closes the source of the
    chunks.
    """

    def __init__(self, assembler: AssemblerLike, chunks: Any, tee: Tee = None) -> None:  # noqa: ANN401
        """Read chunks into an assembler."""
        super().__init__(assembler, tee)
        self._chunks: Iterable[BytesLike] = opened(chunks, asynchronous=False)
        self._iterator: Iterator[Event] | None = None

    def __iter__(self) -> Iterator[Event]:
        """Give the events; going on where an earlier loop stopped."""
        if self._iterator is None:
            self._iterator = self._events()
        return self._iterator

    def __next__(self) -> Event:
        """Give the next event."""
        return next(iter(self))

    def _events(self) -> Iterator[Event]:
        assembler = self._assembler
        feed = assembler.feed
        tee = self._tee
        for chunk in self._chunks:
            if tee is not None:
                tee(chunk)
            yield from feed(chunk)
            if assembler.error is not None:
                raise assembler.error
        yield from assembler.finish()
        self._completion = assembler.close()

    def close(self) -> None:
        """Close the source of the chunks."""
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        """Give the stream itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the source."""
        self.close()


class AsyncEventStream(_Stream):
    """As EventStream, over an async iterable of chunks.

    After a read nothing more is read for `read_every` seconds, then all that has come in one go.
    """

    def __init__(
        self,
        assembler: AssemblerLike,
        chunks: Any,  # noqa: ANN401
        tee: Tee = None,
        read_every: float = 0.0,
    ) -> None:
        """Read chunks into an assembler; ValueError where `read_every` is no number of seconds."""
        super().__init__(assembler, tee)
        if not 0 <= read_every < float("inf"):
            raise ValueError(f"read_every is {read_every!r}: it takes a number of seconds, 0 or more")
        self._read_every = read_every
        self._chunks: AsyncIterable[Any] | AsyncResponseChunks = opened(chunks, asynchronous=True)
        self._iterator: AsyncIterator[Event] | None = None

    def __aiter__(self) -> AsyncIterator[Event]:
        """Give the events; going on where an earlier loop stopped."""
        if self._iterator is None:
            self._iterator = self._events()
        return self._iterator

    async def __anext__(self) -> Event:
        """Give the next event."""
        return await anext(aiter(self))

    async def _events(self) -> AsyncIterator[Event]:
        assembler = self._assembler
        feed = assembler.feed
        tee = self._tee
        source = self._chunks
        read: Callable[[], Awaitable[Any]]
        response = isinstance(source, AsyncResponseChunks)
        every = self._read_every
        if isinstance(source, AsyncResponseChunks):
            read = await source.open(every)
        else:
            read = aiter(source).__anext__
            if every:
                from deltafold._pace import spaced  # noqa: PLC0415

                read = spaced(read, every)
        while True:
            try:
                chunk = await read()
            except StopAsyncIteration:
                break
            if response and not chunk:
                break
            if tee is not None:
                tee(chunk)
            for event in feed(chunk):
                yield event
            if assembler.error is not None:
                raise assembler.error
        for event in assembler.finish():
            yield event
        self._completion = assembler.close()

    async def aclose(self) -> None:
        """Close the source of the chunks."""
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()

    async def __aenter__(self) -> Self:
        """Give the stream itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the source."""
        await self.aclose()
