"""The shapes are the same bytes everywhere, and fold to what they say."""

from __future__ import annotations

import hashlib

import pytest

import deltafold
from benches import loops
from benches.corpus import SHARED, captured_feeds
from benches.shapes import FEED_SIZES, FRAME_FEEDS, SHAPES, shape

DIGESTS = {
    "long-call": "789a61cf686af54fb004f018c4ecd74629be2ec76265f1661c7c5af78c5cec64",
    "long-call-padded": "fe6ba4f33ae0c87af1c98868c744ac5c44735fc10434430cec7615a4ccf58d49",
    "interleaved-calls": "90691dd7a1d644aa242a856650eea75b3e59932032d2754c0273252bda8d3fc7",
    "text-and-reasoning": "320f567b733c7cc939f04014ae935662ea297964d81e7432adef2cf539b4dac1",
    "short-streams": "8837b773ff433de7df04ffc40e8574f9c9b8f7ab4844cc2ee4c25bc201d77a9f",
    "many-members": "6b219d5a7fc9804b2400497d3871329e7d0297483b1f729cb0212e5ba02d927d",
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
