"""anthropic-python: its requests, our fold, its `Message`.

`stream(client, **arguments)` takes what `client.messages.create` takes and gives our events as they come;
`get_final_message()` gives the SDK's Message. With `client.beta` for the client the beta API is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

from anthropic import AsyncAnthropic
from anthropic.resources.beta import AsyncBeta
from anthropic.types import Message
from anthropic.types.beta import BetaMessage

import deltafold
from deltafold._json import is_object
from deltafold.adapters._opening import (
    AsyncDrainedStream,
    DrainedStream,
    Envelope,
    LazyResponse,
    split_options,
)

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.resources.beta import Beta

    from deltafold import Completion

_MARKS = ('"message_start"', '"message_delta"')
_OURS = frozenset({"content", "stop_reason", "usage"})
"""Members of a message that the fold answers for."""


def message_object(
    completion: Completion, envelope: dict[str, Any] | None = None, *, beta: bool = False
) -> Message:
    """Give a folded response as the SDK's Message; `envelope` holds further members of it, as sent."""
    members: dict[str, Any] = {
        "id": completion.id or "",
        "type": "message",
        "role": "assistant",
        "model": completion.model or "",
        "stop_sequence": None,
        **(envelope or {}),
        **completion.extra,
        "content": list(completion.blocks),
        "stop_reason": completion.finish_reason,
        "usage": completion.usage or {},
    }
    if beta:
        return cast("Message", BetaMessage.construct(**members))  # the beta's twin of it
    return Message.construct(**members)


class _LastMessage:
    """What the message says of itself beside what is folded."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}

    def keep(self, event: dict[str, Any]) -> None:
        said = event.get("message") if event.get("type") == "message_start" else event.get("delta")
        if is_object(said):
            self.value |= {
                name: value for name, value in said.items() if name not in _OURS and value is not None
            }


class MessageStream(DrainedStream):
    """The events of a message."""

    def __init__(self, assembler: Any, chunks: Any, tee: Any, *, beta: bool = False) -> None:
        """Read chunks into an assembler, and keep what the message says of itself."""
        self._last = _LastMessage()
        self._beta = beta
        super().__init__(assembler, chunks, Envelope(_MARKS, self._last.keep, tee))

    def get_final_message(self) -> Message:
        """Read to the end and give the SDK's Message; raises where the response did not come whole."""
        return message_object(self.until_done(), self._last.value, beta=self._beta)


class AsyncMessageStream(AsyncDrainedStream):
    """The events of a message."""

    def __init__(self, assembler: Any, chunks: Any, tee: Any, *, beta: bool = False) -> None:
        """Read chunks into an assembler, and keep what the message says of itself."""
        self._last = _LastMessage()
        self._beta = beta
        super().__init__(assembler, chunks, Envelope(_MARKS, self._last.keep, tee))

    async def get_final_message(self) -> Message:
        """Read to the end and give the SDK's Message; raises where the response did not come whole."""
        return message_object(await self.until_done(), self._last.value, beta=self._beta)


@overload
def stream(client: AsyncAnthropic | AsyncBeta, **arguments: Any) -> AsyncMessageStream: ...
@overload
def stream(  # type: ignore[overload-cannot-match, unused-ignore]
    client: Anthropic | Beta, **arguments: Any
) -> MessageStream: ...
def stream(client: Any, **arguments: Any) -> Any:
    """Ask with the SDK's client and give our events.

    `arguments` are those of the SDK's `messages.create`; `policy`, `limits`, `malformed`, `coalesce` and
    `tee` go to the fold. A sync client asks at once, an async one when the first event is; the SDK's own
    errors come from there.
    """
    fold, tee, create = split_options(arguments)
    method = client.messages.with_streaming_response.create
    assembler = deltafold.Assembler(wire="anthropic-messages", **fold)
    beta = not hasattr(client, "beta")
    if isinstance(client, AsyncAnthropic | AsyncBeta):

        async def opening() -> Any:
            return (await method(**create).__aenter__()).http_response

        return AsyncMessageStream(assembler, LazyResponse(opening), tee, beta=beta)
    response = method(**create).__enter__().http_response
    return MessageStream(assembler, response, tee, beta=beta)
