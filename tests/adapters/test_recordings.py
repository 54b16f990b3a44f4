"""Recorded streams, played over HTTP into each adapter: its calls are those that are in the bytes."""

from __future__ import annotations

import asyncio
import gc
from functools import cache
from typing import TYPE_CHECKING, Any

import deltafold
from tests.adapters.peers import KEYS, MESSAGES, peer, theirs
from tests.adapters.test_agents import agents_calls, pydantic_ai_calls
from tests.support import SHARED, needs_shared

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.gateway import Gateway

openai = peer("openai")
anthropic = peer("anthropic")
for_openai = peer("deltafold.adapters.openai")
for_anthropic = peer("deltafold.adapters.anthropic")

pytestmark = [theirs, needs_shared]

READ = 4096
SOME = 12
"""Of this many recordings one is played into the slower libraries."""

Calls = list[tuple[str, str, str]]


@cache
def whole(wire: str) -> list[tuple[Path, bytes, Any]]:
    """The recordings that are whole, with what they fold to."""
    found: list[tuple[Path, bytes, Any]] = []
    for path in sorted((SHARED / "captures" / wire).glob("*.sse")):
        body = path.read_bytes()
        try:
            completion = deltafold.assemble(body, wire=wire).check()
        except deltafold.DeltafoldError:
            continue
        found.append((path, body, completion))
    return found


def calls_of(completion: Any) -> Calls:
    """The calls of the first choice, but for those of the kind that OpenAI has given up."""
    choice = completion.choices[0] if completion.choices else None
    if choice is None or choice.index != 0:
        return []
    return [
        (call.id, call.name, call.arguments) for call in choice.tool_calls if call.kind != "legacy-function"
    ]


def chat_calls(completion: Any) -> Calls:
    if not completion.choices or completion.choices[0].index != 0:
        return []
    calls = completion.choices[0].message.tool_calls or ()
    return [(call.id, call.function.name, call.function.arguments) for call in calls]


def test_chat_recordings_through_the_openai_adapter(gateway: Gateway) -> None:
    recordings = whole("openai-chat")
    assert len(recordings) > 100
    for path, body, completion in recordings:
        with (
            openai.OpenAI(base_url=gateway.play(body, READ).url, **KEYS) as client,
            for_openai.stream(client, model="any", messages=MESSAGES) as events,
        ):
            final = events.get_final_completion()
        assert chat_calls(final) == calls_of(completion), path.name
        assert events.completion == completion, path.name


def test_chat_recordings_through_the_async_openai_adapter(gateway: Gateway) -> None:
    async def run() -> None:
        for path, body, completion in whole("openai-chat")[::SOME]:
            async with (
                openai.AsyncOpenAI(base_url=gateway.play(body, READ).url, **KEYS) as client,
                for_openai.stream(client, model="any", messages=MESSAGES) as events,
            ):
                final = await events.get_final_completion()
            assert chat_calls(final) == calls_of(completion), path.name

    asyncio.run(run())


def test_responses_recordings_through_the_openai_adapter(gateway: Gateway) -> None:
    recordings = whole("openai-responses")
    assert len(recordings) > 20
    for path, body, completion in recordings:
        with (
            openai.OpenAI(base_url=gateway.play(body, READ).url, **KEYS) as client,
            for_openai.stream(client, model="any", input="any") as events,
        ):
            final = events.get_final_response()
        calls = [item for item in final.output if item.type in {"function_call", "custom_tool_call"}]
        assert [call.call_id for call in calls] == [call.id for call in completion.tool_calls], path.name
        assert events.completion == completion, path.name


def test_recordings_through_the_anthropic_adapter(gateway: Gateway) -> None:
    recordings = whole("anthropic-messages")
    assert len(recordings) > 20
    for path, body, completion in recordings:
        with (
            anthropic.Anthropic(base_url=gateway.play(body, READ).url, **KEYS) as client,
            for_anthropic.stream(client, model="any", max_tokens=1, messages=MESSAGES) as events,
        ):
            final = events.get_final_message()
        calls = [(block.id, block.name) for block in final.content if block.type == "tool_use"]
        assert calls == [(call.id, call.name) for call in completion.tool_calls], path.name
        assert events.completion == completion, path.name


def test_chat_recordings_through_chunks_that_the_sdk_has_parsed(gateway: Gateway) -> None:
    """Where the SDK can take them; its own errors are its own."""
    folded = 0
    for path, body, completion in whole("openai-chat")[:: SOME // 4]:
        state = for_openai.ChatCompletionStreamState()
        with openai.OpenAI(base_url=gateway.play(body, READ).url, **KEYS) as client:
            try:
                for chunk in client.chat.completions.create(model="any", messages=MESSAGES, stream=True):
                    state.handle_chunk(chunk)
            except (openai.OpenAIError, ValueError):
                continue
        assert calls_of(state.completion) == calls_of(completion), path.name
        folded += 1
    assert folded > 20


def test_chat_recordings_through_langchain(gateway: Gateway) -> None:
    langchain_openai = peer("langchain_openai")
    adapter = peer("deltafold.adapters.langchain")
    folded = 0
    for path, body, completion in whole("openai-chat")[::SOME]:
        model = langchain_openai.ChatOpenAI(
            model="any", api_key="none", base_url=gateway.play(body, READ).url, max_retries=0
        )
        try:
            chunks = list(model.stream("any"))
        except (openai.OpenAIError, ValueError, TypeError, KeyError):
            continue
        message = adapter.message(chunks)
        calls = [(call["id"], call["name"]) for call in (*message.tool_calls, *message.invalid_tool_calls)]
        assert sorted(calls) == sorted((id_, name) for id_, name, _ in calls_of(completion)), path.name
        folded += 1
    assert folded > 5


def test_chat_recordings_through_litellm(gateway: Gateway) -> None:
    litellm = peer("litellm")
    adapter = peer("deltafold.adapters.litellm")
    folded = 0
    for path, body, completion in whole("openai-chat")[::SOME]:
        options = {"base_url": gateway.play(body, READ).url, "api_key": "none", "max_retries": 0}
        try:
            chunks = list(litellm.completion(model="openai/any", messages=MESSAGES, stream=True, **options))
        except (openai.OpenAIError, ValueError, TypeError):
            continue
        final = adapter.stream_chunk_builder(chunks)
        assert chat_calls(final) == calls_of(completion), path.name
        folded += 1
    assert folded > 5
    asyncio.set_event_loop(None)  # LiteLLM leaves one open: it goes here, where its warnings are its own
    gc.collect()


def test_chat_recordings_through_pydantic_ai_and_openai_agents(gateway: Gateway) -> None:
    """Calls whose id did not come have ours there too; an empty answer is an error of theirs."""
    chat_model = peer("deltafold.adapters.pydantic_ai").DeltafoldChatModel
    patched = peer("deltafold.adapters.openai_agents").patched
    folded = 0
    for path, body, completion in whole("openai-chat")[::SOME]:
        expected = calls_of(completion)
        if not expected:
            continue
        assert pydantic_ai_calls(gateway.play(body, READ), chat_model) == expected, path.name
        with patched():
            assert agents_calls(gateway.play(body, READ)) == expected, path.name
        folded += 1
    assert folded > 3
