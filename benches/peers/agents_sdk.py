"""openai-agents: `stream_response` of its chat model to the completed response."""

from __future__ import annotations

import asyncio

import openai
from agents import ModelSettings, ModelTracing, OpenAIChatCompletionsModel

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.transport import BASE_URL, async_client


async def responded(feeds: Feeds) -> str:
    sdk = openai.AsyncOpenAI(api_key="none", base_url=BASE_URL, http_client=async_client(feeds))
    model = OpenAIChatCompletionsModel(model="any", openai_client=sdk)
    events = model.stream_response(None, "any", ModelSettings(), [], None, [], ModelTracing.DISABLED)
    last = None
    async for event in events:
        last = event
    return last.response.output[0].arguments


def stream_response(feeds: Feeds) -> str:
    return asyncio.run(responded(feeds))


CONTENDERS = (Contender("openai-agents, stream_response", "openai-agents", CHAT, stream_response),)
