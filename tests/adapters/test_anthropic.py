"""deltafold.adapters.anthropic against anthropic-python, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import deltafold
from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import KEYS, MESSAGES, peer, theirs, vector

anthropic = peer("anthropic")
adapter = peer("deltafold.adapters.anthropic")

pytestmark = theirs
WIRE = "anthropic-messages"
ARGUMENTS = {"model": "any", "max_tokens": 64, "messages": MESSAGES}


def sync_message(play: Play, **options: Any) -> Any:
    with (
        anthropic.Anthropic(base_url=play.url, **KEYS) as client,
        adapter.stream(client, **ARGUMENTS, **options) as events,
    ):
        return list(events), events.get_final_message()


def async_message(play: Play, **options: Any) -> Any:
    async def run() -> Any:
        async with (
            anthropic.AsyncAnthropic(base_url=play.url, **KEYS) as client,
            adapter.stream(client, **ARGUMENTS, **options) as events,
        ):
            return [event async for event in events], await events.get_final_message()

    return asyncio.run(run())


both = pytest.mark.parametrize("ask", [sync_message, async_message])


def original(play: Play) -> Any:
    with (
        anthropic.Anthropic(base_url=play.url, **KEYS) as client,
        client.messages.stream(**ARGUMENTS) as events,
    ):
        return events.get_final_message()


@both
@pytest.mark.parametrize("size", [FRAMES, 11, 16384], ids=["frames", "11", "16K"])
def test_a_call_that_came_without_id_gets_one(gateway: Gateway, ask: Any, size: int) -> None:
    body, _ = vector("start-no-identity", WIRE)
    play = gateway.play(body, size)
    assert [block.id for block in original(play).content] == [None]
    events, message = ask(play, coalesce=False)
    assert isinstance(message, anthropic.types.Message)
    assert [(block.id, block.name, block.input) for block in message.content] == [("call-0", "f", {"a": 1})]
    assert message.stop_reason == "tool_use"
    assert events == list(deltafold.stream([body], coalesce=False))
    assert play.asked[-1] == {**ARGUMENTS, "stream": True}


@both
def test_the_original_takes_a_cut_call_for_whole(gateway: Gateway, ask: Any) -> None:
    """Half an input parses in the SDK's partial mode and looks finished; ours raises, with what came."""
    play = gateway.play(vector("eof-before-message-stop", WIRE)[0])
    assert [block.input for block in original(play).content] == [{}]
    with pytest.raises(deltafold.IncompleteStream) as caught:
        ask(play)
    assert caught.value.partial is not None
    assert caught.value.partial.tool_calls[0].status == "truncated"


@both
def test_what_the_message_says_of_itself_is_kept(gateway: Gateway, ask: Any) -> None:
    sent = b'"stop_reason":"tool_use","stop_sequence":null'
    body, _ = vector("eager-input", WIRE)
    assert sent in body
    body = body.replace(sent, b'"stop_reason":"stop_sequence","stop_sequence":"###"')
    play = gateway.play(body)
    message, theirs_ = ask(play)[1], original(play)
    assert message.stop_sequence == "###" == theirs_.stop_sequence
    assert (message.id, message.model, message.role, message.type) == (
        theirs_.id,
        theirs_.model,
        theirs_.role,
        theirs_.type,
    )


@both
def test_the_sdks_own_errors_are_kept(gateway: Gateway, ask: Any) -> None:
    error = b'{"type":"error","error":{"type":"not_found_error","message":"no such model"}}'
    play = gateway.play(error, 16384, status=404, content_type="application/json")
    with pytest.raises(anthropic.NotFoundError, match="no such model"):
        ask(play)


def test_the_beta_api(gateway: Gateway) -> None:
    play = gateway.play(vector("eager-input", WIRE)[0])
    with (
        anthropic.Anthropic(base_url=play.url, **KEYS) as client,
        adapter.stream(client.beta, **ARGUMENTS, betas=["any-beta"]) as events,
    ):
        message = events.get_final_message()
    assert isinstance(message, anthropic.types.beta.BetaMessage)
    assert [(block.id, block.input) for block in message.content] == [("t1", {"a": 1})]
