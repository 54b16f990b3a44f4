"""deltafold.adapters.pydantic_ai and .openai_agents against those libraries, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import deltafold
from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import KEYS, peer, theirs, vector

openai = peer("openai")

pytestmark = theirs
writes = pytest.mark.parametrize("size", [FRAMES, 11], ids=["frames", "11"])
TWO_CALLS = [("c1", "f", '{"a":1}'), ("c2", "g", '{"b":2}')]


def pydantic_ai_calls(play: Play, model_class: Any) -> list[tuple[str, str, Any]]:
    messages = peer("pydantic_ai.messages")
    parameters = peer("pydantic_ai.models").ModelRequestParameters()
    provider_class = peer("pydantic_ai.providers.openai").OpenAIProvider

    async def run() -> Any:
        async with openai.AsyncOpenAI(base_url=play.url, **KEYS) as client:
            model = model_class("any", provider=provider_class(openai_client=client))
            question = [messages.ModelRequest(parts=[messages.UserPromptPart("any")])]
            async with model.request_stream(question, None, parameters) as events:
                async for _event in events:
                    pass
                return events.get()

    parts = asyncio.run(run()).parts
    return [(part.tool_call_id, part.tool_name, part.args) for part in parts if part.part_kind == "tool-call"]


@writes
def test_pydantic_ai_merges_two_calls_at_one_index(gateway: Gateway, size: int) -> None:
    adapter = peer("deltafold.adapters.pydantic_ai")
    play = gateway.play(vector("shared-index")[0], size)
    original = peer("pydantic_ai.models.openai").OpenAIChatModel
    assert pydantic_ai_calls(play, original) == [("c2", "fg", '{"a":1}{"b":2}')]
    assert pydantic_ai_calls(play, adapter.DeltafoldChatModel) == TWO_CALLS


def test_pydantic_ai_executes_a_cut_call(gateway: Gateway) -> None:
    """Deliberately different: ours raises, so that nothing of the response is executed."""
    adapter = peer("deltafold.adapters.pydantic_ai")
    play = gateway.play(vector("eof-complete-args")[0])
    original = peer("pydantic_ai.models.openai").OpenAIChatModel
    assert pydantic_ai_calls(play, original) == [("c1", "f", '{"a":1}')]
    with pytest.raises(deltafold.IncompleteStream):
        pydantic_ai_calls(play, adapter.DeltafoldChatModel)


def agents_calls(play: Play, *, buffered: bool = False) -> list[tuple[str, str, str]]:
    agents = peer("agents")

    async def run() -> Any:
        last: Any = None
        async with openai.AsyncOpenAI(base_url=play.url, **KEYS) as client:
            model = agents.OpenAIChatCompletionsModel(model="any", openai_client=client)
            model._buffer_streamed_tool_calls = buffered
            none = agents.ModelTracing.DISABLED
            async for event in model.stream_response(None, "any", agents.ModelSettings(), [], None, [], none):
                last = event
        return last.response

    output = asyncio.run(run()).output
    return [(item.call_id, item.name, item.arguments) for item in output if item.type == "function_call"]


@writes
@pytest.mark.parametrize("buffered", [False, True])
def test_openai_agents_merges_two_calls_at_one_index(gateway: Gateway, size: int, *, buffered: bool) -> None:
    adapter = peer("deltafold.adapters.openai_agents")
    play = gateway.play(vector("shared-index")[0], size)
    merged = [("c2", "g", '{"a":1}{"b":2}')]
    assert agents_calls(play, buffered=buffered) == merged
    with adapter.patched():
        assert agents_calls(play, buffered=buffered) == TWO_CALLS
    assert agents_calls(play, buffered=buffered) == merged


def test_the_patch_is_undone_by_the_last_exit() -> None:
    adapter = peer("deltafold.adapters.openai_agents")
    handler = peer("agents.models.chatcmpl_stream_handler").ChatCmplStreamHandler
    before = dict(handler.__dict__)
    with adapter.patched():
        with adapter.patched():
            pass
        assert handler.__dict__["handle_stream"] is not before["handle_stream"]
    assert dict(handler.__dict__) == before

    def failing() -> None:
        with adapter.patched():
            raise LookupError

    with pytest.raises(LookupError):
        failing()
    assert dict(handler.__dict__) == before


def test_openai_agents_executes_a_cut_call(gateway: Gateway) -> None:
    """Deliberately different: ours raises, so that nothing of the response is executed."""
    adapter = peer("deltafold.adapters.openai_agents")
    play = gateway.play(vector("eof-complete-args")[0])
    assert agents_calls(play) == [("c1", "f", '{"a":1}')]
    with adapter.patched(), pytest.raises(deltafold.IncompleteStream):
        agents_calls(play)


async def normalised_chunks(play: Play) -> list[Any]:
    normal = peer("deltafold.adapters._normal")
    async with openai.AsyncOpenAI(base_url=play.url, **KEYS) as client:
        chunks = await client.chat.completions.create(model="any", messages=[], stream=True)
        return [chunk async for chunk in normal.normalised(chunks)]


@pytest.mark.parametrize("name", ["late-id", "index-missing", "shared-index-no-id", "thought-signature"])
def test_normalised_chunks_fold_to_the_same_calls_without_quirks(gateway: Gateway, name: str) -> None:
    payloads = peer("deltafold.adapters._payloads")
    body, _ = vector(name)
    chunks = asyncio.run(normalised_chunks(gateway.play(body)))
    plain = deltafold.Assembler(wire="openai-chat")
    for chunk in chunks:
        plain.feed_payload(payloads.payload_of(chunk))
    again, whole = plain.close(), deltafold.assemble(body)

    def of(completion: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
        return [(call.id, call.name, call.arguments, call.extra) for call in completion.tool_calls]

    assert of(again) == of(whole)
    assert {quirk.kind for quirk in again.quirks} <= {"no-done", "delta-after-finish"}
