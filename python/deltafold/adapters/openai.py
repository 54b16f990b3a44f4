"""openai-python: its requests, our fold, its objects.

`stream(client, **arguments)` takes what `client.chat.completions.create` or `client.responses.create` takes
and gives our events as they come; afterwards `get_final_completion()` or `get_final_response()` give the
SDK's own object. `ChatCompletionStreamState` folds chunks that the SDK has parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from openai import AsyncOpenAI
from openai.lib._parsing import parse_chat_completion
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

import deltafold
from deltafold.adapters._chat import chat_completion_of
from deltafold.adapters._opening import (
    AsyncDrainedStream,
    DrainedStream,
    Envelope,
    LazyResponse,
    split_options,
)
from deltafold.adapters._payloads import payload_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk, ParsedChatCompletion

    from deltafold import Completion, Event

_RESPONSE_MARKS = ('"response.c', '"response.i', '"response.f', '"response.q')
"""created, completed, in_progress, incomplete, failed, queued: the events that hold the whole response."""


def completion_object(completion: Completion) -> ChatCompletion:
    """Give a folded chat response as the SDK's ChatCompletion; nothing in it is repaired."""
    return ChatCompletion.construct(**chat_completion_of(completion))


def response_object(completion: Completion, envelope: dict[str, Any] | None = None) -> Response:
    """Give a folded Responses stream as the SDK's Response.

    `envelope` is what the last event said of the response; output, status and usage are the folded ones.
    """
    output = completion.to_message() if completion.choices else []
    reason = completion.finish_reason
    members: dict[str, Any] = {
        "id": completion.id or "",
        "object": "response",
        "created_at": completion.created or 0,
        "model": completion.model or "",
        "status": "completed" if completion.error is None else "failed",
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **(envelope or {}),
        "output": _finished(output),
        "usage": completion.usage,
    }
    if envelope is None and reason not in {None, "completed"}:
        members |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return Response.construct(**members)


def _finished(items: Any) -> list[dict[str, Any]]:
    """Give items as output: a call that has come whole says so."""
    calls = {"function_call", "custom_tool_call"}
    return [{"status": "completed", **item} if item.get("type") in calls else item for item in items]


class _LastResponse:
    """The response as the last event that held all of it had it."""

    def __init__(self) -> None:
        self.value: dict[str, Any] | None = None

    def keep(self, event: dict[str, Any]) -> None:
        response = event.get("response")
        if isinstance(response, dict):
            self.value = response


class CompletionStream(DrainedStream):
    """The events of a chat response."""

    def get_final_completion(self) -> ChatCompletion:
        """Read to the end and give the SDK's ChatCompletion; raises where the response did not come whole."""
        return completion_object(self.until_done())


class AsyncCompletionStream(AsyncDrainedStream):
    """The events of a chat response."""

    async def get_final_completion(self) -> ChatCompletion:
        """Read to the end and give the SDK's ChatCompletion; raises where the response did not come whole."""
        return completion_object(await self.until_done())


class ResponseStream(DrainedStream):
    """The events of a response of the Responses API."""

    def __init__(self, assembler: Any, chunks: Any, tee: Any) -> None:
        """Read chunks into an assembler, and keep what the response says of itself."""
        self._last = _LastResponse()
        super().__init__(assembler, chunks, Envelope(_RESPONSE_MARKS, self._last.keep, tee))

    def get_final_response(self) -> Response:
        """Read to the end and give the SDK's Response; raises where the response did not come whole."""
        return response_object(self.until_done(), self._last.value)


class AsyncResponseStream(AsyncDrainedStream):
    """The events of a response of the Responses API."""

    def __init__(self, assembler: Any, chunks: Any, tee: Any) -> None:
        """Read chunks into an assembler, and keep what the response says of itself."""
        self._last = _LastResponse()
        super().__init__(assembler, chunks, Envelope(_RESPONSE_MARKS, self._last.keep, tee))

    async def get_final_response(self) -> Response:
        """Read to the end and give the SDK's Response; raises where the response did not come whole."""
        return response_object(await self.until_done(), self._last.value)


@overload
def stream(  # type: ignore[overload-cannot-match, overload-overlap, unused-ignore]
    client: AsyncOpenAI, *, messages: Iterable[Any], **arguments: Any
) -> AsyncCompletionStream: ...
@overload
def stream(  # type: ignore[overload-cannot-match, overload-overlap, unused-ignore]
    client: OpenAI, *, messages: Iterable[Any], **arguments: Any
) -> CompletionStream: ...
@overload
def stream(  # type: ignore[overload-cannot-match, overload-overlap, unused-ignore]
    client: AsyncOpenAI, **arguments: Any
) -> AsyncResponseStream: ...
@overload
def stream(  # type: ignore[overload-cannot-match, unused-ignore]
    client: OpenAI, **arguments: Any
) -> ResponseStream: ...
def stream(client: OpenAI | AsyncOpenAI, **arguments: Any) -> Any:
    """Ask with the SDK's client and give our events.

    `arguments` are those of the SDK's `create`: with `messages` a chat response is asked for, with
    `response_id` one is resumed (`responses.retrieve`, with `starting_after`), else one of the Responses API
    is made. `policy`, `limits`, `malformed`, `coalesce` and `tee` go to the fold.

    A sync client asks at once, an async one when the first event is; the SDK's own errors come from there.
    """
    fold, tee, create = split_options(arguments)
    method: Any
    if "messages" in create:
        method = client.chat.completions.with_streaming_response.create
    elif "response_id" in create:
        method = client.responses.with_streaming_response.retrieve
    else:
        method = client.responses.with_streaming_response.create
    chat = "messages" in create
    assembler = deltafold.Assembler(wire="openai-chat" if chat else "openai-responses", **fold)
    if isinstance(client, AsyncOpenAI):

        async def opening() -> Any:
            return (await method(**create).__aenter__()).http_response

        return (AsyncCompletionStream if chat else AsyncResponseStream)(assembler, LazyResponse(opening), tee)
    response = method(**create).__enter__().http_response
    return (CompletionStream if chat else ResponseStream)(assembler, response, tee)


class ChatCompletionStreamState:
    """In place of the SDK's class of this name, for chunks that the SDK has parsed.

    `handle_chunk` gives our events, not the SDK's: those carry a snapshot each, which makes the whole
    quadratic. `current_completion_snapshot` builds one when it is asked for.
    """

    def __init__(self, *, input_tools: Any = None, response_format: Any = None, **fold: Any) -> None:
        """Take the SDK's arguments; `policy` and `limits` go to the fold."""
        self._tools = list(input_tools or [])
        self._format = response_format
        self._assembler = deltafold.Assembler(wire="openai-chat", **fold)

    def handle_chunk(self, chunk: ChatCompletionChunk) -> Iterable[Event]:
        """Fold a chunk and give the events that it holds."""
        return self._assembler.feed_payload(payload_of(chunk))

    @property
    def completion(self) -> Completion:
        """Our result; call it when no further chunk comes. The SDK hides `[DONE]`, so `end` is never that."""
        return self._assembler.close()

    @property
    def current_completion_snapshot(self) -> ChatCompletion:
        """The response so far."""
        return completion_object(self._assembler.snapshot())

    def get_final_completion(self) -> ParsedChatCompletion[Any]:
        """Give the response parsed by the tools and format given; raises where it was cut."""
        from openai import omit  # noqa: PLC0415

        return parse_chat_completion(
            chat_completion=completion_object(self.completion.check()),
            response_format=self._format or omit,
            input_tools=self._tools,
        )
