"""`python -m benches`: the benchmark table.

The default is the full run (15 rounds). `--quick` is what CI runs: fewer rounds, and exit code 1 where a
row falls below its floor (benches/rows.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import deltafold
from benches import report
from benches.machine import description
from benches.rows import OURS, ROWS, NotHere, Result

FULL_ROUNDS = 15
QUICK_ROUNDS = 9


def main() -> int:
    options = parse_options()
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else FULL_ROUNDS)
    print(description(), file=sys.stderr)
    results: list[Result] = []
    absent: list[str] = []
    for row in ROWS:
        if options.only and options.only not in row.name:
            continue
        try:
            results.append(row.run(options.engine, rounds))
        except NotHere as reason:
            absent.append(f"{row.name}: {reason}")
            continue
        print(line_of(results[-1]), file=sys.stderr, flush=True)
    print(as_json(results, rounds) if options.json else as_markdown(results, rounds))
    if options.write:
        for page in (report.PAGE, report.README):
            report.write_block("table", as_markdown(results, rounds).splitlines(), page)
    for reason in absent:
        print(f"left out: {reason}", file=sys.stderr)
    return judge(results) if options.quick else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches", description="Measure the fold.")
    parser.add_argument("--quick", action="store_true", help="assert the floors, as CI does")
    parser.add_argument("--engine", default=deltafold.IMPLEMENTATION, choices=("native", "reference"))
    parser.add_argument("--rounds", type=int, help="interleaved rounds (at least nine for a table to show)")
    parser.add_argument("--only", help="rows whose name holds this text")
    parser.add_argument(
        "--write", action="store_true", help="put the table into README and docs/benchmarks.md"
    )
    parser.add_argument("--json", action="store_true", help="all rounds, for programs")
    return parser.parse_args()


def judge(results: list[Result]) -> int:
    """1 where a floor does not hold, said on stderr; a run without a row is a failure too."""
    if not results:
        print("no row could run", file=sys.stderr)
        return 1
    fallen = [result for result in results if not result.stands]
    for result in fallen:
        bound = "at most" if result.row.at_most else "at least"
        print(
            f"FLOOR: {result.row.name}: {result.ratio:.2f}, asserted {bound} {result.row.floor}",
            file=sys.stderr,
        )
    return 1 if fallen else 0


def line_of(result: Result) -> str:
    ours, theirs = result.microseconds(OURS), result.microseconds(result.against)
    return f"{result.row.name:42} {ours:9.3f} us   {result.against} {theirs:9.3f} us   x {result.ratio:.2f}"


def as_markdown(results: list[Result], rounds: int) -> str:
    """The table that docs/benchmarks.md shows; times are medians in microseconds a chunk."""
    lines = [
        f"{description()}; medians of {rounds} interleaved rounds.",
        "",
        "| work | deltafold, µs a chunk | best other, µs a chunk | ratio | target |",
        "|---|---:|---:|---:|---:|",
    ]
    for result in results:
        bound = "at most" if result.row.at_most else "at least"
        lines.append(
            f"| {result.row.name} | {result.microseconds(OURS):.3f} "
            f"| {result.microseconds(result.against):.3f} ({result.against}) "
            f"| {result.ratio:.2f} | {bound} {result.row.target:g} |"
        )
    return "\n".join(lines)


def as_json(results: list[Result], rounds: int) -> str:
    rows = [
        {
            "name": result.row.name,
            "chunks": result.chunks,
            "against": result.against,
            "ratio": result.ratio,
            "target": result.row.target,
            "floor": result.row.floor,
            "at_most": result.row.at_most,
            "reaches": result.reaches,
            "seconds": result.timing.rounds,
        }
        for result in results
    ]
    return json.dumps({"machine": description(), "rounds": rounds, "rows": rows}, indent=1)


if __name__ == "__main__":
    if not Path("benches").is_dir():
        print("run it from the root of the project", file=sys.stderr)
    sys.exit(main())
