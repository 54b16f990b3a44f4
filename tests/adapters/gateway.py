"""A gateway on loopback that plays streams, with chosen writes, status and content type."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benches.shapes import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENT_STREAM = "text/event-stream; charset=utf-8"
FRAMES = 0
"""The write size that stands for one frame a write."""


@dataclass
class Play:
    """One answer, and what was asked for it."""

    url: str
    writes: list[bytes]
    status: int
    content_type: str | None
    chunked: bool
    coding: str | None
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


class Gateway(http.server.ThreadingHTTPServer):
    """Answers each request with the play that its path begins with; whatever an SDK appends is left to it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plays: dict[str, Play] = {}
        self.numbers = itertools.count()

    def play(  # noqa: PLR0913
        self,
        body: bytes,
        size: int = FRAMES,
        *,
        status: int = 200,
        content_type: str | None = EVENT_STREAM,
        chunked: bool = True,
        coding: str | None = None,
    ) -> Play:
        """Play `body` in writes of `size` bytes. Not chunked: the end of the connection ends the body."""
        name = f"play-{next(self.numbers)}"
        url = f"http://127.0.0.1:{self.server_port}/{name}"
        writes = in_frames(body) if size == FRAMES else list(cut(body, size))
        self.plays[name] = Play(url, writes, status, content_type, chunked, coding)
        return self.plays[name]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may go before the end; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Gateway
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        play = self.server.plays[self.path.split("/")[1]]
        text = self.rfile.read(int(self.headers.get("content-length", 0)))
        play.asked.append(json.loads(text or b"{}"))
        play.paths.append(self.path)
        self.send_response(play.status)
        if play.content_type is not None:
            self.send_header("content-type", play.content_type)
        if play.coding is not None:
            self.send_header("content-encoding", play.coding)
        if play.chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("connection", "close")
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a client may go before the end
            self.write_body(play)

    do_GET = do_POST  # noqa: N815 (the name that the server looks for)

    def write_body(self, play: Play) -> None:
        for data in play.writes:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if play.chunked else data)
        if play.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


def in_frames(body: bytes) -> list[bytes]:
    """The body cut behind each blank line."""
    return [piece for piece in body.replace(b"\n\n", b"\n\n\x00").split(b"\x00") if piece]


@contextlib.contextmanager
def running() -> Iterator[Gateway]:
    """A gateway, and its end."""
    gateway = Gateway()
    thread = threading.Thread(target=gateway.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield gateway
    finally:
        gateway.shutdown()
        thread.join()
        gateway.server_close()
