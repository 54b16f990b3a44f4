"""LiteLLM: its chunk objects, then `stream_chunk_builder`."""

from __future__ import annotations

import litellm

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.openai_python import sdk

litellm.suppress_debug_info = True


def chunk_builder(feeds: Feeds) -> str:
    question = [{"role": "user", "content": "any"}]
    chunks = list(litellm.completion(model="openai/any", messages=question, stream=True, client=sdk(feeds)))
    return litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls[0].function.arguments


CONTENDERS = (Contender("LiteLLM, stream_chunk_builder", "litellm", CHAT, chunk_builder),)
