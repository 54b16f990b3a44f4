"""A proxy before a server that breaks a connection at a chosen moment."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from typing import Literal

Moment = Literal["before", "after"]


class Proxy:
    """Forwards to a port. `break_next(word, moment)` breaks the connection at the next client message that
    holds a word: `before` it reaches the server, or `after` the server has it and before its answer gets
    back.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._word: bytes | None = None
        self._moment: Moment = "before"
        self.broken = 0
        self.refusing = False
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def break_next(self, word: bytes, moment: Moment) -> None:
        self._word, self._moment = word, moment

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            thread = threading.Thread(target=self._forward, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            while True:
                ready, _, _ = select.select([client, server], [], [], 30)
                for side in ready:
                    with contextlib.suppress(OSError):
                        data = side.recv(65_536)
                        if not data:
                            return
                        if side is client and self._word is not None and self._word in data:
                            self._word = None
                            self._break(server, data)
                            return
                        (server if side is client else client).sendall(data)
                if not ready:
                    return

    def _break(self, server: socket.socket, data: bytes) -> None:
        if self._moment == "after":
            server.sendall(data)
            select.select([server], [], [], 10)  # the server has answered: it has done what it was asked
        self.broken += 1

    def close(self) -> None:
        self._listener.close()
        for thread in self._threads:
            thread.join(1)
