"""`python -m benches.callgrind`: count the instructions of fixed inputs, and compare with the kept counts.

The example `fold` of the core crate (rust/core/examples/fold.rs) folds files in feeds of a given size, a
given number of times. Each input runs once and three times; half of the difference is one fold, free of the
start of the process. Exit code 1 where a count grew by more than 3 %, or an input is new or gone; `--write`
keeps what is counted. Counts of another compiler than the kept ones' are shown and decide nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from benches.callgrind import counts
from benches.callgrind.counts import Verdict
from benches.corpus import ROOT
from benches.shapes import FEED_SIZES, FRAME_FEEDS, SHAPES, shape

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "target" / "callgrind"
FOLD = ROOT / "target" / "release" / "examples" / ("fold.exe" if os.name == "nt" else "fold")
REPEATS = (1, 3)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.callgrind", description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the counts")
    options = parser.parse_args()
    build = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "deltafold-core",
        "--example",
        "fold",
    ]
    subprocess.run(build, cwd=ROOT, check=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    compiler = subprocess.run(
        ["rustc", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    counted = {
        f"{name}, {'frames' if size == FRAME_FEEDS else f'{size} bytes'}": one_fold(name, size)
        for name in SHAPES
        for size in FEED_SIZES
    }
    if options.write:
        counts.keep(compiler, counted)
    return compare(compiler, counted)


def compare(compiler: str, counted: dict[str, int]) -> int:
    """Print every count beside the kept one; the exit code."""
    kept_compiler, known = counts.kept()
    fallen = sorted(known.keys() - counted.keys())
    for name, count in counted.items():
        verdict = counts.verdict(name, count, known)
        before = known.get(name)
        change = "" if before is None else f"{100 * (count / before - 1):+.2f} %"
        print(f"{name:34} {count:14,} {change:>10}  {verdict.value}")
        if verdict in {Verdict.GREW, Verdict.NEW}:
            fallen.append(name)
    if compiler != kept_compiler:
        print(f"kept counts are of {kept_compiler}, these are of {compiler}: shown, not judged")
        return 0
    if fallen:
        print(f"not as kept: {', '.join(fallen)} (on purpose? python -m benches.callgrind --write)")
    return 1 if fallen else 0


def one_fold(name: str, size: int) -> int:
    """Instructions of one fold of all streams of a shape."""
    files = written(name)
    few, many = (instructions(files, size, repeats) for repeats in REPEATS)
    return (many - few) // (REPEATS[1] - REPEATS[0])


def written(name: str) -> list[Path]:
    """The streams of a shape as files."""
    paths = []
    for number, stream in enumerate(shape(name).streams):
        path = FOLDER / f"{name}-{number}.sse"
        path.write_bytes(b"".join(stream))
        paths.append(path)
    return paths


def instructions(files: list[Path], size: int, repeats: int) -> int:
    """Instructions of the whole process that folds these files `repeats` times."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", FOLD]
    words = [str(word) for word in (*command, "--feed", size, "--repeat", repeats, *files)]
    # A fixed environment: its size would move the stack, and with it the count a little.
    done = subprocess.run(words, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind gave no count: {done.stderr}")
    return int(found.group(1))


if __name__ == "__main__":
    sys.exit(main())
