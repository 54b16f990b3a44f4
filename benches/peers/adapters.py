"""deltafold's adapters, each on what its original in the neighbouring files is measured on."""

from __future__ import annotations

import asyncio
import json

import anthropic
import httpx2
import litellm
import openai
from agents import ModelSettings, ModelTracing, OpenAIChatCompletionsModel
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.providers.openai import OpenAIProvider

from benches.peers.anthropic_python import Body
from benches.peers.contender import ANTHROPIC, CHAT, PARSED, Contender, Feeds
from benches.peers.langchain import model
from benches.peers.litellm_builder import made_chunks
from benches.peers.openai_python import sdk
from benches.peers.transport import BASE_URL, HEADERS, async_client
from deltafold.adapters import anthropic as for_anthropic
from deltafold.adapters import langchain as for_langchain
from deltafold.adapters import litellm as for_litellm
from deltafold.adapters import openai as for_openai
from deltafold.adapters import openai_agents
from deltafold.adapters.pydantic_ai import DeltafoldChatModel

QUESTION = [{"role": "user", "content": "any"}]


def openai_stream(feeds: Feeds) -> str:
    completion = for_openai.stream(sdk(feeds), model="any", messages=[]).get_final_completion()
    return completion.choices[0].message.tool_calls[0].function.arguments


def openai_state(feeds: Feeds) -> str:
    state = for_openai.ChatCompletionStreamState()
    for chunk in sdk(feeds).chat.completions.create(model="any", messages=[], stream=True):
        state.handle_chunk(chunk)
    return state.get_final_completion().choices[0].message.tool_calls[0].function.arguments


def anthropic_stream(feeds: Feeds) -> str:
    transport = httpx2.MockTransport(
        lambda _request: httpx2.Response(200, headers=HEADERS, stream=Body(feeds))
    )
    client = anthropic.Anthropic(
        api_key="none", base_url=BASE_URL, http_client=httpx2.Client(transport=transport)
    )
    events = for_anthropic.stream(client, model="any", max_tokens=4096, messages=QUESTION)
    return json.dumps(events.get_final_message().content[0].input, ensure_ascii=False)


def litellm_builder(feeds: Feeds) -> str:
    chunks = litellm.completion(model="openai/any", messages=QUESTION, stream=True, client=sdk(feeds))
    response = for_litellm.stream_chunk_builder(chunks)
    return response.choices[0].message.tool_calls[0].function.arguments


def litellm_builder_alone(_feeds: Feeds) -> str:
    response = for_litellm.stream_chunk_builder(made_chunks())
    return response.choices[0].message.tool_calls[0].function.arguments


def langchain_message(feeds: Feeds) -> str:
    answer = for_langchain.message(model(feeds).stream("any"))
    return json.dumps(answer.tool_calls[0]["args"], ensure_ascii=False)


async def pydantic_ai(feeds: Feeds) -> str:
    client = openai.AsyncOpenAI(api_key="none", base_url=BASE_URL, http_client=async_client(feeds))
    chat = DeltafoldChatModel("any", provider=OpenAIProvider(openai_client=client))
    question = [ModelRequest(parts=[UserPromptPart("any")])]
    async with chat.request_stream(question, None, ModelRequestParameters()) as events:
        async for _event in events:
            pass
        return events.get().parts[0].args


async def agents(feeds: Feeds) -> str:
    client = openai.AsyncOpenAI(api_key="none", base_url=BASE_URL, http_client=async_client(feeds))
    chat = OpenAIChatCompletionsModel(model="any", openai_client=client)
    last = None
    with openai_agents.patched():
        async for event in chat.stream_response(
            None, "any", ModelSettings(), [], None, [], ModelTracing.DISABLED
        ):
            last = event
    return last.response.output[0].arguments


CONTENDERS = (
    Contender("deltafold.adapters.openai, stream", "openai", CHAT, openai_stream),
    Contender("deltafold.adapters.openai, StreamState", "openai", CHAT, openai_state),
    Contender("deltafold.adapters.anthropic, stream", "anthropic", ANTHROPIC, anthropic_stream),
    Contender("deltafold.adapters.litellm, stream_chunk_builder", "litellm", CHAT, litellm_builder),
    Contender(
        "deltafold.adapters.litellm, stream_chunk_builder alone", "litellm", PARSED, litellm_builder_alone
    ),
    Contender("deltafold.adapters.langchain, message", "langchain-openai", CHAT, langchain_message),
    Contender(
        "deltafold.adapters.pydantic_ai",
        "pydantic-ai-slim",
        CHAT,
        lambda feeds: asyncio.run(pydantic_ai(feeds)),
    ),
    Contender(
        "deltafold.adapters.openai_agents", "openai-agents", CHAT, lambda feeds: asyncio.run(agents(feeds))
    ),
)
