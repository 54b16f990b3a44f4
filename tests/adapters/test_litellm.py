"""deltafold.adapters.litellm against LiteLLM, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import deltafold
from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import MESSAGES, peer, theirs, vector

litellm = peer("litellm")
adapter = peer("deltafold.adapters.litellm")
litellm.suppress_debug_info = True

pytestmark = theirs

TWO_CALLS = [("c1", "f", '{"a":1}'), ("c2", "g", '{"b":2}')]


def asked(play: Play) -> dict[str, Any]:
    return {
        "model": "openai/any",
        "messages": MESSAGES,
        "stream": True,
        "base_url": play.url,
        "api_key": "none",
        "max_retries": 0,
    }


def identities(response: Any) -> list[tuple[str, str, str]]:
    calls = response.choices[0].message.tool_calls or ()
    return [(call.id, call.function.name, call.function.arguments) for call in calls]


def test_the_original_merges_two_calls_at_one_index(gateway: Gateway) -> None:
    chunks = list(litellm.completion(**asked(gateway.play(vector("shared-index")[0]))))
    original = litellm.stream_chunk_builder(chunks)
    assert identities(original) == [("c2", "g", '{"a":1}{"b":2}')]
    response = adapter.stream_chunk_builder(chunks, messages=MESSAGES)
    assert isinstance(response, litellm.ModelResponse)
    assert identities(response) == TWO_CALLS
    assert response.choices[0].finish_reason == "tool_calls"
    assert response.model == original.model


@pytest.mark.parametrize("size", [FRAMES, 11], ids=["frames", "11"])
def test_a_stream_of_its_chunks(gateway: Gateway, size: int) -> None:
    play = gateway.play(vector("shared-index")[0], size)
    events = adapter.stream(litellm.completion(**asked(play)))
    starts = [event for event in events if isinstance(event, deltafold.ToolCallStart)]
    assert [(start.id, start.name) for start in starts] == [("c1", "f"), ("c2", "g")]
    assert identities(events.get_final_response()) == TWO_CALLS


def test_an_async_stream_of_its_chunks(gateway: Gateway) -> None:
    async def run() -> Any:
        play = gateway.play(vector("shared-index")[0])
        return await adapter.astream(await litellm.acompletion(**asked(play))).get_final_response()

    assert identities(asyncio.run(run())) == TWO_CALLS


def test_usage_is_as_sent_and_never_estimated(gateway: Gateway) -> None:
    """Deliberately different: the original counts tokens itself where the gateway did not."""
    chunks = list(litellm.completion(**asked(gateway.play(vector("shared-index")[0]))))
    assert litellm.stream_chunk_builder(chunks).usage.total_tokens > 0
    assert getattr(adapter.stream_chunk_builder(chunks), "usage", None) is None
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    counted = [*(chunk.model_dump(exclude_unset=True) for chunk in chunks), {"choices": [], "usage": usage}]
    response = adapter.stream_chunk_builder(counted)
    assert (response.usage.prompt_tokens, response.usage.total_tokens) == (3, 7)


def test_nothing_gives_nothing_and_a_cut_is_raised(gateway: Gateway) -> None:
    assert adapter.stream_chunk_builder([]) is None
    chunks = list(litellm.completion(**asked(gateway.play(vector("truncated-length")[0]))))
    whole = adapter.stream_chunk_builder(chunks)
    assert whole.choices[0].finish_reason == "length"
    with pytest.raises(deltafold.IncompleteStream):
        adapter.stream_chunk_builder(chunks[:1])
