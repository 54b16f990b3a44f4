"""Clients with one stream at a time: each reads the long call from the gateway and gives its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

import deltafold

Play = Callable[[str], str]
"""Takes the address of a play, gives the arguments of its call."""

QUESTION = [{"role": "user", "content": "any"}]


def streamed(response: Any) -> str:
    """Every event as it comes, then the arguments: what an application does."""
    with deltafold.stream(response) as events:
        for _event in events:
            pass
    return events.completion.tool_calls[0].arguments


def with_httpx() -> Play:
    import httpx

    client = httpx.Client()
    return lambda url: streamed(client.send(client.build_request("POST", url, json={}), stream=True))


def with_requests() -> Play:
    import requests

    session = requests.Session()
    return lambda url: streamed(session.post(url, json={}, stream=True))


def with_primp() -> Play:
    import primp

    client = primp.Client()
    return lambda url: streamed(client.post(url, json={}, stream=True))


def httpx_orjson() -> Play:
    import httpx

    client = httpx.Client()

    def play(url: str) -> str:
        fragments: list[str] = []
        with client.stream("POST", url, json={}) as response:
            for line in response.iter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    for choice in orjson.loads(line[6:])["choices"]:
                        for call in choice["delta"].get("tool_calls") or ():
                            fragments.append(call["function"]["arguments"])  # noqa: PERF401
        return "".join(fragments)

    return play


def with_f3dx() -> Play:
    import f3dx

    clients: dict[str, Any] = {}
    request = {"model": "any", "messages": QUESTION, "stream": True}

    def play(url: str) -> str:
        if url not in clients:
            clients[url] = f3dx.OpenAI(api_key="none", base_url=url, http2=False)
        found = ""
        for event in clients[url].chat_completions_create_stream_assembled(request):
            if event["type"] == "tool_call":
                given = event["arguments"]
                found = given if isinstance(given, str) else orjson.dumps(given).decode()
        return found

    return play


def with_openai() -> Play:
    import openai
    from openai.lib.streaming.chat import ChatCompletionStreamState

    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1", max_retries=0)

    def play(url: str) -> str:
        state = ChatCompletionStreamState()
        asked = client.with_options(base_url=url).chat.completions
        for chunk in asked.create(model="any", messages=QUESTION, stream=True):
            state.handle_chunk(chunk)
        return state.get_final_completion().choices[0].message.tool_calls[0].function.arguments

    return play


def openai_adapter() -> Play:
    import openai

    from deltafold.adapters.openai import stream

    client = openai.OpenAI(api_key="none", base_url="http://127.0.0.1", max_retries=0)

    def play(url: str) -> str:
        with stream(client.with_options(base_url=url), model="any", messages=QUESTION) as events:
            completion = events.get_final_completion()
        return completion.choices[0].message.tool_calls[0].function.arguments

    return play


def with_litellm() -> Play:
    import litellm

    litellm.suppress_debug_info = True

    def play(url: str) -> str:
        options: dict[str, Any] = {"base_url": url, "api_key": "none", "max_retries": 0, "stream": True}
        chunks = list(litellm.completion(model="openai/any", messages=QUESTION, **options))
        return litellm.stream_chunk_builder(chunks).choices[0].message.tool_calls[0].function.arguments

    return play


CLIENTS: dict[str, Callable[[], Play]] = {
    "deltafold over primp": with_primp,
    "deltafold over requests": with_requests,
    "deltafold over httpx": with_httpx,
    "deltafold.adapters.openai": openai_adapter,
    "f3dx, stream_assembled": with_f3dx,
    "httpx, orjson loop": httpx_orjson,
    "openai-python, StreamState": with_openai,
    "LiteLLM, stream_chunk_builder": with_litellm,
}
