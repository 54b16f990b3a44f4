"""What the kernel alone takes to bring one chunk over loopback: no client comes below it.

A chunk is written to each of some connections in turn by one process, and read by another with nothing but
epoll and `recv`. Linux only.
"""

from __future__ import annotations

import os
import select
import socket
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING

from benches.http.loopback import two_cores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

CONNECTIONS = 200
WRITES = 250
"""A connection."""
CHUNK = b"x" * 260


def read_all(connections: list[socket.socket], core: int, told: Connection) -> None:
    """Read until all has come; tells the processor seconds and the reads."""
    os.sched_setaffinity(0, {core})
    epoll = select.epoll()
    by_number = {connected.fileno(): connected for connected in connections}
    for number in by_number:
        epoll.register(number, select.EPOLLIN)
    told.send(None)
    left, reads, started = CONNECTIONS * WRITES * len(CHUNK), 0, time.process_time()
    while left > 0:
        for number, _mask in epoll.poll():
            left -= len(by_number[number].recv(65536))
            reads += 1
    told.send((time.process_time() - started, reads))


def floor() -> tuple[float, float]:
    """Microseconds of processor time for one write and for one read."""
    client, server = two_cores()
    listener = socket.create_server(("127.0.0.1", 0), backlog=CONNECTIONS)
    readers = [socket.create_connection(listener.getsockname()) for _ in range(CONNECTIONS)]
    writers = [listener.accept()[0] for _ in range(CONNECTIONS)]
    for connected in writers:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    context = get_context("fork")
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=read_all, args=(readers, client, tells))
    process.start()
    told.recv()
    before, affinity = time.process_time(), os.sched_getaffinity(0)
    os.sched_setaffinity(0, {server})
    for _ in range(WRITES):
        for connected in writers:
            connected.sendall(CHUNK)
    writing = time.process_time() - before
    os.sched_setaffinity(0, affinity)
    reading, reads = told.recv()
    process.join()
    for connected in (*readers, *writers, listener):
        connected.close()
    return writing / (CONNECTIONS * WRITES) * 1e6, reading / reads * 1e6


if __name__ == "__main__":
    print("microseconds a write and a read: {:.1f}, {:.1f}".format(*floor()))
