"""How many live streams of 50 chunks a second one core carries.

The client runs on one core, the gateway on another. Each chunk holds the time at which it was due; how late
it is when the application has it is the lateness. Streams are added until the p99 of that passes LATE: a
client that cannot keep up falls behind further with every second, so it passes soon after capacity is. A core
that is busy throughout is the limit: the client's, or the gateway's, which then sends no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from typing import Any

from benches.http import many_streams
from benches.http.burst import new_loop
from benches.http.loopback import gateway, processor_seconds, two_cores
from scripts.shell import ROOT

SETTLE = 1.0
"""Seconds from the last stream's first chunk to the measure."""
MEASURE = 3.0
"""Seconds measured."""
OPENING = 8.0
"""Seconds within which all streams have to be open."""
LATE = 0.1
"""Lateness in seconds that the p99 of a client that keeps up stays below, unless it reads seldom."""
LATE_OF_INTERVAL = 1.25
"""The same in parts of the interval at which a client reads, where that gives more."""
LEAST_RATE = 47.5
"""Chunks a second and stream, of 50, without which the gateway itself did not keep up."""
LEAST_STREAMS = 4
"""With fewer nothing is looked for."""
STAMP = 20
"""Digits of the time in a chunk."""


class Lateness:
    """Takes the texts of all streams."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.texts: list[str] = []
        self.started = 0

    def on_text(self, text: str) -> None:
        self.times.append(time.monotonic_ns())
        self.texts.append(text)

    def clear(self) -> None:
        self.times.clear()
        self.texts.clear()

    def seconds(self) -> list[float]:
        """How late each chunk was, least first."""
        return sorted(
            (now - int(text[start : start + STAMP])) / 1e9
            for now, text in zip(self.times, self.texts, strict=True)
            for start in range(0, len(text), STAMP)
        )


async def carried(name: str, address: str, streams: int, pid: int) -> dict[str, Any]:
    """The lateness of that many streams, and what the client and the gateway (`pid`) take of their cores."""
    lateness = Lateness()
    url = f"{address}/live/{OPENING + SETTLE + MEASURE + 1:g}"
    async with many_streams.CLIENTS[name]() as play:

        async def one() -> None:
            first = True

            def on_text(text: str) -> None:
                nonlocal first
                if first:
                    first = False
                    lateness.started += 1
                lateness.on_text(text)

            await play(url, on_text)

        tasks: list[asyncio.Task[None]] = []
        for number in range(streams):
            tasks.append(asyncio.create_task(one()))
            if number % 25 == 0:
                await asyncio.sleep(0.005)
        given_up = time.perf_counter() + OPENING
        while lateness.started < streams and time.perf_counter() < given_up:
            await asyncio.sleep(0.05)
        await asyncio.sleep(SETTLE)
        lateness.clear()
        wall, cpu, sending = time.perf_counter(), time.process_time(), processor_seconds(pid)
        await asyncio.sleep(MEASURE)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        sending = processor_seconds(pid) - sending
        seconds = lateness.seconds()
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
    count = max(1, len(seconds))
    return {
        "streams": streams,
        "opened": lateness.started,
        "rate": len(seconds) / wall / streams,
        "p50": seconds[count // 2] if seconds else float("inf"),
        "p99": seconds[count * 99 // 100] if seconds else float("inf"),
        "cpu": cpu / wall,
        "gateway": sending / wall,
        "microseconds": cpu / count * 1e6,
    }


def bound(name: str) -> float:
    """Lateness in seconds that the p99 of a contender that keeps up stays below."""
    return max(LATE, LATE_OF_INTERVAL * many_streams.READ_EVERY.get(name, 0.0))


def keeps_up(name: str, figures: dict[str, Any]) -> bool:
    opened: bool = figures["opened"] == figures["streams"]
    return opened and figures["p99"] <= bound(name) and figures["rate"] >= LEAST_RATE


def step(name: str, streams: int, *options: str) -> dict[str, Any]:
    """One measure in a process of its own, on one core; the options are the gateway's."""
    client, server = two_cores()
    with gateway(server, *options) as (address, pid):
        arguments = (name, streams, address, client, pid)
        command = [sys.executable, "-m", "benches.http.live", *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, timeout=60, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def capacity(name: str, first: int, *options: str) -> dict[str, Any]:
    """Streams are added by a quarter until the client does not keep up; two tries a step.

    It begins with `first`, or the half, quarter, ... of it that the client keeps up with. The options are
    the gateway's.
    """
    best: dict[str, Any] | None = None
    streams = first
    steps: list[dict[str, Any]] = []
    while LEAST_STREAMS <= streams <= 16 * first:
        figures = step(name, streams, *options)
        if not keeps_up(name, figures):
            steps.append(figures)
            figures = step(name, streams, *options)
        steps.append(figures)
        print(f"{name}: {shown(figures)}", file=sys.stderr, flush=True)
        if keeps_up(name, figures):
            best, streams = figures, streams * 5 // 4
        elif best is None:
            streams //= 2
        else:
            break
        if any(
            streams * 9 // 10 <= tried["streams"] <= streams for tried in steps if not keeps_up(name, tried)
        ):
            break
    return {"name": name, "best": best, "steps": steps}


def shown(figures: dict[str, Any]) -> str:
    return (
        f"{figures['streams']} streams, {figures['rate']:.1f}/s, p50 {figures['p50'] * 1e3:.1f} ms, "
        f"p99 {figures['p99'] * 1e3:.1f} ms, {figures['cpu']:.2f} core, gateway {figures['gateway']:.2f}, "
        f"{figures['microseconds']:.1f} us a chunk"
    )


def main() -> int:
    name, streams, address, core, pid = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    loop = new_loop()
    print(json.dumps(loop.run_until_complete(carried(name, address, int(streams), int(pid)))), flush=True)
    os._exit(0)  # some clients' threads do not end


if __name__ == "__main__":
    sys.exit(main())
