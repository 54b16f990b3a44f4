"""One turn: a user's message, the streamed answers, the calls that run and their results.

The common part of the plain and the async form stands in `TurnState` and in `fold`; neither does any waiting.
"""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, Self, cast

import deltafold
from deltafold.errors import DeltafoldError
from deltafold.journal import assistant, record
from deltafold.journal.chunks import Bytes, chunks_of
from deltafold.journal.fold import Fold

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

    from deltafold import Completion, Limits, Policy, ToolCall
    from deltafold._stream import Malformed, WireName
    from deltafold.events import Event
    from deltafold.journal.writer import Entry, Writer

_MAX_ERROR: Final = 100_000
Content = str | list[dict[str, Any]]


def user_entry(user: Content | dict[str, Any]) -> Entry:
    """Return the `user/message` of a text, a list of parts, or a whole message."""
    message = user if isinstance(user, dict) else {"role": "user", "content": user}
    return "user/message", {"message": message}


def result_content(value: Any) -> Content:  # noqa: ANN401
    """Return what a tool gave as a content: text and parts as they are, None as empty, else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if _is_parts(value):
        return cast("list[dict[str, Any]]", value)
    try:
        return record.dump(value).decode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _is_parts(value: object) -> bool:
    """Whether a value is a list of content parts: objects with a type."""
    if not isinstance(value, list) or not value:
        return False
    parts = cast("list[object]", value)
    return all(isinstance(part, dict) and isinstance(cast("Any", part).get("type"), str) for part in parts)


class TurnState:
    """What a turn knows about its last answer.

    Which calls may run, and what the model is still to be told.
    """

    def __init__(self, writer: Writer, number: int) -> None:
        """Begin without an answer."""
        self.writer = writer
        self.number = number
        self.completion: Completion | None = None
        self.calls: tuple[ToolCall, ...] = ()
        self._note: Entry | None = None
        self._started: set[int] = set()
        self._fold: Fold | None = None

    def settle(self, completion: Completion, stream: dict[str, Any] | None) -> list[Entry]:
        """Take a response in and return the records to write of it (none when nothing came)."""
        self.completion = completion
        self.calls, self._note, self._started = (), None, set()
        answer = assistant.answer_of(completion, stream)
        if answer is None:
            return []
        for call in answer.unnamed:
            data = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            name = stream["file"] if stream is not None else None
            self.writer.quarantine("J2", "the call was never named", "tool/call", data, name)
        self.calls, self._note = answer.runnable, answer.note
        return list(answer.entries)

    def executable(self) -> list[ToolCall]:
        """Return the calls of the last answer that may run and were not started."""
        return [call for call in self.calls if call.position not in self._started]

    def start(self, call: ToolCall) -> tuple[ToolCall, Entry]:
        """Return the call as the history has it, and its `tool/call`."""
        own = next((own for own in self.calls if own.position == call.position), call)
        self._started.add(own.position)
        return own, assistant.call_entry(own)

    def waits_for_result(self, call: ToolCall) -> bool:
        """Whether a started call has no result yet, and can still be given one."""
        known = self.writer.state.calls.get(call.id)
        return known is not None and known.started and not known.answered and not self.writer.dead

    def result(self, call: ToolCall, content: Content, *, error: str | None, is_error: bool) -> list[Entry]:
        """Return the records of a call's result; behind the last one, the note about calls without a name."""
        entries = [assistant.result_entry(call.id, content, error=error, is_error=is_error)]
        if self._note is not None and self.writer.state.unanswered == 1:
            entries.append(self._note)
        return entries

    def in_one_step(self) -> AbstractContextManager[None]:
        """Let results of other threads wait where it matters which one is the last."""
        return self.writer.paused() if self.has_note else nullcontext()

    @property
    def has_note(self) -> bool:
        """Whether the model is still to be told about calls without a name."""
        return self._note is not None

    def told(self) -> None:
        """Note that results were written: with the last of them, the note."""
        if not self.writer.state.unanswered:
            self._note = None

    def fold(  # noqa: PLR0913  (the options of `deltafold.Assembler`)
        self,
        *,
        raw: bool,
        wire: WireName,
        policy: Policy | None,
        limits: Limits | None,
        malformed: Malformed,
        coalesce: bool,
    ) -> Fold:
        """Return a new fold for the next response; one that nobody read to its end is given up."""
        self.abandon()
        assembler = deltafold.Assembler(
            wire=wire, policy=policy, limits=limits, malformed=malformed, coalesce=coalesce
        )
        stream = f"{self.writer.state.next_seq:08d}-{secrets.token_hex(4)}"
        self._fold = Fold(self.writer, assembler, self.writer.raw_sink(stream) if raw else None)
        self._fold.note_options(policy, limits, malformed)
        return self._fold

    def abandon(self) -> None:
        """Give up a response that nobody read to its end."""
        if self._fold is not None and not self._fold.settled:
            self._fold.settled = True
            self._fold.abandon()

    def finished(self, fold: Fold) -> list[Entry]:
        """Return the records to write of a response that has ended."""
        fold.keep_raw()
        try:
            completion = fold.close()
        except DeltafoldError as error:
            self.keep_failed(fold, error)
            raise
        return self.settle(completion, fold.stream)

    def keep_failed(self, fold: Fold, error: BaseException) -> None:
        """Keep what there is of a response that failed: its raw bytes, and the partial in quarantine."""
        if self.writer.dead:
            fold.abandon()
            return
        fold.keep_raw()
        self.completion = fold.partial()
        name = fold.stream["file"] if fold.stream is not None else None
        reason = f"the stream failed: {type(error).__name__}: {error}"
        self.writer.quarantine("P7", reason, "assistant/message", self.completion.to_dict(), name)


class TurnStream:
    """The events of one response. Iterate it to its end; then the answer is in the journal.

    When the stream raises, nothing of it enters the history: its raw bytes are kept, and the partial is in
    quarantine. Stopping early is `close()`: what came is then recorded as a cut answer.
    """

    def __init__(self, state: TurnState, fold: Fold, chunks: Iterator[Bytes]) -> None:
        """Wrap the chunks of a response."""
        self._state = state
        self._fold = fold
        self._events = self._run(chunks)

    def __iter__(self) -> Iterator[Event]:
        """Return the stream itself."""
        return self

    def __next__(self) -> Event:
        """Return the next event."""
        return next(self._events)

    def _run(self, chunks: Iterator[Bytes]) -> Generator[Event]:
        fold, state = self._fold, self._state
        try:
            for chunk in chunks:
                yield from fold.feed(chunk)
                if fold.error is not None:
                    break
            yield from fold.finish()
        except GeneratorExit:
            raise
        except BaseException as error:
            fold.settled = True
            state.keep_failed(fold, error)
            raise
        self._settle()

    def _settle(self) -> None:
        fold, state = self._fold, self._state
        if fold.settled:
            return
        fold.settled = True
        entries = state.finished(fold)
        if entries:
            state.writer.append(entries, stream=fold.stream["file"] if fold.stream else None)

    def close(self) -> None:
        """Stop reading: what came so far is recorded."""
        self._events.close()
        self._settle()

    @property
    def completion(self) -> Completion | None:
        """The whole response once the stream has ended, else None."""
        return self._fold.completion


class Turn:
    """One turn of a session; made by `Journal.turn`."""

    def __init__(self, writer: Writer, number: int, *, raw: bool) -> None:
        """Begin with no answer yet."""
        self._state = TurnState(writer, number)
        self._raw = raw
        self.number = number

    def user(self, content: Content | dict[str, Any]) -> None:
        """Record another user message. Raises `Refused` while a call has no result (J6)."""
        self._state.writer.append([user_entry(content)])

    def stream(  # noqa: PLR0913  (the options of `deltafold.Assembler`)
        self,
        response: Any,  # noqa: ANN401
        *,
        wire: WireName = "auto",
        policy: Policy | None = None,
        limits: Limits | None = None,
        malformed: Malformed = "raise",
        coalesce: bool = True,
    ) -> TurnStream:
        """Fold a response into the session.

        Its bytes are kept first, then events come, then the answer is recorded.

        `response` is a response of httpx, requests or http.client, or an iterable of bytes; the options are
        those of `deltafold.stream`. A call that must not run is answered in the same write.
        """
        fold = self._state.fold(
            raw=self._raw, wire=wire, policy=policy, limits=limits, malformed=malformed, coalesce=coalesce
        )
        return TurnStream(self._state, fold, chunks_of(response))

    def record(self, completion: Completion) -> None:
        """Record a response that was folded elsewhere."""
        entries = self._state.settle(completion, None)
        if entries:
            self._state.writer.append(entries)

    @property
    def completion(self) -> Completion | None:
        """The last response."""
        return self._state.completion

    @property
    def executable_calls(self) -> list[ToolCall]:
        """The calls of the last response that may run and were not started, with the history's ids."""
        return self._state.executable()

    def running(self, call: ToolCall) -> Run:
        """Run a call: `tool/call` is durable when the body begins, and its result when the body has ended."""
        return Run(self._state, call)

    def abandon(self) -> None:
        """Give up a response that nobody read to its end; what the raw file has stays."""
        self._state.abandon()

    def end(self, reason: str = "done") -> None:
        """End the turn. Raises `Refused` while a call has no result (J6)."""
        self._state.writer.append([("turn/end", {"turn": self.number, "reason": reason})])


class Run:
    """A call that runs: a context manager.

    An exception in the body becomes an error result and goes no further, unless it is to end the program
    (`KeyboardInterrupt` and the like), which is recorded and goes on.
    """

    def __init__(self, state: TurnState, call: ToolCall) -> None:
        """Keep the call; nothing is recorded yet."""
        self._state = state
        self.call = call
        self.exception: BaseException | None = None

    def __enter__(self) -> Self:
        """Record `tool/call`."""
        self.call, entry = self._state.start(self.call)
        self._state.writer.append([entry])
        return self

    def result(self, value: Any, *, is_error: bool = False, error: str | None = None) -> None:  # noqa: ANN401
        """Record the call's one result: text, a list of content parts, or any value that JSON can hold."""
        content = result_content(value)
        with self._state.in_one_step():
            entries = self._state.result(self.call, content, error=error, is_error=is_error)
            self._state.writer.append(entries)
            self._state.told()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Record what became of it when the body gave no result."""
        self.exception = error
        if not self._state.waits_for_result(self.call):
            return False
        content, name = outcome_of(error)
        self.result(content, error=name)
        return isinstance(error, Exception)


def outcome_of(error: BaseException | None) -> tuple[str, str]:
    """Return the content and the error name of a body that gave no result."""
    if error is None:
        return "The tool gave no result.", "no-result"
    if isinstance(error, Exception):
        text = f"{type(error).__name__}: {error}"[:_MAX_ERROR]
        return text.encode("utf-8", "replace").decode("utf-8"), "raised"
    return "The call was interrupted. Whether it took effect is not known.", "outcome-unknown"
