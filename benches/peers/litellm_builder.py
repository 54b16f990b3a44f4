"""LiteLLM: its chunk objects, then `stream_chunk_builder`."""

from __future__ import annotations

from functools import cache
from typing import Any

import litellm

from benches.peers.contender import CHAT, PARSED, Contender, Feeds, stream
from benches.peers.openai_python import sdk

litellm.suppress_debug_info = True


def chunks_of(feeds: Feeds) -> list[Any]:
    question = [{"role": "user", "content": "any"}]
    return list(litellm.completion(model="openai/any", messages=question, stream=True, client=sdk(feeds)))


@cache
def made_chunks() -> list[Any]:
    return chunks_of(stream(PARSED).feeds)


def chunk_builder(feeds: Feeds) -> str:
    response = litellm.stream_chunk_builder(chunks_of(feeds))
    return response.choices[0].message.tool_calls[0].function.arguments


def builder_alone(_feeds: Feeds) -> str:
    response = litellm.stream_chunk_builder(list(made_chunks()))
    return response.choices[0].message.tool_calls[0].function.arguments


CONTENDERS = (
    Contender("LiteLLM, stream_chunk_builder", "litellm", CHAT, chunk_builder),
    Contender("LiteLLM, stream_chunk_builder alone", "litellm", PARSED, builder_alone),
)
