"""`read_every` over aiohttp and httpx: the connection is left alone between reads, and given back reading."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest

from benches.shapes import long_call
from deltafold import _pace
from tests.adapters.in_loop import END, HANGS, Server, chunk, serving
from tests.adapters.peers import peer, theirs
from tests.support import engine_of

if TYPE_CHECKING:
    pass

pytestmark = theirs

ROLE, START, *OTHERS = long_call(fragments=40).streams[0]
FRAMES = [ROLE + START, *OTHERS]
"""The first one gives an event."""
BODY = b"".join(FRAMES)
HOLD = 0.2
"""Seconds, in which the server has long written what it writes at once."""


async def first_then_the_rest(server: Server, writer: asyncio.StreamWriter) -> None:
    """The first frame, and when the test has it a write for each other one."""
    server.go_on.clear()
    writer.write(chunk(FRAMES[0]))
    await server.go_on.wait()
    for frame in FRAMES[1:]:
        writer.write(chunk(frame))
        await asyncio.sleep(0.001)
    writer.write(END)


async def first_then_nothing(_server: Server, writer: asyncio.StreamWriter) -> None:
    writer.write(chunk(FRAMES[0]))


async def first_then_gone(server: Server, writer: asyncio.StreamWriter) -> None:
    writer.write(chunk(FRAMES[0]))
    await server.go_on.wait()
    writer.write(chunk(FRAMES[1]))
    writer.close()


async def read_through(server: Server, response: Any, read_every: float, engine: Any) -> list[bytes]:
    """The chunks as they were read; the result is checked."""
    kept: list[bytes] = []

    def tee(data: bytes) -> None:
        kept.append(data)
        server.go_on.set()

    async with engine.astream(response, tee=tee, read_every=read_every) as events:
        async for _event in events:
            pass
    assert events.completion == engine.assemble(BODY)
    assert b"".join(kept) == BODY
    return kept


def test_what_came_meanwhile_is_read_in_one_go(engine: Any) -> None:
    async def run() -> int:
        aiohttp = peer("aiohttp")
        async with serving(first_then_the_rest) as (server, url), aiohttp.ClientSession() as session:
            return len(await read_through(server, await session.get(url), HOLD, engine))

    assert len(FRAMES) > 40
    assert asyncio.run(run()) <= 3


def test_without_it_nothing_is_held(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_pace, "held")

    async def run() -> None:
        aiohttp = peer("aiohttp")
        async with serving(first_then_the_rest) as (server, url), aiohttp.ClientSession() as session:
            await read_through(server, await session.get(url), 0.0, engine)

    asyncio.run(run())


def test_the_connection_is_used_again() -> None:
    """With and without the option in turn; a connection given back unread would hang."""

    async def run() -> int:
        aiohttp = peer("aiohttp")
        answers = [first_then_the_rest] * 4
        async with serving(*answers) as (server, url), aiohttp.ClientSession() as session:
            for seconds in (HOLD, 0.0, 0.01, HOLD):
                await read_through(server, await session.get(url), seconds, engine_of("native"))
            return server.connections

    assert asyncio.run(run()) == 1


def test_leaving_early_closes_the_connection() -> None:
    async def run() -> None:
        aiohttp, engine = peer("aiohttp"), engine_of("native")
        answers = (first_then_nothing, first_then_the_rest)
        async with serving(*answers) as (server, url), aiohttp.ClientSession() as session:
            async with engine.astream(await session.get(url), read_every=HOLD) as events:
                await anext(events)
            await read_through(server, await session.get(url), HOLD, engine)
            assert server.connections == 2

    asyncio.run(run())


def test_closing_is_seen_by_the_server_while_the_connection_is_held() -> None:
    async def run() -> None:
        aiohttp, engine = peer("aiohttp"), engine_of("native")
        async with serving(first_then_nothing) as (server, url), aiohttp.ClientSession() as session:
            async with engine.astream(await session.get(url), read_every=HANGS * 10) as events:
                await anext(events)
            await server.ended.wait()

    asyncio.run(run())


def test_a_cancelled_reader_leaves_a_connection_that_reads() -> None:
    async def run() -> bytes:
        aiohttp, engine = peer("aiohttp"), engine_of("native")
        async with serving(first_then_the_rest) as (server, url), aiohttp.ClientSession() as session:
            response = await session.get(url)
            started = asyncio.Event()
            events = engine.astream(response, tee=lambda _data: started.set(), read_every=HOLD)

            async def consume() -> None:
                async for _event in events:
                    pass

            reading = asyncio.create_task(consume())
            await started.wait()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            server.go_on.set()
            return bytes(await response.read())

    assert asyncio.run(run()) == b"".join(FRAMES[1:])


def test_a_connection_that_is_lost() -> None:
    async def run() -> None:
        aiohttp, engine = peer("aiohttp"), engine_of("native")
        async with serving(first_then_gone) as (server, url), aiohttp.ClientSession() as session:
            kept: list[bytes] = []

            def tee(data: bytes) -> None:
                kept.append(data)
                server.go_on.set()

            with pytest.raises(aiohttp.ClientPayloadError):
                async for _event in engine.astream(await session.get(url), tee=tee, read_every=HOLD):
                    pass
            assert b"".join(kept) == b"".join(FRAMES[:2])

    asyncio.run(run())


def test_the_clients_timeout_does_not_run_while_it_is_held(engine: Any) -> None:
    async def run() -> None:
        aiohttp = peer("aiohttp")
        timeout = aiohttp.ClientTimeout(sock_read=HOLD)
        answers = (first_then_the_rest, first_then_nothing)
        async with serving(*answers) as (server, url), aiohttp.ClientSession(timeout=timeout) as session:
            await read_through(server, await session.get(url), 3 * HOLD, engine)
            with pytest.raises(aiohttp.ServerTimeoutError):
                async for _event in engine.astream(await session.get(url), read_every=HOLD / 2):
                    pass

    asyncio.run(run())


@pytest.mark.parametrize("client", ["httpx", "httpx2"])
def test_httpx(client: str, engine: Any) -> None:
    async def run() -> int:
        answers = (first_then_the_rest, first_then_the_rest)
        async with serving(*answers) as (server, url), peer(client).AsyncClient() as session:
            for seconds in (HOLD, 0.01):
                response = await session.send(session.build_request("GET", url), stream=True)
                await read_through(server, response, seconds, engine)
            return server.connections

    assert asyncio.run(run()) == 1


def test_nothing_is_kept_of_a_loop_that_has_gone() -> None:
    """Its streams read, or were given up while their connections were held."""

    async def run() -> None:
        aiohttp, engine = peer("aiohttp"), engine_of("native")
        answers = [first_then_the_rest] * 20
        async with serving(*answers) as (server, url), aiohttp.ClientSession() as session:

            async def one(read_every: float) -> None:
                await read_through(server, await session.get(url), read_every, engine)

            given_up = [asyncio.create_task(one(HANGS)) for _ in range(10)]
            await asyncio.gather(*(one(0.02) for _ in range(10)))
            for task in given_up:
                task.cancel()

    for _ in range(3):
        asyncio.run(run())
    gc.collect()
    assert not _pace._holds
