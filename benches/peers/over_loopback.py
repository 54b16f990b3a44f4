"""f3dx, whose client is built in, over HTTP on this machine; and httpx with deltafold over the same."""

from __future__ import annotations

import http.server
import threading
from functools import cache

import f3dx
import httpx
import orjson

import deltafold
from benches.peers.contender import LOOPBACK, Contender, Feeds, stream
from benches.peers.http2_server import http2_address

# The server sends the feeds of the long call, whatever is asked; the contenders' own `feeds` are the same.


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers every request with the long call, one write a feed."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for data in stream(LOOPBACK).feeds:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@cache
def address() -> str:
    """The address of a server on loopback, started once, ended with the process."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


@cache
def f3dx_client() -> f3dx.OpenAI:
    return f3dx.OpenAI(api_key="none", base_url=http2_address())


@cache
def httpx_client() -> httpx.Client:
    return httpx.Client()


def f3dx_assembled(_feeds: Feeds) -> str:
    request = {"model": "any", "messages": [{"role": "user", "content": "any"}], "stream": True}
    found = ""
    for event in f3dx_client().chat_completions_create_stream_assembled(request):
        if event["type"] == "tool_call":
            arguments = event["arguments"]
            found = orjson.dumps(arguments).decode() if isinstance(arguments, dict) else arguments
    return found


def httpx_with_deltafold(_feeds: Feeds) -> str:
    with httpx_client().stream("POST", f"{address()}/chat/completions", json={"stream": True}) as response:
        return deltafold.assemble(response.iter_raw()).tool_calls[0].arguments


CONTENDERS = (
    Contender("deltafold over httpx", "deltafold", LOOPBACK, httpx_with_deltafold),
    Contender("f3dx, stream_assembled", "f3dx", LOOPBACK, f3dx_assembled),
)
