"""openai-python's stream helper, fed the same bytes without a network; importing it needs openai."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import openai

if TYPE_CHECKING:
    from collections.abc import Iterator

Feeds = list[bytes]

BASE_URL = "http://gateway.invalid/v1"


class Body(httpx.SyncByteStream):
    """A response body that arrives in these feeds."""

    def __init__(self, feeds: Feeds) -> None:
        self.feeds = feeds

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.feeds)


def client_for(feeds: Feeds) -> openai.OpenAI:
    """A client whose every request is answered with `feeds`."""

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body(feeds))

    http_client = httpx.Client(transport=httpx.MockTransport(answer))
    return openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=http_client)


def fold(streams: list[Feeds]) -> None:
    """Fold each stream with `client.chat.completions.stream()`."""
    for feeds in streams:
        with client_for(feeds).chat.completions.stream(model="any", messages=[]) as stream:
            for _event in stream:
                pass
            stream.get_final_completion()
