"""An HTTP server in the test's own event loop, which says what is written when."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
END = b"0\r\n\r\n"
HANGS = 20.0
"""Seconds after which a test has failed that waits for what does not come."""


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    """Answers in the test's own loop; `answers` are run in turn, each for a request."""

    def __init__(
        self, *answers: Callable[[Server, asyncio.StreamWriter], Awaitable[None]], headers: dict[str, str]
    ) -> None:
        self.answers = list(answers)
        self.head = (
            HEAD + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items()) + b"\r\n"
        )
        self.connections = 0
        self.ended = asyncio.Event()
        self.go_on = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while self.answers:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(self.head)
                await self.answers.pop(0)(self, writer)
            await reader.read()
        writer.close()
        self.ended.set()


@contextlib.asynccontextmanager
async def serving(*answers: Any, headers: dict[str, str] | None = None) -> AsyncIterator[tuple[Server, str]]:
    server = Server(*answers, headers=headers or {})
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with asyncio.timeout(HANGS), listening:
        yield server, f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
