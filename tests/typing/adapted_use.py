"""How the adapters are used, for the type checkers: nothing here runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

from deltafold import Event
from deltafold.adapters import anthropic as for_anthropic
from deltafold.adapters import openai as for_openai

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.types import Message
    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response


def of_openai(client: OpenAI) -> ChatCompletion:
    events = for_openai.stream(client, model="any", messages=[])
    for event in events:
        assert_type(event, Event)
    return events.get_final_completion()


async def of_async_openai(client: AsyncOpenAI) -> ChatCompletion:
    async with for_openai.stream(client, model="any", messages=[]) as events:
        async for event in events:
            assert_type(event, Event)
    return await events.get_final_completion()


def of_responses(client: OpenAI) -> Response:
    return for_openai.stream(client, model="any", input="any").get_final_response()


def of_anthropic(client: Anthropic) -> Message:
    with for_anthropic.stream(client, model="any", max_tokens=1, messages=[]) as events:
        return events.get_final_message()


async def of_async_anthropic(client: AsyncAnthropic) -> Message:
    async with for_anthropic.stream(client, model="any", max_tokens=1, messages=[]) as events:
        return await events.get_final_message()
