"""deltafold.adapters.openai against openai-python, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import deltafold
from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import KEYS, MESSAGES, peer, theirs, vector

openai = peer("openai")
adapter = peer("deltafold.adapters.openai")
StreamState = peer("openai.lib.streaming.chat").ChatCompletionStreamState

pytestmark = theirs
writes = pytest.mark.parametrize("size", [FRAMES, 11, 16384], ids=["frames", "11", "16K"])

CHAT = {"model": "any", "messages": MESSAGES}
RESPONSES = {"model": "any", "input": "any"}


def identities(message: Any) -> list[tuple[str, str, str]]:
    return [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def sync_chat(play: Play, **options: Any) -> Any:
    with (
        openai.OpenAI(base_url=play.url, **KEYS) as client,
        adapter.stream(client, **CHAT, **options) as events,
    ):
        return list(events), events.get_final_completion()


def async_chat(play: Play, **options: Any) -> Any:
    async def run() -> Any:
        async with (
            openai.AsyncOpenAI(base_url=play.url, **KEYS) as client,
            adapter.stream(client, **CHAT, **options) as events,
        ):
            return [event async for event in events], await events.get_final_completion()

    return asyncio.run(run())


both = pytest.mark.parametrize("ask", [sync_chat, async_chat])


def chunks_of(client: Any) -> Any:
    return client.chat.completions.create(**CHAT, stream=True)


@both
@writes
def test_two_calls_at_one_index_stay_two(gateway: Gateway, ask: Any, size: int) -> None:
    body, _ = vector("shared-index")
    play = gateway.play(body, size)
    events, completion = ask(play, coalesce=False)
    assert isinstance(completion, openai.types.chat.ChatCompletion)
    assert identities(completion.choices[0].message) == [("c1", "f", '{"a":1}'), ("c2", "g", '{"b":2}')]
    assert completion.choices[0].finish_reason == "tool_calls"
    assert events == list(deltafold.stream([body], coalesce=False))
    assert play.asked == [{**CHAT, "stream": True}]
    assert play.paths[0].endswith("/chat/completions")


def test_the_originals_join_a_repeated_identity_and_ours_does_not(gateway: Gateway) -> None:
    """Id and name in every delta: the SDK's accumulator appends them, as it does texts."""
    play = gateway.play(vector("id-repeated")[0])
    original, ours = StreamState(), adapter.ChatCompletionStreamState()
    with openai.OpenAI(base_url=play.url, **KEYS) as client:
        for chunk in chunks_of(client):
            original.handle_chunk(chunk)
            ours.handle_chunk(chunk)
    ((their_id, _, _),) = identities(original.get_final_completion().choices[0].message)
    assert their_id == "c1c1"
    assert identities(ours.get_final_completion().choices[0].message) == [("c1", "f", '{"a":1}')]
    assert identities(sync_chat(play)[1].choices[0].message) == [("c1", "f", '{"a":1}')]


def test_the_original_takes_a_cut_response_for_whole(gateway: Gateway) -> None:
    """Deliberately different: ours raises, with what came."""
    play = gateway.play(vector("eof-no-finish")[0])
    original, ours = StreamState(), adapter.ChatCompletionStreamState()
    with openai.OpenAI(base_url=play.url, **KEYS) as client:
        for chunk in chunks_of(client):
            original.handle_chunk(chunk)
            ours.handle_chunk(chunk)
    assert identities(original.get_final_completion().choices[0].message) == [("c1", "f", '{"a"')]
    with pytest.raises(deltafold.IncompleteStream) as caught:
        ours.get_final_completion()
    assert caught.value.partial is not None
    assert caught.value.partial.tool_calls[0].status == "truncated"
    with pytest.raises(deltafold.IncompleteStream):
        sync_chat(play)


def test_the_state_gives_snapshots_when_asked(gateway: Gateway) -> None:
    play = gateway.play(vector("clean-stream")[0])
    state = adapter.ChatCompletionStreamState()
    kinds: list[str] = []
    with openai.OpenAI(base_url=play.url, **KEYS) as client:
        for chunk in chunks_of(client):
            kinds += [type(event).__name__ for event in state.handle_chunk(chunk)]
            assert state.current_completion_snapshot.object == "chat.completion"
    assert kinds[:3] == ["TextDelta", "ToolCallStart", "ToolCallDelta"]
    assert state.completion.tool_calls[0].executable


def test_the_state_parses_by_the_tools_given(gateway: Gateway) -> None:
    play = gateway.play(vector("late-name")[0])
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": {}}}
    original, ours = StreamState(input_tools=[tool]), adapter.ChatCompletionStreamState(input_tools=[tool])
    with openai.OpenAI(base_url=play.url, **KEYS) as client:
        for chunk in chunks_of(client):
            original.handle_chunk(chunk)
            ours.handle_chunk(chunk)
    expected = original.get_final_completion().choices[0].message.tool_calls[0]
    given = ours.get_final_completion().choices[0].message.tool_calls[0]
    assert (type(given), given.id, given.function) == (type(expected), expected.id, expected.function)
    assert expected.function.parsed_arguments == {"a": 1}


@both
def test_the_sdks_own_errors_are_kept(gateway: Gateway, ask: Any) -> None:
    error = b'{"error": {"message": "no such model"}}'
    play = gateway.play(error, 16384, status=404, content_type="application/json")
    with pytest.raises(openai.NotFoundError, match="no such model"):
        ask(play)


@both
def test_an_error_within_the_stream_is_ours(gateway: Gateway, ask: Any) -> None:
    with pytest.raises(deltafold.ProviderError, match="quota exceeded"):
        ask(gateway.play(vector("error-midstream")[0]))


def test_the_tee_and_the_policy_are_for_the_fold(gateway: Gateway) -> None:
    body, _ = vector("shared-index")
    kept: list[bytes] = []
    policy = deltafold.Policy(shared_index="merge")
    _, completion = sync_chat(gateway.play(body, 13), tee=kept.append, policy=policy)
    assert b"".join(kept) == body
    assert identities(completion.choices[0].message) == [("c1", "f", '{"a":1}{"b":2}')]


def sync_response(play: Play, **arguments: Any) -> Any:
    with (
        openai.OpenAI(base_url=play.url, **KEYS) as client,
        adapter.stream(client, **arguments) as events,
    ):
        return events.get_final_response()


def async_response(play: Play, **arguments: Any) -> Any:
    async def run() -> Any:
        async with (
            openai.AsyncOpenAI(base_url=play.url, **KEYS) as client,
            adapter.stream(client, **arguments) as events,
        ):
            return await events.get_final_response()

    return asyncio.run(run())


both_responses = pytest.mark.parametrize("ask", [sync_response, async_response])


@both_responses
@writes
def test_an_incomplete_response_that_the_original_loses(gateway: Gateway, ask: Any, size: int) -> None:
    """`response.incomplete` ends a response too; the SDK's helper says that nothing ended it."""
    play = gateway.play(vector("incomplete", "openai-responses")[0], size)
    with (
        openai.OpenAI(base_url=play.url, **KEYS) as client,
        client.responses.stream(**RESPONSES) as helper,
        pytest.raises(RuntimeError, match=r"response\.completed"),
    ):
        helper.get_final_response()
    response = ask(play, **RESPONSES)
    assert isinstance(response, openai.types.responses.Response)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert [(item.call_id, item.name, item.arguments) for item in response.output] == [("c1", "f", '{"a"')]
    assert play.asked[-1] == {**RESPONSES, "stream": True}


@both_responses
def test_output_that_the_terminal_event_leaves_out(gateway: Gateway, ask: Any) -> None:
    play = gateway.play(vector("terminal-empty-output", "openai-responses")[0])
    with (
        openai.OpenAI(base_url=play.url, **KEYS) as client,
        client.responses.stream(**RESPONSES) as helper,
        pytest.raises(IndexError),
    ):
        helper.get_final_response()
    calls = [item for item in ask(play, **RESPONSES).output if item.type == "function_call"]
    assert [(item.call_id, item.name, item.arguments) for item in calls] == [("c1", "f", '{"a":1}')]


def test_a_response_is_resumed_by_its_id(gateway: Gateway) -> None:
    play = gateway.play(vector("background-resume", "openai-responses")[0])
    response = sync_response(play, response_id="resp_1", starting_after=3)
    assert [item.call_id for item in response.output if item.type == "function_call"] == ["c1"]
    assert "/responses/resp_1?" in play.paths[0]
    assert "starting_after=3" in play.paths[0]
