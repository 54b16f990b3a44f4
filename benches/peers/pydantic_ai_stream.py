"""pydantic-ai: `request_stream` of its chat model to the response."""

from __future__ import annotations

import asyncio

import openai
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.transport import BASE_URL, async_client


async def requested(feeds: Feeds) -> str:
    sdk = openai.AsyncOpenAI(api_key="none", base_url=BASE_URL, http_client=async_client(feeds))
    model = OpenAIChatModel("any", provider=OpenAIProvider(openai_client=sdk))
    question = [ModelRequest(parts=[UserPromptPart("any")])]
    async with model.request_stream(question, None, ModelRequestParameters()) as events:
        async for _event in events:
            pass
        return events.get().parts[0].args


def request_stream(feeds: Feeds) -> str:
    return asyncio.run(requested(feeds))


CONTENDERS = (Contender("pydantic-ai, request_stream", "pydantic-ai-slim", CHAT, request_stream),)
