"""Clients with many streams at once: each opens what reads one play, in a running loop.

`on_text` gets every piece of content as it comes, which is how the live measure knows how late it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import orjson

import deltafold

OnText = Callable[[str], object]
Play = Callable[[str, OnText], Awaitable[str]]
"""Takes the address of a play; gives the arguments of its call, "" where there is none."""

READ_EVERY = {f"deltafold over aiohttp, read every {ms} ms": ms / 1e3 for ms in (80, 200, 400)}
"""Seconds between two reads of a stream, of the contenders that read seldom."""
CLIENT_ALONE = "aiohttp alone, nothing parsed"
LIVE_ONLY = frozenset({CLIENT_ALONE, *READ_EVERY})
"""Contenders that give no arguments, or that wait between reads: a burst says nothing of them."""
QUESTION = [{"role": "user", "content": "any"}]


async def streamed(response: Any, on_text: OnText, read_every: float = 0.0) -> str:
    """Every event as it comes, then the arguments: what an application does."""
    text_delta = deltafold.TextDelta
    async with deltafold.astream(response, read_every=read_every) as events:
        async for event in events:
            if type(event) is text_delta:
                on_text(event.text)
    calls = events.completion.tool_calls
    return calls[0].arguments if calls else ""


async def by_hand(lines: AsyncIterator[bytes], on_text: OnText) -> str:
    """The loop that people write: orjson, append, join."""
    fragments: list[str] = []
    async for line in lines:
        if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
            for choice in orjson.loads(line[6:])["choices"]:
                delta = choice["delta"]
                if delta.get("content"):
                    on_text(delta["content"])
                fragments += [call["function"]["arguments"] for call in delta.get("tool_calls") or ()]
    return "".join(fragments)


@asynccontextmanager
async def aiohttp_session() -> AsyncIterator[Any]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(None)) as session:
        yield session


@asynccontextmanager
async def with_aiohttp(read_every: float = 0.0) -> AsyncIterator[Play]:
    async with aiohttp_session() as session:

        async def play(url: str, on_text: OnText) -> str:
            return await streamed(await session.post(url, json={}), on_text, read_every)

        yield play


@asynccontextmanager
async def aiohttp_orjson() -> AsyncIterator[Play]:
    async with aiohttp_session() as session:

        async def play(url: str, on_text: OnText) -> str:
            async with session.post(url, json={}) as response:
                return await by_hand(aiter(response.content), on_text)

        yield play


@asynccontextmanager
async def aiohttp_alone() -> AsyncIterator[Play]:
    """No fold and no JSON, the text is cut out by its place: what the client itself costs. Live only."""
    before = b'"content":"'
    async with aiohttp_session() as session:

        async def play(url: str, on_text: OnText) -> str:
            async with session.post(url, json={}) as response:
                while data := await response.content.readany():
                    for piece in data.split(before)[1:]:
                        on_text(piece[: piece.index(b'"')].decode())
            return ""

        yield play


@asynccontextmanager
async def httpx_client() -> AsyncIterator[Any]:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=None) as client:  # noqa: S113 (bounded by the plays)
        yield client


@asynccontextmanager
async def with_httpx() -> AsyncIterator[Play]:
    async with httpx_client() as client:

        async def play(url: str, on_text: OnText) -> str:
            request = client.build_request("POST", url, json={})
            return await streamed(await client.send(request, stream=True), on_text)

        yield play


@asynccontextmanager
async def httpx_orjson() -> AsyncIterator[Play]:
    async with httpx_client() as client:

        async def play(url: str, on_text: OnText) -> str:
            async with client.stream("POST", url, json={}) as response:
                lines = (line.encode() async for line in response.aiter_lines())
                return await by_hand(lines, on_text)

        yield play


@asynccontextmanager
async def with_primp() -> AsyncIterator[Play]:
    import primp

    client = primp.AsyncClient()

    async def play(url: str, on_text: OnText) -> str:
        return await streamed(await client.post(url, json={}, stream=True), on_text)

    yield play


@asynccontextmanager
async def openai_client() -> AsyncIterator[Any]:
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    http = httpx2.AsyncClient(limits=limits, timeout=None)
    async with openai.AsyncOpenAI(
        api_key="none", base_url="http://127.0.0.1", http_client=http, max_retries=0
    ) as client:
        yield client


@asynccontextmanager
async def with_openai() -> AsyncIterator[Play]:
    async with openai_client() as client:

        async def play(url: str, on_text: OnText) -> str:
            fragments: list[str] = []
            asked = client.with_options(base_url=url).chat.completions
            async for chunk in await asked.create(model="any", messages=QUESTION, stream=True):
                for choice in chunk.choices:
                    if choice.delta.content:
                        on_text(choice.delta.content)
                    fragments += [call.function.arguments for call in choice.delta.tool_calls or ()]
            return "".join(fragments)

        yield play


@asynccontextmanager
async def openai_adapter() -> AsyncIterator[Play]:
    from deltafold.adapters.openai import stream

    async with openai_client() as client:

        async def play(url: str, on_text: OnText) -> str:
            asked = stream(client.with_options(base_url=url), model="any", messages=QUESTION)
            async with asked as events:
                async for event in events:
                    if isinstance(event, deltafold.TextDelta):
                        on_text(event.text)
            calls = events.completion.tool_calls
            return calls[0].arguments if calls else ""

        yield play


@asynccontextmanager
async def with_litellm() -> AsyncIterator[Play]:
    import litellm

    litellm.suppress_debug_info = True

    async def play(url: str, on_text: OnText) -> str:
        fragments: list[str] = []
        options: dict[str, Any] = {"base_url": url, "api_key": "none", "max_retries": 0, "stream": True}
        async for chunk in await litellm.acompletion(model="openai/any", messages=QUESTION, **options):
            for choice in chunk.choices:
                if choice.delta.content:
                    on_text(choice.delta.content)
                fragments += [call.function.arguments for call in choice.delta.tool_calls or ()]
        return "".join(fragments)

    yield play


CLIENTS: dict[str, Callable[[], AbstractAsyncContextManager[Play]]] = {
    "deltafold over aiohttp": with_aiohttp,
    **{name: partial(with_aiohttp, seconds) for name, seconds in READ_EVERY.items()},
    "aiohttp, orjson loop": aiohttp_orjson,
    CLIENT_ALONE: aiohttp_alone,
    "deltafold over httpx": with_httpx,
    "httpx, orjson loop": httpx_orjson,
    "deltafold over primp": with_primp,
    "deltafold.adapters.openai": openai_adapter,
    "AsyncOpenAI": with_openai,
    "LiteLLM": with_litellm,
}
