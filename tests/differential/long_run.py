"""The long run: `python -m tests.differential --streams 1000000 --seed 1 --processes 2`.

Every case that the engines disagree about is made small and written to the folder of `--out`, as `N.sse` (the
bytes) and `N.txt` (options, cut seed, what each engine says). The exit status is 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from pathlib import Path

from tests.differential.compare import compare, engines, minimise
from tests.differential.generate import case_of
from tests.support import WIRES

PROGRESS_SECONDS = 10


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument(
        "--streams", type=int, default=10_000, help="how many streams in all (default 10,000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed that the streams depend on (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first stream (default 0)")
    parser.add_argument(
        "--processes", type=int, default=1, help="how many processes share the work (default 1)"
    )
    parser.add_argument(
        "--wires", nargs="+", default=WIRES, choices=WIRES, help="only streams of these wires"
    )
    parser.add_argument(
        "--failures", type=int, default=20, help="stop after so many disagreements (default 20)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("differential-failures"), help="folder of the reports"
    )
    return parser.parse_args()


def check_range(
    options: argparse.Namespace, numbers: range, done: multiprocessing.Value, failed: multiprocessing.Value
) -> None:
    """Checks the cases of these numbers; the counters are shared by the processes."""
    which = engines()
    for number in numbers:
        if failed.value >= options.failures:
            return
        cut_seed = f"{options.seed}:{number}:cut"
        case = case_of(options.seed, number)
        if case.wire in WIRES and case.wire not in options.wires:
            continue
        found = compare(case, cut_seed, which)
        if found:
            with failed.get_lock():
                failed.value += 1
            small = minimise(case, cut_seed, which)
            report(
                options.out,
                number,
                small.body,
                {"case": small.document(), "cut_seed": cut_seed},
                compare(small, cut_seed, which) or found,
            )
        with done.get_lock():
            done.value += 1


def report(folder: Path, number: int, body: bytes, document: dict[str, object], found: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.sse").write_bytes(body)
    (folder / f"{number}.txt").write_text(f"{json.dumps(document)}\n{body!r}\n{found}\n", "utf-8")
    say(f"\ncase {number}: {json.dumps(document)}\n  {body!r}\n{found}")


def say(*words: object) -> None:
    """Prints at once, also where the output is a file that somebody follows."""
    print(*words, flush=True)  # noqa: T201 (a command)


def main() -> int:
    options = arguments()
    say("engines:", ", ".join(engine.name for engine in engines()))
    context = multiprocessing.get_context("spawn")
    done, failed = context.Value("Q", 0), context.Value("Q", 0)
    last = options.first + options.streams
    ranges = [range(options.first + at, last, options.processes) for at in range(options.processes)]
    started = time.monotonic()
    workers = [
        context.Process(target=check_range, args=(options, numbers, done, failed)) for numbers in ranges
    ]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        for worker in workers:
            worker.join(PROGRESS_SECONDS / len(workers))
        rate = done.value / (time.monotonic() - started)
        say(
            f"{done.value} of {options.streams} streams, {rate:.0f} a second, {failed.value} disagreements",
        )
    crashed = [worker.exitcode for worker in workers if worker.exitcode != 0]
    if crashed:
        say(f"processes ended with {crashed}")
    return 1 if failed.value or crashed else 0
