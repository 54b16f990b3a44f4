"""The short run of CI: a fixed seed and a random one, both engines and the native one without fast path."""

from __future__ import annotations

import pytest

from tests.differential.compare import Engine, compare, engines, minimise
from tests.differential.generate import case_of
from tests.support import FIXED_SEED, RANDOM_SEED, engine_of

FIXED_STREAMS = 1500
RANDOM_STREAMS = 1000


@pytest.fixture(scope="module")
def which() -> list[Engine]:
    engine_of("native")
    return engines()


def check(seed: int, numbers: range, which: list[Engine]) -> None:
    for number in numbers:
        cut_seed = f"{seed}:{number}:cut"
        case = case_of(seed, number)
        found = compare(case, cut_seed, which)
        if found:
            small = minimise(case, cut_seed, which)
            again = f"python -m tests.differential --seed {seed} --first {number} --streams 1"
            pytest.fail(f"{again}\n{small.document()}\n{small.body!r}\n{compare(small, cut_seed, which)}")


@pytest.mark.parametrize("part", range(5))
def test_fixed_seed(which: list[Engine], part: int) -> None:
    check(FIXED_SEED, range(part, FIXED_STREAMS, 5), which)


@pytest.mark.parametrize("part", range(5))
def test_random_seed(which: list[Engine], part: int) -> None:
    check(RANDOM_SEED, range(part, RANDOM_STREAMS, 5), which)


def test_reference_at_two_cuts() -> None:
    """Without a native module there is still S7 to hold."""
    alone = [Engine("reference", engine_of("reference"), {})]
    check(FIXED_SEED, range(300), alone)
