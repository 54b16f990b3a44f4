"""httpx-sse: framing alone; the payloads are joined by an orjson loop so that a call comes out."""

from __future__ import annotations

import httpx_sse
import orjson

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.transport import BASE_URL, client


def frames(feeds: Feeds) -> str:
    fragments: list[str] = []
    with client(feeds) as http, httpx_sse.connect_sse(http, "GET", BASE_URL) as source:
        for event in source.iter_sse():
            if event.data == "[DONE]":
                continue
            for choice in orjson.loads(event.data)["choices"]:
                calls = choice["delta"].get("tool_calls") or ()
                fragments += [call["function"]["arguments"] for call in calls]
    return "".join(fragments)


CONTENDERS = (Contender("httpx-sse with orjson", "httpx-sse", CHAT, frames),)
