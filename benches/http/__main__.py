"""`python -m benches.http`: the whole path over loopback, in the environment of the peers.

`burst` (the default) measures a chunk's cost with one stream and with 200, `live` how many streams of 50
chunks a second one core carries. `--write` puts the tables into docs/clients.md. Traffic is on loopback
alone, and bounded: a burst plays a fixed number of streams, a live step lasts seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

# Before litellm is imported: it would ask the network for prices.
os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"})

from benches import report
from benches.http import burst, live, many_streams
from benches.http.floor import floor
from benches.machine import description

PACKAGES = (
    "deltafold",
    "aiohttp",
    "uvloop",
    "primp",
    "httpx",
    "requests",
    "f3dx",
    "openai",
    "litellm",
    "orjson",
)

LIVE = {
    "deltafold over aiohttp": 1200,
    **dict.fromkeys(many_streams.READ_EVERY, 2400),
    many_streams.CLIENT_ALONE: 1200,
    "aiohttp, orjson loop": 700,
    "deltafold over httpx": 300,
    "httpx, orjson loop": 200,
    "AsyncOpenAI": 24,
    "LiteLLM": 6,
}
"""Who is measured live, and with how many streams it begins."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.http", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("burst", "live"), default="burst")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--only", default="", help="contenders whose name holds this text, or one of several with | between"
    )
    parser.add_argument("--streams", type=int, choices=(1, burst.MANY), help="burst: only so many at once")
    parser.add_argument("--first", type=int, help="live: how many streams to begin with")
    parser.add_argument("--bundled", action="store_true", help="live: three chunks in two writes")
    parser.add_argument("--write", action="store_true", help="put the table into docs/clients.md")
    options = parser.parse_args()
    if options.what == "burst":
        streams = (options.streams,) if options.streams else (1, burst.MANY)
        lines = burst_table(burst.measured(options.rounds, options.only, streams), options.rounds)
    else:
        names = [name for name in LIVE if any(part in name for part in options.only.split("|"))]
        gateway = ("--bundled",) if options.bundled else ()
        found = [live.capacity(name, options.first or LIVE[name], *gateway) for name in names]
        lines = live_table(found)
    print("\n".join(lines))
    if options.write:
        block = "live-bundled" if options.bundled else options.what
        report.write_block(block, lines, report.DOCS / "clients.md")
    return 0


def head() -> str:
    return description(PACKAGES)


def burst_table(figures: dict[str, Any], rounds: int) -> list[str]:
    """Microseconds a chunk, wall (processor), fastest first by one frame a write."""
    columns = [(1, "frame"), (1, "16384"), (burst.MANY, "frame"), (burst.MANY, "16384")]
    found = {(row["name"], row["streams"], row["write"]): row for row in figures["rows"]}
    names = sorted(
        {row["name"] for row in figures["rows"]},
        key=lambda name: min(row["wall"] for row in figures["rows"] if row["name"] == name),
    )
    lines = [
        f"{head()}; medians of {rounds} interleaved rounds, microseconds a chunk: wall (processor).",
        "",
        "| | 1 stream, a frame a write | 1, 16 KiB a write | 200 at once, a frame | 200, 16 KiB |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in names:
        cells = [
            f"{row['wall']:.1f} ({row['cpu']:.1f})" if (row := found.get((name, *column))) else "-"
            for column in columns
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, *(f"\nLeft out: {name} ({reason})" for name, reason in figures["left_out"].items())]


def live_table(found: list[dict[str, Any]]) -> list[str]:
    write, read = floor()
    lines = [
        f"{head()}; over {live.MEASURE:g} s each.",
        f"The kernel alone takes {write:.1f} µs for a write of one chunk here and {read:.1f} µs for a read",
        "of one (`python -m benches.http.floor`).",
        "",
        "Client, gateway: the part of its core that each was busy; one near 1 was at its limit. Where that",
        "is the gateway, the client could carry more than is counted here.",
        "",
        "| on one core | live streams | p50 | p99, bound | processor a chunk | client, gateway | too much |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for one in found:
        best, last = one["best"], one["steps"][-1]
        beyond = (
            f"{last['streams']:,}: p99 {last['p99'] * 1e3:.0f} ms, {last['rate']:.0f} chunks a second came, "
            f"{busy(last)}"
        )
        cells = ("none", "-", "-", "-", "-")
        if best is not None:
            cells = (
                f"{best['streams']:,}",
                f"{best['p50'] * 1e3:.0f} ms",
                f"{best['p99'] * 1e3:.0f} ms, {live.bound(one['name']) * 1e3:g} ms",
                f"{best['microseconds']:.1f} µs",
                busy(best),
            )
        lines.append(f"| {one['name']} | {' | '.join(cells)} | {beyond} |")
    return lines


def busy(figures: dict[str, Any]) -> str:
    """What the client and the gateway took of their cores."""
    return f"{figures['cpu']:.2f}, {figures['gateway']:.2f}"


if __name__ == "__main__":
    sys.exit(main())
