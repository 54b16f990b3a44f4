"""`python -m benches.growth`: time a chunk in streams of a thousand to a million chunks.

A fold that copies, rescans or rebuilds shows itself here: its line climbs. `--write` puts the figures into
docs/benchmarks.md and draws docs/growth.svg.
"""

from __future__ import annotations

import argparse
import functools
import sys
from typing import TYPE_CHECKING

import deltafold
from benches import chart, report
from benches.engines import engine
from benches.feeds import RepeatedStream
from benches.machine import description
from benches.rounds import measure

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ALLOWED_SPREAD = 1.2
ROUNDS = 9
EACH = 100_000
"""Chunks that a round folds at least: of short streams several, so that they too find the caches warm."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.growth", description=__doc__)
    parser.add_argument("--engine", default=deltafold.IMPLEMENTATION, choices=("native", "reference"))
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    microseconds = measured(options.engine, options.largest, options.rounds)
    spread = max(microseconds.values()) / min(microseconds.values())
    lines = [
        f"{description()}; {options.engine} engine; medians of {options.rounds} interleaved rounds.",
        "",
        "| chunks in the stream | µs a chunk |",
        "|---:|---:|",
        *(f"| {size:,} | {value:.4f} |" for size, value in microseconds.items()),
        "",
        f"Slowest over fastest: {spread:.2f} (aim: at most {ALLOWED_SPREAD}).",
    ]
    print("\n".join(lines))
    if options.write:
        report.write_block(
            "growth", [*lines, "", "![Time a chunk over the length of the stream](growth.svg)"]
        )
        title = "Time a chunk, by the length of the stream (µs)"
        report.write_chart("growth.svg", chart.line(title, [(f"{s:,}", v) for s, v in microseconds.items()]))
    return 0


def measured(engine_name: str, largest: int, rounds: int) -> dict[int, float]:
    """Median microseconds a chunk for each size up to `largest`."""
    assemble = engine(engine_name).assemble
    streams = {size: RepeatedStream(size) for size in SIZES if size <= largest}
    times = {size: max(1, EACH // size) for size in streams}
    works = {str(size): functools.partial(fold, assemble, streams[size], times[size]) for size in streams}
    timing = measure(works, rounds)
    return {size: timing.median(str(size)) * 1e6 / (streams[size].chunks * times[size]) for size in streams}


def fold(assemble: Callable[[RepeatedStream], object], stream: RepeatedStream, times: int) -> None:
    """Fold the stream so many times."""
    for _ in range(times):
        assemble(stream)


if __name__ == "__main__":
    sys.exit(main())
