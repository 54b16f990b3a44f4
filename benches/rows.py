"""The rows of the benchmark table: what is folded, against what, and the ratio that is asked for.

`target` is what the project aims at; `floor` is what CI asserts (None: shown, not asserted). This is the one
place where either is written. A row that cannot run (no shared folder, no openai) is left out, with its
reason.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches import loops
from benches.corpus import captured_feeds
from benches.engines import Feeds, engine, events_of, fold_of
from benches.rounds import Timing, Work, measure
from benches.shapes import FRAME_FEEDS, shape

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "deltafold"
PACKETS = 16 * 1024
FRAGMENTED = 64
BODIES_IN_PARALLEL = 96


class NotHere(Exception):  # noqa: N818 (a reason to leave a row out, no fault)
    """Why a row cannot run on this machine."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Contenders of a row, ours among them, and the number of chunks that one pass folds."""

    contenders: dict[str, Work]
    chunks: int


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. The ratio is theirs over ours, or ours over theirs where `at_most`."""

    name: str
    prepare: Callable[[str], Contest]
    target: float
    floor: float | None
    at_most: bool = False

    def run(self, engine_name: str, rounds: int) -> Result:
        """Measure it; NotHere where that is impossible."""
        contest = self.prepare(engine_name)
        return Result(self, contest.chunks, measure(contest.contenders, rounds))


@dataclass(frozen=True, slots=True)
class Result:
    """What a row measured."""

    row: Row
    chunks: int
    timing: Timing

    @property
    def against(self) -> str:
        """The fastest of the others."""
        return self.timing.fastest([name for name in self.timing.rounds if name != OURS])

    @property
    def ratio(self) -> float:
        if self.row.at_most:
            return self.timing.ratio(OURS, self.against)
        return self.timing.ratio(self.against, OURS)

    def microseconds(self, name: str) -> float:
        """Median microseconds a chunk."""
        return self.timing.median(name) * 1e6 / self.chunks

    @property
    def reaches(self) -> bool:
        """Whether the target is reached."""
        return self.ratio <= self.row.target if self.row.at_most else self.ratio >= self.row.target

    @property
    def stands(self) -> bool:
        """Whether the floor holds."""
        if self.row.floor is None:
            return True
        return self.ratio <= self.row.floor if self.row.at_most else self.ratio >= self.row.floor


def fold_each(fold: Callable[[Feeds], object], streams: list[Feeds]) -> None:
    for feeds in streams:
        fold(feeds)


def take_each(events: Callable[[Feeds], object], streams: list[Feeds]) -> None:
    for feeds in streams:
        for _event in events(feeds):  # type: ignore[attr-defined]
            pass


def folded(streams: list[Feeds], chunks: int, engine_name: str) -> Contest:
    """Bytes to Completion."""
    ours = fold_of(engine(engine_name))
    return Contest(
        {
            OURS: functools.partial(ours, streams),
            "orjson loop": functools.partial(fold_each, loops.orjson_fold, streams),
            "msgspec loop": functools.partial(fold_each, loops.msgspec_fold, streams),
        },
        chunks,
    )


def with_events(streams: list[Feeds], chunks: int, engine_name: str) -> Contest:
    """Bytes to one event object for each delta."""
    ours = events_of(engine(engine_name))
    return Contest(
        {
            OURS: functools.partial(ours, streams),
            "orjson loop": functools.partial(take_each, loops.orjson_events, streams),
            "msgspec loop": functools.partial(take_each, loops.msgspec_events, streams),
        },
        chunks,
    )


def shape_folded(name: str, size: int, engine_name: str) -> Contest:
    return folded(shape(name).feeds(size), shape(name).frames, engine_name)


def shape_with_events(name: str, size: int, engine_name: str) -> Contest:
    return with_events(shape(name).feeds(size), shape(name).frames, engine_name)


def captures() -> tuple[list[Feeds], int]:
    """The recorded streams and the number of their data lines."""
    streams = captured_feeds()
    if not streams:
        raise NotHere("the shared folder with the recorded streams is not there")
    return streams, sum(b"".join(feeds).count(b"data:") for feeds in streams)


def captures_folded(engine_name: str) -> Contest:
    return folded(*captures(), engine_name)


def captures_with_events(engine_name: str) -> Contest:
    return with_events(*captures(), engine_name)


def against_openai(engine_name: str) -> Contest:
    try:
        theirs = importlib.import_module("benches.openai_helper").fold
    except ImportError:
        raise NotHere("openai is not installed") from None
    streams = shape("long-call").feeds(PACKETS)
    ours = fold_of(engine(engine_name))
    contenders: dict[str, Work] = {
        OURS: functools.partial(ours, streams),
        "openai-python": functools.partial(theirs, streams),
    }
    return Contest(contenders, shape("long-call").frames)


def scan_line_feeds(streams: list[Feeds]) -> None:
    """Find every LF of the bytes, in C: replacing one byte by another runs memchr from each to the next."""
    for feeds in streams:
        for data in feeds:
            data.replace(b"\n", b"\r")


def against_scan(engine_name: str) -> Contest:
    streams = shape("long-call").feeds(PACKETS)
    ours = fold_of(engine(engine_name))
    contenders: dict[str, Work] = {
        OURS: functools.partial(ours, streams),
        "scan for LF": functools.partial(scan_line_feeds, streams),
    }
    return Contest(contenders, shape("long-call").frames)


def two_threads(engine_name: str) -> Contest:
    assemble_many = engine(engine_name).assemble_many
    bodies = [b"".join(shape("long-call").streams[0])] * BODIES_IN_PARALLEL
    contenders: dict[str, Work] = {
        OURS: functools.partial(assemble_many, bodies, threads=2),
        "one thread": functools.partial(assemble_many, bodies, threads=1),
    }
    return Contest(contenders, shape("long-call").frames * BODIES_IN_PARALLEL)


ROWS = (
    Row("long call, 16 KiB feeds", functools.partial(shape_folded, "long-call", PACKETS), 30, 5),
    Row(
        "8 interleaved calls, 16 KiB feeds",
        functools.partial(shape_folded, "interleaved-calls", PACKETS),
        20,
        4,
    ),
    Row(
        "text and reasoning, 16 KiB feeds",
        functools.partial(shape_folded, "text-and-reasoning", PACKETS),
        30,
        4,
    ),
    Row("200 short streams, 16 KiB feeds", functools.partial(shape_folded, "short-streams", PACKETS), 12, 2),
    Row("recorded streams, network cuts", captures_folded, 12, 1.2),
    Row("recorded streams, one event a delta", captures_with_events, 6, 1.1),
    Row(
        "long call, one frame a feed, events",
        functools.partial(shape_with_events, "long-call", FRAME_FEEDS),
        8,
        2,
    ),
    Row("long call, 64-byte feeds", functools.partial(shape_folded, "long-call", FRAGMENTED), 15, 1.5),
    Row("long call, openai-python's stream helper", against_openai, 3000, None),
    Row("long call, times a scan for LF", against_scan, 4, None, at_most=True),
    Row("assemble_many, two threads", two_threads, 1.9, None),
)
