"""The async form of the journal: the same names, awaited.

The rules, the records and the order are those of the plain form.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self, Unpack

from deltafold.journal import closers
from deltafold.journal.chunks import Bytes, async_chunks_of
from deltafold.journal.journal import Journal, OpenOptions, closing_entries, opening_entries
from deltafold.journal.turn import Content, TurnState, outcome_of, result_content, user_entry

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Sequence
    from types import TracebackType

    from deltafold import Completion, Limits, Policy, ToolCall
    from deltafold._stream import Malformed, WireName
    from deltafold.events import Event
    from deltafold.journal.fold import Fold
    from deltafold.journal.history import Wire
    from deltafold.journal.opening import TornTail
    from deltafold.journal.state import State
    from deltafold.journal.stores.base import Promise, Store
    from deltafold.journal.writer import Entry, Writer


async def put(writer: Writer, entries: Sequence[Entry], *, stream: str | None = None) -> int:
    """Put records and return the first's seq once they are durable, without holding up the loop.

    Records that are on their way when the task is cancelled are waited for, so that what is known of them is
    true; then the task is cancelled.
    """
    writing = asyncio.ensure_future(_put(writer, entries, stream))
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        raise


async def _put(writer: Writer, entries: Sequence[Entry], stream: str | None) -> int:
    if not writer.log.inline:
        events = await asyncio.to_thread(writer.append, entries, stream=stream)
        return int(events[0].seq)
    events, promise = writer.begin(entries, stream=stream)
    await _settled(promise)
    writer.wait(promise)
    return int(events[0].seq)


async def _settled(promise: Promise) -> None:
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            loop.call_soon_threadsafe(done.set)

    promise.when_settled(wake)
    await done.wait()


class AsyncJournal:
    """One session, open for writing in async code.

    `async with AsyncJournal.open(root, "session-7", create=True) as journal:`, with the options and errors of
    `Journal.open`.
    """

    def __init__(self, journal: Journal) -> None:
        """Wrap an open journal; `AsyncJournal.open` makes one."""
        self._journal = journal
        self._writer = journal.writer
        self._turn: AsyncTurn | None = None
        self._closed = False

    @classmethod
    def open(
        cls, root: str | os.PathLike[str] | Store, session: str, **options: Unpack[OpenOptions]
    ) -> Opening:
        """Open a session: to be awaited, or used with `async with`."""
        return Opening(root, session, options)

    @property
    def session(self) -> str:
        """The session's id."""
        return self._journal.session

    @property
    def location(self) -> str:
        """Where the history lies."""
        return self._journal.location

    @property
    def torn(self) -> TornTail | None:
        """The torn tail that was cut when the session was opened, or None."""
        return self._journal.torn

    @property
    def state(self) -> State:
        """What the records amount to. A copy."""
        return self._journal.state

    async def append(self, kind: str, data: dict[str, Any]) -> int:
        """Write one record and return its seq once it is durable; raises as `Journal.append` does."""
        return await put(self._writer, [(kind, data)])

    async def append_all(self, entries: list[Entry]) -> int:
        """Write several records in one step, all or none, and return the first's seq."""
        return await put(self._writer, entries)

    async def turn(self, user: Content | dict[str, Any] | None = None) -> AsyncTurn:
        """Begin a turn; see `Journal.turn`."""
        number, entries = opening_entries(self._writer.state, user)
        self._leave_turn()
        await put(self._writer, entries)
        self._turn = AsyncTurn(self._writer, number, raw=self._journal.keeps_raw)
        return self._turn

    async def resume(self) -> bool:
        """Close an interrupted turn; see `Journal.resume`."""
        entries = closers.close_turn(self._writer.state)
        if entries:
            self._leave_turn()
            await put(self._writer, entries)
        return bool(entries)

    @property
    def current_turn(self) -> AsyncTurn | None:
        """The open turn; see `Journal.current_turn`."""
        number = self._writer.state.turn
        if number is None:
            return None
        if self._turn is None or self._turn.number != number:
            self._turn = AsyncTurn(self._writer, number, raw=self._journal.keeps_raw)
        return self._turn

    async def adopt(self, messages: Iterable[dict[str, Any]]) -> list[str]:
        """Take over chat messages that another program kept; see `Journal.adopt`."""
        self._leave_turn()
        return await asyncio.to_thread(self._journal.adopt, messages)

    async def messages(self, wire: Wire = "openai-chat") -> list[dict[str, Any]]:
        """Return the history as the messages of the next request; see `Journal.messages`."""
        return await asyncio.to_thread(self._journal.messages, wire)

    def _leave_turn(self) -> None:
        if self._turn is not None:
            self._turn.abandon()
            self._turn = None

    async def close(self, *, clean: bool = True) -> None:
        """Give the session back; see `Journal.close`."""
        if self._closed:
            return
        self._closed = True
        self._leave_turn()
        try:
            if clean and not self._writer.dead:
                await put(self._writer, closing_entries(self._writer.state))
        finally:
            self._journal.close(clean=False)

    async def __aenter__(self) -> Self:
        """Return the journal itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, also after an exception."""
        await self.close()


class Opening:
    """An `AsyncJournal` that is being opened: await it, or enter it."""

    def __init__(self, root: str | os.PathLike[str] | Store, session: str, options: OpenOptions) -> None:
        """Keep what to open; nothing is opened yet."""
        self._root = root
        self._session = session
        self._options = options
        self._journal: AsyncJournal | None = None

    async def _open(self) -> AsyncJournal:
        journal = await asyncio.to_thread(Journal.open, self._root, self._session, **self._options)
        return AsyncJournal(journal)

    def __await__(self) -> Generator[Any, None, AsyncJournal]:
        """Open."""
        return self._open().__await__()

    async def __aenter__(self) -> AsyncJournal:
        """Open."""
        self._journal = await self._open()
        return self._journal

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        if self._journal is not None:
            await self._journal.close()


class AsyncTurnStream:
    """The events of one response, for `async for`; see `TurnStream`."""

    def __init__(self, state: TurnState, fold: Fold, chunks: AsyncIterator[Bytes]) -> None:
        """Wrap the chunks of a response."""
        self._state = state
        self._fold = fold
        self._events = self._run(chunks)

    def __aiter__(self) -> AsyncIterator[Event]:
        """Return the stream itself."""
        return self

    async def __anext__(self) -> Event:
        """Return the next event."""
        return await self._events.__anext__()

    async def _run(self, chunks: AsyncIterator[Bytes]) -> AsyncGenerator[Event]:
        fold, state = self._fold, self._state
        try:
            async for chunk in chunks:
                for event in fold.feed(chunk):
                    yield event
                if fold.error is not None:
                    break
            for event in fold.finish():
                yield event
        except GeneratorExit:
            raise
        except BaseException as error:
            fold.settled = True
            await asyncio.to_thread(state.keep_failed, fold, error)
            raise
        await self._settle()

    async def _settle(self) -> None:
        fold, state = self._fold, self._state
        if fold.settled:
            return
        fold.settled = True
        entries = await asyncio.to_thread(state.finished, fold)
        if entries:
            await put(state.writer, entries, stream=fold.stream["file"] if fold.stream else None)

    async def close(self) -> None:
        """Stop reading: what came so far is recorded."""
        await self._events.aclose()
        await self._settle()

    @property
    def completion(self) -> Completion | None:
        """The whole response once the stream has ended, else None."""
        return self._fold.completion


class AsyncTurn:
    """One turn of a session; made by `AsyncJournal.turn`. See `Turn`."""

    def __init__(self, writer: Writer, number: int, *, raw: bool) -> None:
        """Begin with no answer yet."""
        self._state = TurnState(writer, number)
        self._raw = raw
        self._one_by_one = asyncio.Lock()
        self.number = number

    async def user(self, content: Content | dict[str, Any]) -> None:
        """Record another user message."""
        await put(self._state.writer, [user_entry(content)])

    def stream(  # noqa: PLR0913  (the options of `deltafold.Assembler`)
        self,
        response: Any,  # noqa: ANN401
        *,
        wire: WireName = "auto",
        policy: Policy | None = None,
        limits: Limits | None = None,
        malformed: Malformed = "raise",
        coalesce: bool = True,
    ) -> AsyncTurnStream:
        """Fold a response (httpx, aiohttp, or an async iterable of bytes) into the session.

        See `Turn.stream`.
        """
        fold = self._state.fold(
            raw=self._raw, wire=wire, policy=policy, limits=limits, malformed=malformed, coalesce=coalesce
        )
        return AsyncTurnStream(self._state, fold, async_chunks_of(response))

    async def record(self, completion: Completion) -> None:
        """Record a response that was folded elsewhere."""
        entries = self._state.settle(completion, None)
        if entries:
            await put(self._state.writer, entries)

    @property
    def completion(self) -> Completion | None:
        """The last response."""
        return self._state.completion

    @property
    def executable_calls(self) -> list[ToolCall]:
        """The calls of the last response that may run and were not started."""
        return self._state.executable()

    def running(self, call: ToolCall) -> AsyncRun:
        """Run a call; see `Turn.running`."""
        return AsyncRun(self._state, call, self._one_by_one)

    def abandon(self) -> None:
        """Give up a response that nobody read to its end."""
        self._state.abandon()

    async def end(self, reason: str = "done") -> None:
        """End the turn. Raises `Refused` while a call has no result (J6)."""
        await put(self._state.writer, [("turn/end", {"turn": self.number, "reason": reason})])


class AsyncRun:
    """A call that runs, for `async with`; see `Run`.

    A cancelled body is recorded as `outcome-unknown`, and stays cancelled.
    """

    def __init__(self, state: TurnState, call: ToolCall, one_by_one: asyncio.Lock) -> None:
        """Keep the call; nothing is recorded yet."""
        self._state = state
        self._one_by_one = one_by_one
        self.call = call
        self.exception: BaseException | None = None

    async def __aenter__(self) -> Self:
        """Record `tool/call`; when the task is cancelled meanwhile, also that the body did not begin."""
        self.call, entry = self._state.start(self.call)
        try:
            await put(self._state.writer, [entry])
        except asyncio.CancelledError:
            if self._state.waits_for_result(self.call):
                text, error = closers.TEXTS[closers.NOT_STARTED], closers.NOT_STARTED
                await self.result(text, error=error)
            raise
        return self

    async def result(self, value: Any, *, is_error: bool = False, error: str | None = None) -> None:  # noqa: ANN401
        """Record the call's one result."""
        content = result_content(value)
        async with self._one_by_one if self._state.has_note else contextlib.nullcontext():
            entries = self._state.result(self.call, content, error=error, is_error=is_error)
            await put(self._state.writer, entries)
            self._state.told()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Record what became of it when the body gave no result."""
        self.exception = error
        if not self._state.waits_for_result(self.call):
            return False
        content, name = outcome_of(error)
        await self.result(content, error=name)
        return isinstance(error, Exception)


__all__ = ["AsyncJournal", "AsyncRun", "AsyncTurn", "AsyncTurnStream", "Opening", "put"]
