"""Chunks of openai-python with their tool entries as our fold has them, for what consumes such chunks.

Each call has its position as its index, its id and name once, then its arguments; what a gateway repeated,
blanked or misplaced is gone. Texts, usage and everything else pass as they came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openai.types.chat.chat_completion_chunk import (
    Choice,
    ChoiceDelta,
    ChoiceDeltaToolCall,
)

from deltafold import Assembler, IncompleteStream, ToolCallDelta, ToolCallEnd, ToolCallStart
from deltafold.adapters._payloads import payload_of
from deltafold.adapters._quick import build, quickened

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

    from openai.types.chat import ChatCompletionChunk

    from deltafold import Event

    Entries = dict[int, list[ChoiceDeltaToolCall]]


async def normalised(
    chunks: AsyncIterable[ChatCompletionChunk], **fold: Any
) -> AsyncIterator[ChatCompletionChunk]:
    """Give the chunks with our calls in them, and one more where calls were only known at the end.

    Raises the response's error, and IncompleteStream where a response with calls was cut: its calls must not
    be executed.
    """
    assembler = Assembler(wire="openai-chat", **fold)
    payload = quickened(chunks) or payload_of
    last: ChatCompletionChunk | None = None
    async for chunk in chunks:
        entries = _entries(assembler.feed_payload(payload(chunk)))
        for choice in chunk.choices or ():
            delta: Any = choice.delta  # a gateway may send null
            if delta is not None and (delta.tool_calls or entries):
                delta.tool_calls = entries.pop(choice.index or 0, None)
        last = chunk
        yield chunk
        if assembler.error is not None:
            raise assembler.error
    entries = _entries(assembler.finish())
    completion = assembler.close()
    if completion.end == "cut" and completion.has_calls:
        raise IncompleteStream(
            "the stream was cut before its calls were whole", kind="cut", partial=completion
        )
    if entries and last is not None:
        choices = [
            Choice.construct(index=choice, delta=ChoiceDelta.construct(tool_calls=calls), finish_reason=None)
            for choice, calls in entries.items()
        ]
        yield last.model_copy(update={"choices": choices, "usage": None})


def _entries(events: list[Event]) -> Entries:
    """Give the tool entries of events, by choice. A call's unknown members come with its end (X2)."""
    entries: Entries = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            entry: dict[str, Any] = {"index": event.call, "function": {"arguments": event.arguments}}
        elif isinstance(event, ToolCallStart):
            function = {"name": event.name, "arguments": ""}
            entry = {"index": event.call, "id": event.id, "type": "function", "function": function}
        elif isinstance(event, ToolCallEnd) and event.tool_call.extra:
            entry = {"index": event.call, "function": {"arguments": ""}, **event.tool_call.extra}
        else:
            continue
        entries.setdefault(event.choice, []).append(build(ChoiceDeltaToolCall, entry))
    return entries
