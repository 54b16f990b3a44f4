"""The bytes of a response of any client, as they arrive and with the content encoding undone."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, TypeAlias, cast

Bytes: TypeAlias = bytes | bytearray | memoryview
_READ = 65_536


def chunks_of(response: Any) -> Iterator[Bytes]:  # noqa: ANN401  (any client's response)
    """Return the byte chunks of a response (httpx, requests, http.client) or of an iterable of bytes."""
    if isinstance(response, bytes | bytearray | memoryview):
        return iter(cast("list[Bytes]", [response]))
    if hasattr(response, "iter_bytes"):  # httpx and the clients built on it
        return cast("Iterator[Bytes]", response.iter_bytes())
    if hasattr(response, "iter_content"):  # requests
        return cast("Iterator[Bytes]", response.iter_content(chunk_size=None))
    if hasattr(response, "read1"):  # http.client, files: what is there, without waiting for more
        return iter(lambda: cast("Bytes", response.read1(_READ)), b"")
    if isinstance(response, Iterable):
        return iter(cast("Iterable[Bytes]", response))
    raise TypeError(f"a response or an iterable of bytes is needed, not {type(response).__name__}")


def async_chunks_of(response: Any) -> AsyncIterator[Bytes]:  # noqa: ANN401
    """Return the byte chunks of a response (httpx, aiohttp) or of an async iterable of bytes."""
    if hasattr(response, "aiter_bytes"):  # httpx and the clients built on it
        return cast("AsyncIterator[Bytes]", response.aiter_bytes())
    content = getattr(response, "content", None)
    if content is not None and hasattr(content, "iter_any"):  # aiohttp
        return cast("AsyncIterator[Bytes]", content.iter_any())
    if isinstance(response, AsyncIterable):
        return cast("AsyncIterable[Bytes]", response).__aiter__()
    raise TypeError(f"a response or an async iterable of bytes is needed, not {type(response).__name__}")
