"""Timing: interleaved rounds, medians, ratios within a round.

The contenders of a row run in turn, round after round, so what the machine does meanwhile meets them all.
Each runs as often in a round as fills about MINIMUM_SECONDS, so that none is measured by the clock's grain.
A ratio is the median of the ratios of the rounds, which stays true where the machine changes its speed.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

MINIMUM_SECONDS = 0.01

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one pass of each contender, in each round."""

    rounds: dict[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        """Median seconds of one pass."""
        return statistics.median(self.rounds[name])

    def ratio(self, slower: str, faster: str) -> float:
        """How many times as long `slower` takes as `faster`: the median over the rounds."""
        pairs = zip(self.rounds[slower], self.rounds[faster], strict=True)
        return statistics.median(above / below for above, below in pairs)

    def fastest(self, names: list[str]) -> str:
        """That of `names` with the lowest median."""
        return min(names, key=self.median)


def measure(contenders: dict[str, Work], rounds: int) -> Timing:
    """Run every contender once in each of `rounds` rounds, after one round that is not counted."""
    passes = {name: calibrate(work) for name, work in contenders.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            seconds[name].append(once(work, passes[name]))
    return Timing({name: tuple(values) for name, values in seconds.items()})


def calibrate(work: Work) -> int:
    """How many passes of `work` fill MINIMUM_SECONDS."""
    warm = once(work, 1)
    if warm >= MINIMUM_SECONDS:
        return 1
    return max(1, round(MINIMUM_SECONDS / max(once(work, 1), 1e-9)))


def once(work: Work, passes: int) -> float:
    """Seconds of one pass, averaged over `passes`, the garbage collector held still."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(passes):
            work()
        return (time.perf_counter() - start) / passes
    finally:
        gc.enable()
