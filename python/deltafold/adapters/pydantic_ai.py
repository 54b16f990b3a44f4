"""pydantic-ai: a chat model whose streams are folded by us, through the hooks that it offers.

agent = Agent(DeltafoldChatModel("gpt-5.2", provider=provider))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse

from deltafold.adapters._normal import normalised

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    from openai.types.chat import ChatCompletionChunk


class DeltafoldStreamedResponse(OpenAIStreamedResponse):
    """A streamed response that sees each call as our fold has it."""

    def _validate_response(self) -> AsyncIterable[ChatCompletionChunk]:
        """pydantic-ai's hook for the chunks that it reads."""
        return normalised(super()._validate_response())


class DeltafoldChatModel(OpenAIChatModel):
    """OpenAIChatModel with our fold beneath its streams; requests without stream are unchanged."""

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        """pydantic-ai's hook for the type of its streamed responses."""
        return DeltafoldStreamedResponse
