"""Responses of HTTP clients go straight into `stream` and `astream` (deltafold._responses)."""

from __future__ import annotations

import asyncio
import gzip
import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.gateway import FRAMES, Gateway, Play
from tests.adapters.peers import peer, theirs, vector
from tests.support import engine_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

pytestmark = theirs

BODY, _ = vector("shared-index")
CALLS = [("c1", "f", '{"a":1}'), ("c2", "g", '{"b":2}')]


def httpx_response(play: Play, closing: ExitStack) -> Any:
    client = closing.enter_context(peer("httpx").Client())
    return client.send(client.build_request("POST", play.url, json={}), stream=True)


def httpx2_response(play: Play, closing: ExitStack) -> Any:
    client = closing.enter_context(peer("httpx2").Client())
    return client.send(client.build_request("POST", play.url, json={}), stream=True)


def requests_response(play: Play, closing: ExitStack) -> Any:
    session = closing.enter_context(peer("requests").Session())
    return session.post(play.url, json={}, stream=True)


def requests_response_read(play: Play, closing: ExitStack) -> Any:  # noqa: ARG001
    return peer("requests").post(play.url, json={})


def urllib3_response(play: Play, closing: ExitStack) -> Any:
    pool = closing.enter_context(peer("urllib3").PoolManager())
    return pool.request("POST", play.url, json={}, preload_content=False, retries=False)


def urllib_response(play: Play, closing: ExitStack) -> Any:
    opener = urllib.request.build_opener(KeepStatus)
    request = urllib.request.Request(play.url, b"{}")  # noqa: S310 (loopback)
    return closing.enter_context(opener.open(request))


class KeepStatus(urllib.request.HTTPErrorProcessor):
    """Hands out the response whatever its status."""

    def http_response(self, _request: Any, response: Any) -> Any:
        return response


def primp_response(play: Play, closing: ExitStack) -> Any:  # noqa: ARG001
    return peer("primp").Client().post(play.url, json={}, stream=True)


SYNC = [
    httpx_response,
    httpx2_response,
    requests_response,
    requests_response_read,
    urllib3_response,
    urllib_response,
    primp_response,
]


async def aiohttp_events(play: Play, use: Callable[[Any], Any]) -> Any:
    async with peer("aiohttp").ClientSession() as session:
        return await use(await session.post(play.url, json={}))


async def httpx_events(play: Play, use: Callable[[Any], Any]) -> Any:
    async with peer("httpx").AsyncClient() as client:
        return await use(await client.send(client.build_request("POST", play.url, json={}), stream=True))


async def httpx2_events(play: Play, use: Callable[[Any], Any]) -> Any:
    async with peer("httpx2").AsyncClient() as client:
        return await use(await client.send(client.build_request("POST", play.url, json={}), stream=True))


async def primp_events(play: Play, use: Callable[[Any], Any]) -> Any:
    return await use(await peer("primp").AsyncClient().post(play.url, json={}, stream=True))


ASYNC = [aiohttp_events, httpx_events, httpx2_events, primp_events]

sync_client = pytest.mark.parametrize("ask", SYNC)
async_client = pytest.mark.parametrize("run", ASYNC)
writes = pytest.mark.parametrize("size", [FRAMES, 7, 16384], ids=["frames", "7", "16K"])


def identities(completion: Any) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in completion.tool_calls]


@sync_client
@writes
def test_a_response_is_read_as_its_chunks_are(
    gateway: Gateway, engine: Any, ask: Any, size: int, closing: ExitStack
) -> None:
    with engine.stream(ask(gateway.play(BODY, size), closing), coalesce=False) as events:
        seen = list(events)
    assert identities(events.completion) == CALLS
    assert seen == list(engine.stream([BODY], coalesce=False))


@async_client
@writes
def test_an_async_response_is_read_as_its_chunks_are(
    gateway: Gateway, engine: Any, run: Any, size: int
) -> None:
    async def use(response: Any) -> Any:
        async with engine.astream(response, coalesce=False) as events:
            return [event async for event in events], events.completion

    seen, completion = asyncio.run(run(gateway.play(BODY, size), use))
    assert identities(completion) == CALLS
    assert seen == list(engine.stream([BODY], coalesce=False))


@sync_client
def test_a_body_that_only_the_connection_ends(gateway: Gateway, ask: Any, closing: ExitStack) -> None:
    with engine_of("native").stream(ask(gateway.play(BODY, chunked=False), closing)) as events:
        list(events)
    assert identities(events.completion) == CALLS


@sync_client
def test_a_compressed_body(gateway: Gateway, ask: Any, closing: ExitStack) -> None:
    if ask is urllib_response:
        pytest.skip("urllib decodes nothing")
    play = gateway.play(gzip.compress(BODY), 11, coding="gzip")
    with engine_of("native").stream(ask(play, closing)) as events:
        list(events)
    assert identities(events.completion) == CALLS


ERROR = json.dumps({"error": {"message": "no such model", "type": "not_found", "code": "m404"}}).encode()


@sync_client
def test_a_bad_status_is_the_providers_error(
    gateway: Gateway, engine: Any, ask: Any, closing: ExitStack
) -> None:
    play = gateway.play(ERROR, 16384, status=404, content_type="application/json")
    with (
        pytest.raises(engine.ProviderError, match="no such model") as caught,
        engine.stream(ask(play, closing)) as events,
    ):
        list(events)
    assert (caught.value.status, caught.value.code, caught.value.type) == (404, "m404", "not_found")


@async_client
def test_a_bad_status_of_an_async_response(gateway: Gateway, run: Any) -> None:
    engine = engine_of("native")

    async def use(response: Any) -> None:
        async with engine.astream(response) as events:
            async for _event in events:
                pass

    with pytest.raises(engine.ProviderError, match="no such model") as caught:
        asyncio.run(run(gateway.play(ERROR, 16384, status=503), use))
    assert caught.value.status == 503


@sync_client
def test_a_bad_status_without_a_word(gateway: Gateway, ask: Any, closing: ExitStack) -> None:
    engine = engine_of("native")
    with pytest.raises(engine.ProviderError, match="HTTP status 502") as caught:
        list(
            engine.stream(ask(gateway.play(b"<html>", 16384, status=502, content_type="text/html"), closing))
        )
    assert caught.value.status == 502
    assert "HTML" in str(caught.value)


@sync_client
def test_another_content_type_is_said(gateway: Gateway, engine: Any, ask: Any, closing: ExitStack) -> None:
    play = gateway.play(b"<!DOCTYPE html><html></html>", 16384, content_type="text/html; charset=utf-8")
    with pytest.raises(engine.WireError, match=r"text/html; charset=utf-8.*not text/event-stream") as caught:
        list(engine.stream(ask(play, closing)))
    assert caught.value.kind == "not-an-event-stream"


@sync_client
def test_an_error_as_json_under_status_200(gateway: Gateway, ask: Any, closing: ExitStack) -> None:
    engine = engine_of("native")
    with pytest.raises(engine.ProviderError, match="no such model") as caught:
        list(engine.stream(ask(gateway.play(ERROR, 16384, content_type="application/json"), closing)))
    assert caught.value.status == 200


@sync_client
def test_no_content_type_is_no_objection(gateway: Gateway, ask: Any, closing: ExitStack) -> None:
    events = engine_of("native").stream(ask(gateway.play(BODY, content_type=None), closing))
    list(events)
    assert identities(events.completion) == CALLS


def test_leaving_closes_the_response(gateway: Gateway, closing: ExitStack) -> None:
    response = httpx_response(gateway.play(BODY), closing)
    with engine_of("native").stream(response) as events:
        next(events)
        assert not response.is_closed
    assert response.is_closed


def test_leaving_closes_an_async_response(gateway: Gateway) -> None:
    async def use(response: Any) -> bool:
        async with engine_of("native").astream(response) as events:
            await anext(events)
        return bool(response.closed)

    assert asyncio.run(aiohttp_events(gateway.play(BODY), use))


def test_the_other_kind_is_a_type_error(gateway: Gateway, closing: ExitStack) -> None:
    engine = engine_of("native")

    async def use(response: Any) -> None:
        with pytest.raises(TypeError, match=r"use deltafold\.astream"):
            engine.stream(response)
        response.close()

    asyncio.run(aiohttp_events(gateway.play(BODY), use))
    response = httpx_response(gateway.play(BODY), closing)
    with pytest.raises(TypeError, match=r"use deltafold\.stream"):
        engine.astream(response)
    response.close()


def test_the_tee_gets_the_body(gateway: Gateway, closing: ExitStack) -> None:
    kept: list[bytes] = []
    list(engine_of("native").stream(httpx_response(gateway.play(BODY, 5), closing), tee=kept.append))
    assert b"".join(kept) == BODY
