"""An agent over HTTP, in its plain and its async form.

client ROOT PORT plain|async die-after-failed-tool|finish
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from deltafold.journal import AsyncJournal, Journal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def ask(port: int, messages: list[dict[str, Any]]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": messages}))
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"the gateway answered {response.status}")
    return response


async def chunks(response: http.client.HTTPResponse) -> AsyncIterator[bytes]:
    while chunk := response.read1(100):
        yield chunk


def tool(q: str) -> str:
    raise ValueError(f"no such drink{q[:0]}")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def plain(root: str, port: int, *, dies: bool) -> None:
    with Journal.open(root, "s", create=True, resume=True) as journal:
        turn = journal.turn(user="What is tea?" if dies else "And now?")
        for _ in turn.stream(ask(port, journal.messages())):
            pass
        for call in turn.executable_calls:
            with turn.running(call) as run:
                run.result(tool(**call.parse()))
            if dies:
                die()
        print(turn.completion.content)  # noqa: T201


async def asynchronous(root: str, port: int, *, dies: bool) -> None:
    async with AsyncJournal.open(root, "s", create=True, resume=True) as journal:
        turn = await journal.turn(user="What is tea?" if dies else "And now?")
        async for _ in turn.stream(chunks(ask(port, await journal.messages()))):
            pass
        for call in turn.executable_calls:
            async with turn.running(call) as run:
                await run.result(tool(**call.parse()))
            if dies:
                die()
        print(turn.completion.content)  # noqa: T201


if __name__ == "__main__":
    directory, number, form, ending = sys.argv[1:]
    dying = ending == "die-after-failed-tool"
    if form == "plain":
        plain(directory, int(number), dies=dying)
    else:
        asyncio.run(asynchronous(directory, int(number), dies=dying))
