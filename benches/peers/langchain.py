"""LangChain: chunks of ChatOpenAI added up one by one, as its documentation shows, and merged once."""

from __future__ import annotations

from langchain_core.messages.ai import add_ai_message_chunks
from langchain_openai import ChatOpenAI

from benches.peers.contender import CHAT, Contender, Feeds
from benches.peers.transport import BASE_URL, client


def model(feeds: Feeds) -> ChatOpenAI:
    """A chat model whose requests are answered with `feeds`."""
    return ChatOpenAI(model="any", api_key="none", base_url=BASE_URL, http_client=client(feeds))


def added_up(feeds: Feeds) -> str:
    total = None
    for chunk in model(feeds).stream("any"):
        total = chunk if total is None else total + chunk
    return total.tool_call_chunks[0]["args"]


def merged_once(feeds: Feeds) -> str:
    first, *others = model(feeds).stream("any")
    return add_ai_message_chunks(first, *others).tool_call_chunks[0]["args"]


CONTENDERS = (
    Contender("LangChain, chunks added up", "langchain-openai", CHAT, added_up),
    Contender("LangChain, chunks merged once", "langchain-openai", CHAT, merged_once),
)
