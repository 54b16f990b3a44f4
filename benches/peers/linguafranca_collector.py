"""martian-linguafranca: its Rust collector, fed with payload texts that a hand-written loop cuts out.

Its public function takes parsed dicts and serialises each again; the collector beneath it takes the
text, which is the faster way in, so that is what is measured.
"""

from __future__ import annotations

import orjson
from linguafranca import _linguafranca

from benches.peers.contender import CHAT, Contender, Feeds


def collector(feeds: Feeds) -> str:
    collect = _linguafranca.create_response_collector("openai_chat_completions")
    feed = collect.feed_json_str
    tail = b""
    for data in feeds:
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        for line in lines:
            if line[:5] == b"data:" and line[5:12] != b" [DONE]":
                feed(line[5:].decode())
    message = orjson.loads(collect.finalize_json_str())["value"]["choices"][0]["message"]
    return message["tool_calls"][0]["function"]["arguments"]


CONTENDERS = (Contender("linguafranca, collector", "martian-linguafranca", CHAT, collector),)
