"""The shapes are the same bytes everywhere, and fold to what they say."""

from __future__ import annotations

import hashlib

import pytest

import deltafold
from benches import loops
from benches.corpus import SHARED, captured_feeds
from benches.shapes import FEED_SIZES, FRAME_FEEDS, SHAPES, shape

DIGESTS = {
    "long-call": "43d0305291e7b13e25703af889778545fcf9b4ac95e4a7e75e7af1fffc185e88",
    "long-call-padded": "855af5bfd96c31dfa1fbb8e54978e7dac8d816968d556d6214d93656543fcd4c",
    "interleaved-calls": "0be1a2b06178247245c5d2e554c95609f5291f109231bcedd431f56ebb430852",
    "text-and-reasoning": "f0d5aa5b8802f0205d0cdd2e4fb300194548b0867b3ac415acc3f1f4d03f087c",
    "short-streams": "4968ee584558f2e04e2c18e00501a3da5ac954275aff45b72d5247d6775a4a3f",
}
ENGINES = {"native": deltafold, "reference": deltafold.reference}
FOLDS = {"orjson": loops.orjson_fold, "msgspec": loops.msgspec_fold}
EVENTS = {"orjson": loops.orjson_events, "msgspec": loops.msgspec_events}


@pytest.mark.parametrize("name", SHAPES)
def test_bytes_never_change(name) -> None:
    body = b"".join(frame for stream in shape(name).streams for frame in stream)
    assert hashlib.sha256(body).hexdigest() == DIGESTS[name]


@pytest.mark.parametrize("size", FEED_SIZES)
@pytest.mark.parametrize("name", SHAPES)
def test_feeds_are_the_whole_stream(name, size) -> None:
    built = shape(name)
    for stream, feeds in zip(built.streams, built.feeds(size), strict=True):
        assert b"".join(feeds) == b"".join(stream)
        assert size == FRAME_FEEDS or all(len(data) <= size for data in feeds)


@pytest.mark.parametrize("size", FEED_SIZES)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_fold_shapes(engine, name, size) -> None:
    built = shape(name)
    for number, feeds in enumerate(built.feeds(size)):
        completion = ENGINES[engine].assemble(feeds)
        assert tuple(call.arguments for call in completion.tool_calls) == built.arguments[number]
        assert completion.content == built.content[number]
        assert completion.reasoning == built.reasoning[number]
        assert all(call.executable for call in completion.tool_calls)
        assert completion.quirks == ()


@pytest.mark.parametrize("size", FEED_SIZES)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("loop", FOLDS)
def test_loops_fold_shapes(loop, name, size) -> None:
    built = shape(name)
    for number, feeds in enumerate(built.feeds(size)):
        answer = FOLDS[loop](feeds)
        assert tuple(arguments for _, _, arguments in answer.calls) == built.arguments[number]
        assert answer.content == (built.content[number] or "")
        assert answer.reasoning == (built.reasoning[number] or "")
        assert answer.usage["total_tokens"] == 3328


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("loop", EVENTS)
def test_loops_yield_one_event_a_delta(loop, name) -> None:
    built = shape(name)
    for number, feeds in enumerate(built.feeds(16 * 1024)):
        events = list(EVENTS[loop](feeds))
        assert sum(type(event).__name__ == "ToolCallStart" for event in events) == len(
            built.arguments[number]
        )
        fragments = "".join(event.arguments for event in events if type(event).__name__ == "ToolCallDelta")
        assert sorted(fragments) == sorted("".join(built.arguments[number]))


def test_loops_fold_the_recordings() -> None:
    streams = captured_feeds()
    if not streams:
        pytest.skip(f"no recorded streams: {SHARED} is not there")
    for feeds in streams:
        first, second = loops.orjson_fold(feeds), loops.msgspec_fold(feeds)
        assert (first.content, first.calls) == (second.content, second.calls)
