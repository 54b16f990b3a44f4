"""Bodies of aiohttp's responses taken in one go: the bytes that `readany` gives, one call of the parser."""

from __future__ import annotations

import asyncio
import gzip
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from benches.shapes import long_call
from deltafold import _aiohttp
from tests.adapters.in_loop import END, Server, chunk, serving
from tests.adapters.peers import peer, theirs
from tests.support import pieces, random_sizes

if TYPE_CHECKING:
    from deltafold._responses import Read

pytestmark = theirs

FRAMES = long_call(fragments=100).streams[0]
BODY = b"".join(FRAMES)
SEEDS = range(20)


async def at_once(_server: Server, writer: asyncio.StreamWriter) -> None:
    writer.write(b"".join(chunk(frame) for frame in FRAMES) + END)


async def whole(response: Any) -> None:
    """Wait until all of BODY has come."""
    while response.content.total_bytes < len(BODY):  # noqa: ASYNC110 (what is waited for comes from a socket)
        await asyncio.sleep(0)


async def all_of(read: Read) -> list[bytes]:
    found: list[bytes] = []
    while data := await read():
        found.append(data)
    return found


def test_what_waits_is_taken_with_one_call_of_the_protocol() -> None:
    async def run() -> tuple[list[bytes], int]:
        aiohttp = peer("aiohttp")
        async with serving(at_once) as (_server, url), aiohttp.ClientSession() as session:
            response = await session.get(url)
            resumed = 0
            protocol = response.content._protocol
            resume = protocol.resume_reading

            def counted(*words: Any) -> None:
                nonlocal resumed
                resumed += 1
                resume(*words)

            protocol.resume_reading = counted
            await whole(response)
            return await all_of(_aiohttp.reading(response)), resumed

    reads, resumed = asyncio.run(run())
    assert reads == [BODY]
    assert resumed == 1


def test_the_installed_aiohttp_has_what_is_used() -> None:
    async def run() -> bool:
        aiohttp = peer("aiohttp")
        async with serving(at_once) as (_server, url), aiohttp.ClientSession() as session:
            response = await session.get(url)
            return _aiohttp.reading(response) != response.content.readany

    assert asyncio.run(run())


def test_another_aiohttp_is_read_by_its_own_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_aiohttp, "MEMBERS", ("not_there",))

    async def run() -> bytes:
        aiohttp = peer("aiohttp")
        async with serving(at_once) as (_server, url), aiohttp.ClientSession() as session:
            response = await session.get(url)
            assert _aiohttp.reading(response) == response.content.readany
            return b"".join(await all_of(_aiohttp.reading(response)))

    assert asyncio.run(run()) == BODY


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_every_cut_gives_the_bytes(coding: str) -> None:
    """Chunks of HTTP and writes that fall anywhere, and a reader that is behind now and then."""

    async def run(seed: int) -> bytes:
        source = Random(seed)
        sent = gzip.compress(BODY) if coding == "gzip" else BODY
        encoded = (
            b"".join(chunk(piece) for piece in pieces(sent, random_sizes(f"{seed} chunks")) if piece) + END
        )

        async def answer(_server: Server, writer: asyncio.StreamWriter) -> None:
            for piece in pieces(encoded, random_sizes(f"{seed} writes")):
                writer.write(piece)
                await asyncio.sleep(0)

        aiohttp = peer("aiohttp")
        headers = {"content-encoding": coding}
        async with serving(answer, headers=headers) as (_server, url), aiohttp.ClientSession() as session:
            read = _aiohttp.reading(await session.get(url))
            found = b""
            while data := await read():
                found += data
                await asyncio.sleep(source.choice([0, 0, 0.001]))
            return found

    for seed in SEEDS:
        assert asyncio.run(run(seed)) == BODY, seed


def test_a_slow_reader_gets_all_of_a_body_that_does_not_fit() -> None:
    body = b"x" * 999 + b"\n"

    async def answer(_server: Server, writer: asyncio.StreamWriter) -> None:
        for _ in range(2000):
            writer.write(chunk(body))
            await writer.drain()
        writer.write(END)

    async def run() -> int:
        aiohttp = peer("aiohttp")
        async with serving(answer) as (_server, url), aiohttp.ClientSession(read_bufsize=4096) as session:
            read = _aiohttp.reading(await session.get(url))
            size = 0
            while data := await read():
                size += len(data)
                await asyncio.sleep(0)
            return size

    assert asyncio.run(run()) == 2000 * len(body)


def test_what_was_read_before_is_not_read_again() -> None:
    async def run() -> bytes:
        aiohttp = peer("aiohttp")
        async with serving(at_once) as (_server, url), aiohttp.ClientSession() as session:
            response = await session.get(url)
            await whole(response)
            first: bytes = await response.content.read(10)
            return first + b"".join(await all_of(_aiohttp.reading(response)))

    assert asyncio.run(run()) == BODY


def test_a_body_that_breaks_off_is_an_error_as_before() -> None:
    async def answer(server: Server, writer: asyncio.StreamWriter) -> None:
        writer.write(chunk(FRAMES[0]) + chunk(FRAMES[1]))
        await server.go_on.wait()
        writer.close()

    async def run() -> None:
        aiohttp = peer("aiohttp")
        async with serving(answer) as (server, url), aiohttp.ClientSession() as session:
            read = _aiohttp.reading(await session.get(url))
            assert await read() == FRAMES[0] + FRAMES[1]
            server.go_on.set()
            with pytest.raises(aiohttp.ClientPayloadError):
                await read()

    asyncio.run(run())
