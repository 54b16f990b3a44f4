"""openai-python: its stream helper, its accumulator, and its parsed chunks alone."""

from __future__ import annotations

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.transport import BASE_URL, client


def sdk(feeds: Feeds) -> openai.OpenAI:
    """The SDK's client, answered with `feeds`."""
    return openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=client(feeds))


def stream_helper(feeds: Feeds) -> str:
    with sdk(feeds).chat.completions.stream(model="any", messages=[]) as events:
        for _event in events:
            pass
        completion = events.get_final_completion()
    return completion.choices[0].message.tool_calls[0].function.arguments


def accumulator(feeds: Feeds) -> str:
    state = ChatCompletionStreamState()
    for chunk in sdk(feeds).chat.completions.create(model="any", messages=[], stream=True):
        state.handle_chunk(chunk)
    return state.get_final_completion().choices[0].message.tool_calls[0].function.arguments


def joined_chunks(feeds: Feeds) -> str:
    """What its documentation shows for plain chunks: append the fragments, join them."""
    fragments: list[str] = []
    for chunk in sdk(feeds).chat.completions.create(model="any", messages=[], stream=True):
        for choice in chunk.choices:
            fragments += [call.function.arguments for call in choice.delta.tool_calls or ()]
    return "".join(fragments)


CONTENDERS = (
    Contender("openai-python, stream helper", "openai", CHAT, stream_helper),
    Contender("openai-python, StreamState", "openai", CHAT, accumulator),
    Contender("openai-python, chunks joined by hand", "openai", CHAT, joined_chunks),
)
