"""anthropic-python: `messages.stream()` to the final message, on its own wire.

The SDK parses the arguments as they come and keeps no text; written out again they are the same JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anthropic
import httpx2

from benches.peers.contender import ANTHROPIC, Contender, Feeds
from benches.peers.transport import BASE_URL, HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Body(httpx2.SyncByteStream):
    """A response body that arrives in these feeds, for the HTTP library of this SDK."""

    def __init__(self, feeds: Feeds) -> None:
        self.feeds = feeds

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.feeds)


def messages_stream(feeds: Feeds) -> str:
    transport = httpx2.MockTransport(
        lambda _request: httpx2.Response(200, headers=HEADERS, stream=Body(feeds))
    )
    http_client = httpx2.Client(transport=transport)
    sdk = anthropic.Anthropic(api_key="none", base_url=BASE_URL, http_client=http_client)
    question = [{"role": "user", "content": "any"}]
    with sdk.messages.stream(model="any", max_tokens=4096, messages=question) as events:
        message = events.get_final_message()
    return json.dumps(message.content[0].input, ensure_ascii=False)


CONTENDERS = (Contender("anthropic-python, messages.stream()", "anthropic", ANTHROPIC, messages_stream),)
