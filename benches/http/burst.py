"""A chunk's whole path, as fast as the gateway sends: one stream, and many at once.

Each contender runs once a round, so what the machine does meanwhile meets them all. Wall time is what an
application waits; processor time, of all the client's threads, is what a machine is busy with.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benches.http import many_streams, one_stream
from benches.http.loopback import gateway
from benches.shapes import long_call

if TYPE_CHECKING:
    from collections.abc import Callable

WRITES = ("frame", "16384")
FRAGMENTS = {1: 2000, 200: 200}
"""Fragments of the call by the number of streams at once; a slow contender's has a quarter of them."""
MANY = 200
F3DX = "f3dx, stream_assembled"
SLOW = frozenset(
    {"openai-python, StreamState", "LiteLLM, stream_chunk_builder", "AsyncOpenAI", "LiteLLM"}
    | {"deltafold.adapters.openai", "httpx, orjson loop", "deltafold over httpx"}
)
"""Contenders of hundreds of microseconds a chunk, with one stream or with many: they run once."""


@dataclass
class Row:
    """One contender at one size of writes and number of streams."""

    name: str
    write: str
    streams: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        chunks = self.streams * long_call(fragments=fragments_for(self.name, self.streams)).frames
        return {
            "name": self.name,
            "write": self.write,
            "streams": self.streams,
            "wall": statistics.median(self.wall) * 1e6 / chunks,
            "cpu": statistics.median(self.cpu) * 1e6 / chunks,
        }


def fragments_for(name: str, streams: int) -> int:
    return FRAGMENTS[streams] // (4 if name in SLOW else 1)


class Contenders:
    """What can run, and why the others cannot."""

    def __init__(self, loop: asyncio.AbstractEventLoop, only: str) -> None:
        self.loop = loop
        self.only = only
        self.left_out: dict[str, str] = {}
        self.open: list[Any] = []

    def of(self, streams: int) -> dict[str, Callable[[str], list[str]]]:
        """For each name what plays that many streams and gives the arguments of each."""
        makers: dict[str, Callable[[], Callable[[str], list[str]]]] = {}
        if streams == 1:
            for name, make in one_stream.CLIENTS.items():
                makers[name] = lambda make=make: alone(make())
        else:
            for name, open_client in many_streams.CLIENTS.items():
                if name in many_streams.LIVE_ONLY:
                    continue
                makers[name] = lambda open_client=open_client: self.together(open_client(), streams)
            makers[F3DX] = lambda: in_threads(one_stream.with_f3dx(), streams)
        ready: dict[str, Callable[[str], list[str]]] = {}
        for name, make in makers.items():
            if any(part in name for part in self.only.split("|")):
                try:
                    ready[name] = make()
                except ImportError as reason:
                    self.left_out[name] = str(reason)
        return ready

    def together(self, opening: Any, streams: int) -> Callable[[str], list[str]]:
        """All streams as tasks of one loop; the client stays open until the process ends."""
        self.open.append(opening)
        play = self.loop.run_until_complete(opening.__aenter__())

        async def all_of(url: str) -> list[str]:
            return await asyncio.gather(*(play(url, str) for _ in range(streams)))

        return lambda url: self.loop.run_until_complete(all_of(url))


def alone(play: one_stream.Play) -> Callable[[str], list[str]]:
    return lambda url: [play(url)]


def in_threads(play: one_stream.Play, streams: int) -> Callable[[str], list[str]]:
    """One thread a stream, for a client without async."""
    pool = concurrent.futures.ThreadPoolExecutor(streams)
    return lambda url: list(pool.map(play, [url] * streams))


def measured(rounds: int, only: str = "", streams: tuple[int, ...] = (1, MANY)) -> dict[str, Any]:
    """The figures of every contender; those that do not give the right arguments are named."""
    loop = new_loop()
    contenders = Contenders(loop, only)
    rows: list[Row] = []
    with gateway() as (address, _pid):
        for count in streams:
            running = contenders.of(count)
            for write in WRITES:
                rows += interleaved(running, address, write, count, rounds, contenders.left_out)
    return {"rows": [row.figures() for row in rows if row.wall], "left_out": contenders.left_out}


def interleaved(  # noqa: PLR0913, PLR0917
    running: dict[str, Callable[[str], list[str]]],
    address: str,
    write: str,
    streams: int,
    rounds: int,
    left_out: dict[str, str],
) -> list[Row]:
    rows = {name: Row(name, write, streams) for name in running}
    for number in range(rounds + 1):
        for name, play in running.items():
            if name in left_out or (name in SLOW and number > 0):
                continue
            fragments = fragments_for(name, streams)
            expected = [long_call(fragments=fragments).arguments[0][0]] * streams
            url = f"{address}/burst/{fragments}/{write}"
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                given = play(url)
            except Exception as error:  # noqa: BLE001 (a peer may fail in any way; the others still count)
                left_out[name] = f"{type(error).__name__}: {error}"
                continue
            rows[name].wall.append(time.perf_counter() - wall)
            rows[name].cpu.append(time.process_time() - cpu)
            if given != expected and not same_json(given, expected):
                left_out[name] = "wrong arguments"
    for row in rows.values():
        if len(row.wall) > 1:  # the first one opens connections
            del row.wall[0], row.cpu[0]
    return list(rows.values())


def same_json(given: list[str], expected: list[str]) -> bool:
    """A client that parses arguments and writes them out again is right too."""
    import orjson

    try:
        return [orjson.loads(text) for text in given] == [orjson.loads(text) for text in expected]
    except ValueError:
        return False


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
