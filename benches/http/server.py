"""`python -m benches.http.server`: a gateway on loopback; prints its port as JSON, ends with its stdin.

One process, one epoll loop, so that it costs the machine little beside the client that is measured. Paths:

- `/burst/FRAGMENTS/WRITE/...`: the long call of `FRAGMENTS` fragments, one frame a write where WRITE is
  `frame`, else WRITE bytes a write. Connections take turns, a write each.
- `/live/SECONDS/...`: 50 frames a second for that long; the content of each is the monotonic time in
  nanoseconds at which it was due, so that the reader can say how late it is. With `--bundled` two of three
  frames go out in one write, the earlier one 20 ms late: three frames in two writes.

Whatever follows in the path is left to the client (SDKs append theirs). Linux only (epoll).
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

from benches.shapes import FRAME_FEEDS, Gateway, long_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"cache-control: no-cache\r\n\r\n"
)
END = b"0\r\n\r\n"
RATE = 50
"""Frames a second of one live stream."""
SLOTS = 20
"""A period is divided into this many slots; the live streams are spread over them."""
SLOT_SECONDS = 1 / RATE / SLOTS


def chunk(data: bytes) -> bytes:
    """One chunk of HTTP's chunked coding."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@cache
def burst_writes(fragments: int, write: str) -> tuple[bytes, ...]:
    size = FRAME_FEEDS if write == "frame" else int(write)
    pieces = long_call(fragments=fragments).feeds(size)[0]
    first, *others = [chunk(piece) for piece in pieces]
    return (HEAD + first, *others, END)


class Live:
    """Frames whose content is the time; one is made a slot and sent to all its streams."""

    def __init__(self) -> None:
        gateway = Gateway(7)
        self.first = HEAD + chunk(gateway.role())
        self.last = chunk(b"".join(gateway.ending("stop"))) + END
        mark = "T" * 20
        text = gateway.frame({"content": mark, "refusal": None})
        self.before, self.after = text.split(mark.encode())

    def frame(self, due: int) -> bytes:
        return chunk(b"%b%020d%b" % (self.before, due, self.after))


class Connection:
    """A connection, and what is still to be written to it."""

    __slots__ = ("asked", "ends", "socket", "waiting", "write", "writes")

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.asked = bytearray()
        self.writes: Iterator[bytes] | None = None
        self.waiting = b""
        self.write = connected.send
        self.ends = 0.0

    def send(self, data: bytes) -> bool:
        """Write, and keep what does not fit; whether all went out."""
        if self.waiting:
            self.waiting += data
            data = self.waiting
        try:
            sent = self.socket.send(data)
        except BlockingIOError:
            sent = 0
        self.waiting = data[sent:]
        return not self.waiting


class Server:
    """The loop."""

    def __init__(self, *, bundled: bool = False) -> None:
        self.bundled = bundled
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.listener.setblocking(False)  # noqa: FBT003 (its signature)
        self.port = self.listener.getsockname()[1]
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)
        self.epoll.register(sys.stdin, select.EPOLLIN)
        self.connections: dict[int, Connection] = {}
        self.bursting: dict[int, Connection] = {}
        self.live = Live()
        self.slots: list[dict[int, Connection]] = [{} for _ in range(SLOTS)]
        self.slot = 0
        self.kept = [b""] * SLOTS
        self.period = 0
        self.next_slot = time.monotonic()
        self.next_end = 0.0
        self.late_periods = 0
        self.joined = 0

    def run(self) -> None:
        while self.turn():
            pass

    def turn(self) -> bool:
        """Take what came, write what is due; False when stdin has ended."""
        for number, mask in self.epoll.poll(self.patience()):
            if number == sys.stdin.fileno():
                return False
            if number == self.listener.fileno():
                self.accept()
            elif mask & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                self.read(self.connections[number])
        for number, connection in list(self.bursting.items()):
            if not self.guarded(connection, self.burst):
                self.bursting.pop(number, None)
        self.live_slots()
        return True

    def patience(self) -> float:
        if self.bursting:
            return 0
        return max(0.0, self.next_slot - time.monotonic()) if any(self.slots) else 1.0

    def accept(self) -> None:
        while True:
            try:
                connected, _address = self.listener.accept()
            except BlockingIOError:
                return
            connected.setblocking(False)  # noqa: FBT003 (its signature)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections[connected.fileno()] = Connection(connected)
            self.epoll.register(connected, select.EPOLLIN)

    def read(self, connection: Connection) -> None:
        try:
            data = connection.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(connection)
            return
        connection.asked += data
        head, blank, body = bytes(connection.asked).partition(b"\r\n\r\n")
        if blank and len(body) >= content_length(head):
            connection.asked.clear()
            self.answer(connection, head.split(b" ", 2)[1].decode())
        elif blank and not body and b"\r\nexpect:" in head.lower():
            connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def answer(self, connection: Connection, path: str) -> None:
        _, kind, first, *others = path.split("/")
        if kind == "burst":
            connection.writes = iter(burst_writes(int(first), others[0]))
            self.bursting[connection.socket.fileno()] = connection
            return
        connection.ends = time.monotonic() + float(first)
        connection.send(self.live.first)
        if not any(self.slots):
            self.next_slot = time.monotonic()
        self.slots[self.joined % SLOTS][connection.socket.fileno()] = connection
        self.joined += 1

    def burst(self, connection: Connection) -> bool:
        """One more write; False when that was the last one."""
        if connection.waiting and not connection.send(b""):
            return True
        assert connection.writes is not None
        data = next(connection.writes, None)
        if data is None:
            return False
        connection.send(data)
        return True

    def live_slots(self) -> None:
        """Write what one slot has to; a server that is a whole period behind leaves a period out."""
        now = time.monotonic()
        if now < self.next_slot or not any(self.slots):
            return
        if now - self.next_slot > 1 / RATE:
            self.next_slot += 1 / RATE
            self.late_periods += 1
        streams = self.slots[self.slot]
        frame = self.kept[self.slot] + self.live.frame(time.monotonic_ns())
        self.kept[self.slot] = b""
        if self.bundled and (self.period + self.slot) % 3 == 0:
            self.kept[self.slot] = frame
        else:
            self.write_to(streams, frame)
        self.end_streams(streams, now)
        self.slot = (self.slot + 1) % SLOTS
        self.period += self.slot == 0
        self.next_slot += SLOT_SECONDS

    def write_to(self, streams: dict[int, Connection], frame: bytes) -> None:
        """Write one frame, or two, to all streams of a slot."""
        behind: list[Connection] = []
        for connection in streams.values():
            try:
                if connection.waiting:
                    behind.append(connection)
                elif (sent := connection.write(frame)) != len(frame):
                    connection.waiting = frame[sent:]
            except OSError:
                behind.append(connection)
        for connection in behind:
            self.guarded(connection, lambda slow: slow.send(frame))

    def end_streams(self, streams: dict[int, Connection], now: float) -> None:
        """End the streams of a slot that have had their time; looked at once a second."""
        if now < self.next_end:
            return
        if self.slot == 0:
            self.next_end = now + 1.0
        for number, connection in list(streams.items()):
            if now >= connection.ends:
                self.guarded(connection, lambda ended: ended.send(self.live.last))
                streams.pop(number, None)

    def guarded(self, connection: Connection, write: Callable[[Connection], bool]) -> bool:
        """Write; a reader that has gone is dropped."""
        try:
            return write(connection)
        except OSError:
            self.drop(connection)
            return False

    def drop(self, connection: Connection) -> None:
        number = connection.socket.fileno()
        self.connections.pop(number, None)
        self.bursting.pop(number, None)
        for streams in self.slots:
            streams.pop(number, None)
        if number >= 0:
            self.epoll.unregister(number)
            connection.socket.close()


def content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def main() -> int:
    server = Server(bundled="--bundled" in sys.argv[1:])
    print(json.dumps({"port": server.port}), flush=True)
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
