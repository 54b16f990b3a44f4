"""deltafold.adapters.langchain against LangChain's chat models, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import peer, theirs, vector

langchain_openai = peer("langchain_openai")
langchain_anthropic = peer("langchain_anthropic")
AIMessage = peer("langchain_core.messages").AIMessage
adapter = peer("deltafold.adapters.langchain")

pytestmark = theirs


def model(play: Play) -> Any:
    return langchain_openai.ChatOpenAI(
        model="any", api_key="none", base_url=play.url, max_retries=0, stream_usage=False
    )


def added_up(chunks: list[Any]) -> Any:
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk
    return total


def calls(message: Any) -> list[tuple[str, str, Any]]:
    return [(call["id"], call["name"], call["args"]) for call in message.tool_calls]


def invalid(message: Any) -> list[tuple[str, str, Any]]:
    return [(call["id"], call["name"], call["args"]) for call in message.invalid_tool_calls]


def test_truncated_arguments_are_a_valid_call_in_the_original(gateway: Gateway) -> None:
    chunks = list(model(gateway.play(vector("truncated-length")[0])).stream("any"))
    original = added_up(chunks)
    assert calls(original) == [("c1", "f", {"path": "/etc", "mode": "ap"})]
    assert original.invalid_tool_calls == []
    message = adapter.message(chunks)
    assert type(message) is AIMessage
    assert calls(message) == []
    assert invalid(message) == [("c1", "f", '{"path":"/etc","mode":"ap')]
    assert message.invalid_tool_calls[0]["error"] == "the arguments are truncated"
    assert message.response_metadata["finish_reason"] == "length"


def test_a_repeated_name_is_joined_by_the_original(gateway: Gateway) -> None:
    chunks = list(model(gateway.play(vector("name-repeated")[0])).stream("any"))
    assert calls(added_up(chunks)) == [("c1", "ff", {"a": 1})]
    assert calls(adapter.message(chunks)) == [("c1", "f", {"a": 1})]


@pytest.mark.parametrize("size", [FRAMES, 11], ids=["frames", "11"])
def test_a_stream_of_its_chunks(gateway: Gateway, size: int) -> None:
    events = adapter.stream(model(gateway.play(vector("shared-index")[0], size)).stream("any"))
    assert type(next(events)).__name__ == "ToolCallStart"
    assert calls(events.get_final_message()) == [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})]


def test_an_async_stream_of_its_chunks(gateway: Gateway) -> None:
    async def run() -> Any:
        return await adapter.astream(
            model(gateway.play(vector("shared-index")[0])).astream("any")
        ).get_final_message()

    assert calls(asyncio.run(run())) == [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})]


def test_a_cut_call_is_not_valid(gateway: Gateway) -> None:
    chunks = list(model(gateway.play(vector("eof-complete-args")[0])).stream("any"))
    assert calls(added_up(chunks)) == [("c1", "f", {"a": 1})]
    message = adapter.message(chunks)
    assert (calls(message), invalid(message)) == ([], [("c1", "f", '{"a":1}')])


def test_the_rest_of_the_message_is_langchains(gateway: Gateway) -> None:
    chunks = list(model(gateway.play(vector("shared-index")[0])).stream("any"))
    message, original = adapter.message(chunks), added_up(chunks)
    assert (message.content, message.id) == (original.content, original.id)
    assert message.response_metadata == original.response_metadata


def test_chunks_of_the_anthropic_integration(gateway: Gateway) -> None:
    play = gateway.play(vector("eof-before-message-stop", "anthropic-messages")[0])
    claude = langchain_anthropic.ChatAnthropic(
        model="any", api_key="none", base_url=play.url, max_retries=0, max_tokens=64
    )
    chunks = list(claude.stream("any"))
    assert calls(added_up(chunks)) == [("t1", "f", {})]
    message = adapter.message(chunks)
    assert (calls(message), invalid(message)) == ([], [("t1", "f", '{"a"')])
