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
from collections.abc import Callable
from pathlib import Path

import deltafold

from benches import report
from benches.engines import engine
from benches.feeds import RepeatedStream
from benches.machine import description
from benches.shapes import Gateway

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
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def table(figures: dict[str, dict[str, float]], engine_name: str) -> list[str]:
    fresh, waiting, peak = figures["fresh"], figures["waiting"], figures["peak"]
    return [
        f"{description()}; {engine_name} engine.",
        "",
        "| what | measured | aim |",
        "|---|---:|---:|",
        f"| one of {ASSEMBLERS:,} assemblers that got nothing yet | {fresh['each']:.0f} bytes | {IDLE_AIM} bytes |",
        f"| one of {ASSEMBLERS:,} in the middle of a call, beside its text of {waiting['text']:.0f} bytes "
        f"| {waiting['each'] - waiting['text']:.0f} bytes | {IDLE_AIM} bytes |",
        f"| peak over a stream of {peak['bytes'] / 1e6:.0f} MB, beside its text of {peak['text'] / 1e6:.1f} MB "
        f"and largest frame | {(peak['peak'] - peak['text'] - peak['frame']) / KIB:.0f} KiB "
        f"| {PEAK_AIM // KIB} KiB |",
        f"| the same with the Completion made and held | {(peak['closed'] - peak['text'] - peak['frame']) / KIB:.0f} "
        "KiB | |",
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
    return {
        "bytes": stream.bytes,
        "text": stream.text_bytes,
        "frame": stream.largest_frame,
        "peak": fed,
        "closed": closed,
    }


def status(field: str) -> int:
    """A size in bytes from /proc/self/status."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s+(\d+) kB$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"/proc/self/status has no {field}")
    return int(found.group(1)) * KIB


MEASUREMENTS: dict[str, Callable[[str], dict[str, float]]] = {"fresh": fresh, "waiting": waiting, "peak": peak}

if __name__ == "__main__":
    sys.exit(main())
