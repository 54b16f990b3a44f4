"""`python -m benches.peers`: set up the peers' environment, measure, and write the table and the chart.

It makes target/peers, installs benches/peers/requirements.txt and deltafold's own wheel there, runs
benches.peers.measure in it, and writes the block `peers` of docs/benchmarks.md and docs/peers.svg.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benches import chart, report
from scripts import environments, interpreters
from scripts.shell import ROOT, environment, section

VENV = ROOT / "target" / "peers"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
OURS = frozenset(
    {
        "deltafold",
        "deltafold, Messages",
        "deltafold over httpx",
        "deltafold, arguments shown at every chunk",
        "deltafold.adapters.litellm, stream_chunk_builder alone",
    }
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--figures", type=Path, help="JSON of benches.peers.measure, instead of measuring now"
    )
    options = parser.parse_args()
    if options.figures:
        figures = json.loads(options.figures.read_text(encoding="utf-8"))
    else:
        figures = measured(options.rounds)
    lines = table(figures)
    print("\n".join(lines))
    report.write_block("peers", [*lines, "", "![Microseconds a chunk, by library](peers.svg)"])
    values = [(row["label"], row["microseconds"]) for row in figures["rows"]]
    title = "Microseconds for one chunk, bytes to finished call (logarithmic)"
    report.write_chart("peers.svg", chart.bars(title, values, OURS))
    return 0


def measured(rounds: int) -> dict[str, Any]:
    """The figures, from a fresh process in the peers' environment."""
    python = environments.python_of(VENV)
    with section("environment of the peers"):
        environments.prepare(VENV, interpreters.current(), "build")
        environments.install(python, "--upgrade", "--requirement", REQUIREMENTS)
        environments.install_wheel(python, environments.build_wheel(VENV))
    command = [str(python), "-m", "benches.peers.measure", "--rounds", str(rounds)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def table(figures: dict[str, Any]) -> list[str]:
    """The figures as markdown, fastest first; the last column compares with deltafold on the same wire."""
    rows = sorted(figures["rows"], key=lambda row: row["microseconds"])
    ours = {row["wire"]: row["microseconds"] for row in rows if row["label"] in OURS}
    lines = [
        f"{figures['machine']}; medians of {figures['rounds']} interleaved rounds.",
        "",
        "| library | version | stream | µs a chunk | times deltafold |",
        "|---|---|---|---:|---:|",
    ]
    for row in rows:
        times = f"{row['microseconds'] / ours[row['wire']]:,.1f}" if row["wire"] in ours else "-"
        wrong = "" if row["right"] else " (wrong arguments)"
        cells = (row["label"] + wrong, row["version"], row["wire"], f"{row['microseconds']:.3f}", times)
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\nLeft out: {name} ({reason})" for name, reason in figures["left_out"].items()]
    return lines


if __name__ == "__main__":
    sys.exit(main())
