"""Bodies for httpx that come from memory, so that a client's own parsing runs and no network does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from benches.peers.contender import Feeds

BASE_URL = "http://gateway.invalid/v1"
HEADERS = {"content-type": "text/event-stream"}


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A response body that arrives in these feeds."""

    def __init__(self, feeds: Feeds) -> None:
        self.feeds = feeds

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.feeds)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for data in self.feeds:
            yield data


def transport(feeds: Feeds) -> httpx.MockTransport:
    """A transport that answers every request with `feeds`."""
    return httpx.MockTransport(lambda _request: httpx.Response(200, headers=HEADERS, stream=Body(feeds)))


def client(feeds: Feeds) -> httpx.Client:
    """A client whose every request is answered with `feeds`."""
    return httpx.Client(transport=transport(feeds))


def async_client(feeds: Feeds) -> httpx.AsyncClient:
    """The same for async use."""
    return httpx.AsyncClient(transport=transport(feeds))
