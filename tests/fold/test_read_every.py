"""`read_every` of `astream` over iterables of bytes: the same events, pulled seldom (deltafold._pace)."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from deltafold import _pace
from tests.cases import vectors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BODY = vectors()["openai-chat/shared-index"].body
FRAMES = [frame + b"\n\n" for frame in BODY.split(b"\n\n") if frame]


async def chunks() -> AsyncIterator[bytes]:
    for frame in FRAMES:
        await asyncio.sleep(0)
        yield frame


@pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, math.inf])
def test_a_value_that_is_no_number_of_seconds(engine: Any, seconds: float) -> None:
    with pytest.raises(ValueError, match=r"read_every is .*: it takes a number of seconds"):
        engine.astream(chunks(), read_every=seconds)


@pytest.mark.parametrize("seconds", [0, 0.0, 1e-9, 0.001, 0.02])
def test_the_events_are_the_same(engine: Any, seconds: float) -> None:
    kept: list[bytes] = []

    async def consume() -> tuple[list[Any], Any]:
        stream = engine.astream(chunks(), tee=kept.append, read_every=seconds)
        return [event async for event in stream], stream.completion

    events, completion = asyncio.run(consume())
    assert events == list(engine.stream(FRAMES))
    assert completion == engine.assemble(BODY)
    assert b"".join(kept) == BODY


def test_an_error_of_the_source_is_its_own(engine: Any) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield FRAMES[0]
        raise ConnectionResetError

    async def consume() -> None:
        async for _event in engine.astream(failing(), read_every=0.001):
            pass

    with pytest.raises(ConnectionResetError):
        asyncio.run(consume())


def test_without_it_nothing_is_paced(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_pace, "spaced")

    async def consume() -> Any:
        stream = engine.astream(chunks())
        async for _event in stream:
            pass
        return stream.completion

    assert asyncio.run(consume()) == engine.assemble(BODY)


@dataclass
class Clock:
    """A clock that only the source and the pauses move."""

    now: float = 100.0
    pauses: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)

    def take(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_pace, "time", SimpleNamespace(monotonic=self.monotonic))
        monkeypatch.setattr(_pace, "asyncio", SimpleNamespace(sleep=self.sleep))


def test_a_pause_comes_when_nothing_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk a pull, one every 20 ms: those of a pause are pulled without another."""
    clock = Clock()
    clock.take(monkeypatch)
    arrivals = [clock.now + 0.02 * number for number in range(1, 101)]
    lateness: list[float] = []

    async def pull() -> bytes:
        due = arrivals.pop(0)
        clock.now = max(clock.now, due)
        lateness.append(clock.now - due)
        return b"x"

    async def consume() -> None:
        read = _pace.spaced(pull, 0.08)
        while arrivals:
            await read()

    asyncio.run(consume())
    assert len(clock.pauses) == 20  # of 80 ms, each ended by the wait for the next chunk
    assert max(lateness) <= 0.08


def test_a_slow_reader_is_not_slowed_further(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    clock.take(monkeypatch)

    async def pull() -> bytes:
        clock.now += 0.02
        return b"x"

    async def consume() -> None:
        read = _pace.spaced(pull, 0.08)
        for busy in (0.08, 0.05, 0.1):
            await read()
            clock.now += busy
        await read()

    asyncio.run(consume())
    assert clock.pauses == [pytest.approx(0.03)]


@dataclass
class Connection:
    """One that counts."""

    transport: object = "open"
    paused: int = 0
    resumed: int = 0

    def pause_reading(self) -> None:
        self.paused += 1

    def resume_reading(self) -> None:
        self.resumed += 1


def test_a_timer_lets_go_what_is_held() -> None:
    """What is held for the same time shares it; a connection that has gone is left out."""

    async def run() -> list[Connection]:
        timers: list[float] = []
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def counted(when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
            timers.append(when)
            return call_at(when, *arguments, **options)

        connections = [Connection() for _ in range(100)]
        loop.call_at = counted  # type: ignore[method-assign]
        for connection in connections:
            _pace.holds_of_this_loop(0.05).hold(connection)
        loop.call_at = call_at  # type: ignore[method-assign]
        assert len(timers) < len(connections) / 2
        assert not any(connection.resumed for connection in connections)
        connections[0].transport = None
        await asyncio.sleep(0.06)  # its timer is behind theirs, however late both are
        return connections

    gone, *others = asyncio.run(run())
    assert (gone.paused, gone.resumed) == (1, 0)
    assert {(connection.paused, connection.resumed) for connection in others} == {(1, 1)}


def test_each_loop_and_time_has_its_holds() -> None:
    async def run() -> Any:
        holds = _pace.holds_of_this_loop(0.05)
        assert _pace.holds_of_this_loop(0.05) is holds
        assert _pace.holds_of_this_loop(0.08) is not holds
        return holds

    kept = [asyncio.run(run()) for _ in range(10)]
    assert len({id(holds) for holds in kept}) == 10
