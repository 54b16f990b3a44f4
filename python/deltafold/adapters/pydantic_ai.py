"""pydantic-ai: a chat model whose streams are folded by us, through the hooks that it offers.

agent = Agent(DeltafoldChatModel("gpt-5.2", provider=provider))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse

from deltafold.adapters._normal import normalised

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from openai.types.chat import ChatCompletionChunk


class _FoldedStream:
    """The SDK's stream with each call as our fold has it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._chunks = normalised(stream)

    def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self._chunks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class DeltafoldChatModel(OpenAIChatModel):
    """OpenAIChatModel with our fold beneath its streams; requests without stream are unchanged."""

    async def _process_streamed_response(
        self, response: Any, *further: Any, **options: Any
    ) -> OpenAIStreamedResponse:
        """pydantic-ai's method that makes its response of the SDK's stream."""
        folded: Any = _FoldedStream(response)
        return await super()._process_streamed_response(folded, *further, **options)
