"""pytest-benchmark cases, for work on one shape: `python -m pytest benches -k long-call`."""

from __future__ import annotations

import functools

import pytest

import deltafold
from benches import loops
from benches.engines import engine, events_of, fold_of
from benches.rows import fold_each, take_each
from benches.shapes import FEED_SIZES, SHAPES, shape

ENGINES = [name for name in ("native", "reference") if name in {deltafold.IMPLEMENTATION, "reference"}]

FOLDS = {
    **{name: fold_of(engine(name)) for name in ENGINES},
    "orjson": functools.partial(fold_each, loops.orjson_fold),
    "msgspec": functools.partial(fold_each, loops.msgspec_fold),
}
EVENTS = {
    **{name: events_of(engine(name)) for name in ENGINES},
    "orjson": functools.partial(take_each, loops.orjson_events),
    "msgspec": functools.partial(take_each, loops.msgspec_events),
}


@pytest.mark.parametrize("size", FEED_SIZES)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("contender", FOLDS)
def test_fold(benchmark, contender, name, size) -> None:
    benchmark.group = f"fold {name} {size}"
    benchmark(FOLDS[contender], shape(name).feeds(size))


@pytest.mark.parametrize("size", FEED_SIZES)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("contender", EVENTS)
def test_events(benchmark, contender, name, size) -> None:
    benchmark.group = f"events {name} {size}"
    benchmark(EVENTS[contender], shape(name).feeds(size))
