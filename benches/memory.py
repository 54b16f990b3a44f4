"""`python -m benches.memory`: resident size of idle assemblers, and the peak while a 100 MB stream is folded.

Each figure comes from a process of its own, so that none inherits what another left. Linux only, since both
read /proc. `--write` puts the figures into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import deltafold
from benches import report
from benches.engines import engine
from benches.feeds import RepeatedStream
from benches.machine import description
from benches.shapes import Gateway

if TYPE_CHECKING:
    from collections.abc import Callable

ASSEMBLERS = 10_000
IDLE_AIM = 1024
LONG_STREAM_CHUNKS = 290_000
PEAK_AIM = 1024 * 1024
KIB = 1024


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.memory", description=__doc__)
    parser.add_argument("--engine", default=deltafold.IMPLEMENTATION, choices=("native", "reference"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measure", choices=sorted(MEASUREMENTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASUREMENTS[options.measure](options.engine)))
        return 0
    figures = {name: in_own_process(name, options.engine) for name in MEASUREMENTS}
    lines = table(figures, options.engine)
    print("\n".join(lines))
    if options.write:
        report.write_block("memory", lines)
    return 0


def in_own_process(name: str, engine_name: str) -> dict[str, float]:
    """The figures of one measurement, from a fresh interpreter."""
    command = [sys.executable, "-m", "benches.memory", "--engine", engine_name, "--measure", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def table(figures: dict[str, dict[str, float]], engine_name: str) -> list[str]:
    peak = figures["peak"]
    megabytes, text_megabytes = peak["bytes"] / 1e6, peak["text"] / 1e6
    beside = peak["text"] + peak["frame"]
    waiting_text = figures["waiting"]["text"]
    rows = [
        (f"one of {ASSEMBLERS:,} assemblers that got nothing yet", figures["fresh"]["each"], IDLE_AIM),
        (
            f"one of {ASSEMBLERS:,} in the middle of a call, beside its text ({waiting_text:.0f} bytes)",
            figures["waiting"]["each"] - waiting_text,
            IDLE_AIM,
        ),
        (
            f"peak over {megabytes:.0f} MB, beside text ({text_megabytes:.1f} MB) and largest frame",
            peak["peak"] - beside,
            PEAK_AIM,
        ),
        ("the same, the Completion made and held", peak["closed"] - beside, None),
        ("the same, its arguments read as a Python string and held", peak["read"] - beside, None),
    ]
    return [
        f"{description()}; {engine_name} engine.",
        "",
        "| what | bytes | aim |",
        "|---|---:|---:|",
        *(f"| {what} | {size:,.0f} | {'' if aim is None else f'{aim:,}'} |" for what, size, aim in rows),
    ]


def idle(engine_name: str, opening: list[bytes], text: int) -> dict[str, float]:
    """Resident bytes of each of many assemblers, fed with `opening`."""
    make = engine(engine_name).Assembler
    warm = [make() for _ in range(10)]
    for assembler in warm:
        for frame in opening:
            assembler.feed(frame)
    gc.collect()
    before = status("VmRSS")
    held = []
    for _ in range(ASSEMBLERS):
        assembler = make()
        for frame in opening:
            assembler.feed(frame)
        held.append(assembler)
    gc.collect()
    return {"each": (status("VmRSS") - before) / len(held), "text": text}


def fresh(engine_name: str) -> dict[str, float]:
    """Assemblers that got nothing."""
    return idle(engine_name, [], 0)


def waiting(engine_name: str) -> dict[str, float]:
    """Assemblers whose streams stand still in the middle of a call, after a frame's end."""
    gateway = Gateway(5)
    fragments = ['{"query": "', *(f"word{number} " for number in range(20))]
    text = "I will look that up."
    opening = [gateway.role(), gateway.frame({"content": text}), gateway.call_start(0, "search")]
    opening += [gateway.call_delta(0, fragment) for fragment in fragments]
    return idle(engine_name, opening, len(text) + len("".join(fragments)))


def peak(engine_name: str) -> dict[str, float]:
    """The highest resident size above the start while a long stream is fed, then closed."""
    make = engine(engine_name).Assembler
    make().feed(RepeatedStream(1000).opening)
    stream = RepeatedStream(LONG_STREAM_CHUNKS)
    assembler = make()
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    for data in stream:
        assembler.feed(data)
    fed = status("VmHWM") - before
    completion = assembler.close()
    closed = status("VmHWM") - before
    arguments = completion.tool_calls[0].arguments
    assert len(arguments) == stream.text_bytes
    read = status("VmHWM") - before
    return {
        "bytes": stream.bytes,
        "text": stream.text_bytes,
        "frame": stream.largest_frame,
        "peak": fed,
        "closed": closed,
        "read": read,
    }


def status(field: str) -> int:
    """A size in bytes from /proc/self/status."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s+(\d+) kB$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"/proc/self/status has no {field}")
    return int(found.group(1)) * KIB


MEASUREMENTS: dict[str, Callable[[str], dict[str, float]]] = {
    "fresh": fresh,
    "waiting": waiting,
    "peak": peak,
}

if __name__ == "__main__":
    sys.exit(main())
