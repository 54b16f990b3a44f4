"""LiteLLM: its chunk objects, our fold, its `ModelResponse`.

`stream(chunks)` and `astream(chunks)` take what `litellm.completion(..., stream=True)` gives;
`stream_chunk_builder(chunks)` stands in for LiteLLM's function of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litellm import ModelResponse, Usage

import deltafold
from deltafold.adapters._chat import chat_completion_of
from deltafold.adapters._opening import AsyncDrainedStream, DrainedStream
from deltafold.adapters._payloads import PayloadAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from deltafold import Completion


def model_response(completion: Completion) -> ModelResponse:
    """Give a folded chat response as LiteLLM's ModelResponse; usage as sent (U1), none where none came."""
    members = chat_completion_of(completion)
    usage = members.pop("usage")
    response: Any = ModelResponse(**members)
    for choice, folded in zip(response.choices, completion.choices, strict=True):
        if folded.finish_reason is None:  # LiteLLM's own default is "stop"
            choice.finish_reason = None
    if usage is not None:
        response.usage = Usage(**usage)
    elif hasattr(response, "usage"):
        del response.usage
    whole: ModelResponse = response
    return whole


class ModelResponseStream(DrainedStream):
    """The events of LiteLLM's chunks."""

    def get_final_response(self) -> ModelResponse:
        """Read to the end and give the ModelResponse; raises where the response did not come whole."""
        return model_response(self.until_done())


class AsyncModelResponseStream(AsyncDrainedStream):
    """The events of LiteLLM's chunks."""

    async def get_final_response(self) -> ModelResponse:
        """Read to the end and give the ModelResponse; raises where the response did not come whole."""
        return model_response(await self.until_done())


def stream(chunks: Iterable[Any], **fold: Any) -> ModelResponseStream:
    """Give the events of LiteLLM's chunks; keywords are those of `deltafold.Assembler`."""
    return ModelResponseStream(_assembler(fold), chunks)


def astream(chunks: AsyncIterable[Any], **fold: Any) -> AsyncModelResponseStream:
    """As `stream`, for what `await litellm.acompletion(..., stream=True)` gives."""
    return AsyncModelResponseStream(_assembler(fold), chunks)


def stream_chunk_builder(
    chunks: Iterable[Any] | None,
    messages: Any = None,  # noqa: ARG001
    *_further: Any,
    **_options: Any,
) -> ModelResponse | None:
    """Give the response of chunks, a ModelResponse or None where there are none.

    Takes LiteLLM's arguments and needs only the chunks. Deliberately different: a cut response raises
    IncompleteStream (`.partial` has what came), and usage that was not sent is not estimated.
    """
    assembler = _assembler({})
    some = False
    for chunk in chunks or ():
        some = True
        assembler.feed(chunk)
    return model_response(assembler.close().check()) if some else None


def _assembler(fold: dict[str, Any]) -> PayloadAssembler:
    return PayloadAssembler(deltafold.Assembler(wire="openai-chat", **fold))
