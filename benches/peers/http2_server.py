"""A server on loopback that speaks HTTP/2 without TLS: f3dx asks for nothing else at such an address."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from functools import cache

import h2.config
import h2.connection
import h2.events

from benches.peers.contender import CHAT, stream
from benches.peers.transport import HEADERS

RECEIVE = 64 * 1024


class Answer(socketserver.BaseRequestHandler):
    """Answers every request of a connection with the long call, one data frame a feed.

    The whole call is smaller than the window that f3dx opens, so flow control never has to wait.
    """

    def handle(self) -> None:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        self.request.sendall(connection.data_to_send())
        with contextlib.suppress(ConnectionError):
            while data := self.request.recv(RECEIVE):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.StreamEnded):
                        self.answer(connection, event.stream_id)
                self.request.sendall(connection.data_to_send())

    def answer(self, connection: h2.connection.H2Connection, number: int) -> None:
        """Send the long call on stream `number`."""
        connection.send_headers(number, [(":status", "200"), *HEADERS.items()])
        for data in stream(CHAT).feeds:
            connection.send_data(number, data)
            self.request.sendall(connection.data_to_send())
        connection.end_stream(number)


@cache
def http2_address() -> str:
    """The address of such a server, started once, ended with the process."""
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
