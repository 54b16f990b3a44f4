"""LangChain: its message chunks, our fold, one `AIMessage` with valid and invalid tool calls kept apart.

`stream(model.stream(...))` and `astream(model.astream(...))` give our events and `get_final_message()`;
`message(chunks)` gives the message of chunks that are there already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import add_ai_message_chunks

import deltafold
from deltafold.adapters._opening import AsyncDrainedStream, DrainedStream
from deltafold.adapters._payloads import PayloadAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from langchain_core.messages import AIMessageChunk

    from deltafold import Completion, ToolCall

_REASONS = ("finish_reason", "stop_reason", "done_reason", "status")
"""Where integrations put the finish reason, in `response_metadata`."""

_NO_CALLS: dict[str, Any] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}


def _payload_of(chunk: AIMessageChunk) -> bytes:
    """Give what the fold needs of a chunk, in the members of an OpenAI chunk."""
    delta: dict[str, Any] = {"content": _text_of(chunk.content)}
    reasoning = chunk.additional_kwargs.get("reasoning_content")
    if isinstance(reasoning, str):
        delta["reasoning_content"] = reasoning
    if chunk.tool_call_chunks:
        delta["tool_calls"] = [_entry_of(entry) for entry in chunk.tool_call_chunks]
    metadata = chunk.response_metadata
    reason = next((metadata[name] for name in _REASONS if isinstance(metadata.get(name), str)), None)
    return orjson.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def _entry_of(entry: Any) -> dict[str, Any]:
    """Give a tool entry; LangChain's None is what was not sent."""
    function = {"name": entry.get("name"), "arguments": entry.get("args")}
    members = {"index": entry.get("index"), "id": entry.get("id")}
    return {
        **{name: value for name, value in members.items() if value is not None},
        "function": {name: value for name, value in function.items() if value is not None},
    }


def _text_of(content: Any) -> str:
    """Give the text of a chunk, whose content is a string or a list of strings and blocks."""
    if isinstance(content, str):
        return content
    texts = (part if isinstance(part, str) else part.get("text") for part in content)
    return "".join(text for text in texts if isinstance(text, str))


class _Collecting(PayloadAssembler):
    """Folds message chunks, and keeps them without their calls: those are ours to fold."""

    def __init__(self, fold: dict[str, Any]) -> None:
        super().__init__(deltafold.Assembler(wire="openai-chat", **fold), _payload_of)
        self.chunks: list[AIMessageChunk] = []

    def feed(self, chunk: Any, /) -> list[deltafold.Event]:
        if not self.chunks or not self._says_nothing_else(chunk):
            further = {name: value for name, value in chunk.additional_kwargs.items() if name != "tool_calls"}
            self.chunks.append(chunk.model_copy(update={**_NO_CALLS, "additional_kwargs": further}))
        return super().feed(chunk)

    def _says_nothing_else(self, chunk: AIMessageChunk) -> bool:
        """Whether LangChain's merge takes nothing from a chunk but its calls; an empty list may count."""
        return (
            chunk.content == ""
            and chunk.additional_kwargs.keys() <= {"tool_calls"}
            and not chunk.response_metadata
            and chunk.usage_metadata is None
            and chunk.id == self.chunks[0].id
        )

    def message(self, completion: Completion) -> AIMessage:
        """Give the message; all but the calls is merged once, by LangChain's own function."""
        if not self.chunks:
            return AIMessage(content="")
        first, *others = self.chunks
        merged = add_ai_message_chunks(first, *others)
        metadata = dict(merged.response_metadata)
        for name in _REASONS:  # LangChain joins a reason that is sent twice
            if name in metadata and completion.finish_reason is not None:
                metadata[name] = completion.finish_reason
        calls = completion.tool_calls
        return AIMessage(
            content=merged.content,
            additional_kwargs=merged.additional_kwargs,
            response_metadata=metadata,
            usage_metadata=merged.usage_metadata,
            id=merged.id,
            name=merged.name,
            tool_calls=[
                {"type": "tool_call", "id": call.id, "name": call.name, "args": call.parse()}
                for call in calls
                if call.executable
            ],
            invalid_tool_calls=[_invalid(call) for call in calls if not call.executable],
        )


def _invalid(call: ToolCall) -> dict[str, Any]:
    reason = f"the arguments are {call.status}"
    if call.status == "complete":
        reason = "the response was cut off or failed"
    return {
        "type": "invalid_tool_call",
        "id": call.id,
        "name": call.name,
        "args": call.arguments,
        "error": reason,
    }


class MessageStream(DrainedStream):
    """The events of LangChain's chunks."""

    def __init__(self, collecting: _Collecting, chunks: Iterable[Any]) -> None:
        """Read chunks."""
        super().__init__(collecting, chunks)
        self._collecting = collecting

    def get_final_message(self) -> AIMessage:
        """Read to the end and give the message; what cannot be executed is in `invalid_tool_calls`."""
        for _event in self:
            pass
        return self._collecting.message(self.completion)


class AsyncMessageStream(AsyncDrainedStream):
    """The events of LangChain's chunks."""

    def __init__(self, collecting: _Collecting, chunks: AsyncIterable[Any]) -> None:
        """Read chunks."""
        super().__init__(collecting, chunks)
        self._collecting = collecting

    async def get_final_message(self) -> AIMessage:
        """Read to the end and give the message; what cannot be executed is in `invalid_tool_calls`."""
        async for _event in self:
            pass
        return self._collecting.message(self.completion)


def stream(chunks: Iterable[AIMessageChunk], **fold: Any) -> MessageStream:
    """Give the events of what `model.stream()` gives; keywords are those of `deltafold.Assembler`."""
    return MessageStream(_Collecting(fold), chunks)


def astream(chunks: AsyncIterable[AIMessageChunk], **fold: Any) -> AsyncMessageStream:
    """As `stream`, for what `model.astream()` gives."""
    return AsyncMessageStream(_Collecting(fold), chunks)


def message(chunks: Iterable[AIMessageChunk], **fold: Any) -> AIMessage:
    """Give the one message of chunks."""
    return stream(chunks, **fold).get_final_message()
