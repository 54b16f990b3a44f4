"""Streams of one gateway, live at once on one thread and fed in turn, as gateways and rollouts have them.

What the native engine learns from one stream it expects of the others; ids that differ between them, or
change in the middle of one, must never come to the wrong stream. Each stream is compared with itself folded
alone without fast path.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from benches.shapes import short_streams
from tests.cases import vectors
from tests.support import FIXED_SEED, RANDOM_SEED, engine_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 120
ID = re.compile(rb'"id": ?"([^"]{4,60})"')
LONGEST_BODY = 20_000

Outcome = tuple[list[Any], Any, str | None]


def bodies_of(rng: random.Random) -> list[bytes]:
    """Two to eight bodies, few of them of different kinds."""
    known = [vector.body for vector in vectors().values() if len(vector.body) < LONGEST_BODY]
    shapes = [b"".join(frames) for frames in short_streams().streams]
    kinds = [rng.choice(shapes if rng.random() < 0.5 else known) for _ in range(rng.randint(1, 3))]
    return [with_other_id(rng.choice(kinds), rng) for _ in range(rng.randint(2, 8))]


def with_other_id(body: bytes, rng: random.Random) -> bytes:
    """The body with another id, of the same length or not, from its start or from somewhere on, if at all."""
    found = ID.search(body)
    if found is None or rng.random() < 0.2:
        return body
    length = len(found[1]) if rng.random() < 0.7 else rng.randint(1, 40)
    other = bytes(rng.choice(b"abcdef0123456789") for _ in range(length))
    start = 0 if rng.random() < 0.6 else rng.randrange(len(body))
    return body[:start] + body[start:].replace(found[1], other)


def feeds_of(body: bytes, rng: random.Random) -> Iterator[bytes]:
    least, most = rng.choice([(1, 90), (1, 700), (500, 9000)])
    start = 0
    while start < len(body):
        size = rng.randint(least, most)
        yield body[start : start + size]
        start += size


def alone(engine: Any, body: bytes) -> Outcome:
    assembler = engine.Assembler(coalesce=False, _fast=False)
    events: list[Any] = []
    try:
        events += assembler.feed(body)
        events += assembler.finish()
        return events, assembler.close(), None
    except engine.DeltafoldError as error:
        return events, error.partial, str(error)


def in_turn(engine: Any, bodies: list[bytes], rng: random.Random) -> list[Outcome]:
    """All bodies folded at once, a few feeds of one after a few of another."""
    assemblers = [engine.Assembler(coalesce=False) for _ in bodies]
    feeds = [feeds_of(body, rng) for body in bodies]
    events: list[list[Any]] = [[] for _ in bodies]
    outcomes: dict[int, Outcome] = {}
    while len(outcomes) < len(bodies):
        stream = rng.choice([number for number in range(len(bodies)) if number not in outcomes])
        assembler = assemblers[stream]
        try:
            for _ in range(rng.randint(1, 6)):
                data = next(feeds[stream], None)
                if data is None:
                    events[stream] += assembler.finish()
                    outcomes[stream] = events[stream], assembler.close(), None
                    break
                events[stream] += assembler.feed(data)
        except engine.DeltafoldError as error:
            outcomes[stream] = events[stream], error.partial, str(error)
    return [outcomes[number] for number in range(len(bodies))]


@pytest.mark.parametrize("seed", [FIXED_SEED, RANDOM_SEED])
def test_streams_in_turn(seed: int) -> None:
    engine = engine_of("native")
    for number in range(ROUNDS):
        rng = random.Random(f"{seed}:{number}:turn")
        bodies = bodies_of(rng)
        for body, outcome in zip(bodies, in_turn(engine, bodies, rng), strict=True):
            expected = alone(engine, body)
            assert outcome == expected, f"round {number} of seed {seed}: {body!r}"
