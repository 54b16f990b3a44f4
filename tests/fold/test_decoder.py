"""The public decoder is the WHATWG text and nothing else: `sse.json` and `sse_huge.json`, at every cut."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import FIXED_SEED, RANDOM_SEED, VECTORS, cuts, even_sizes, pieces, random_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CASES = {case["name"]: case for case in json.loads((VECTORS / "sse.json").read_bytes())["cases"]}
HUGE = {case["name"]: case for case in json.loads((VECTORS / "sse_huge.json").read_bytes())}


def decode(engine: Any, chunks: Iterable[bytes]) -> tuple[list[Any], Any]:
    decoder = engine.SSEDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    assert decoder.close() == []
    return events, decoder


def as_given(event: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """The members of the case; an event without a `retry` line has None there."""
    found = {"event": event.event, "data": event.data, "id": event.id}
    if "retry" in wanted:
        return {**found, "retry": event.retry}
    assert event.retry is None
    return found


@pytest.mark.parametrize("name", CASES)
def test_case(engine: Any, name: str) -> None:
    case = CASES[name]
    body = base64.b64decode(case["input_b64"])
    for cut, chunks in cuts(body, name):
        events, decoder = decode(engine, chunks)
        assert len(events) == len(case["events"]), cut
        found = [as_given(event, wanted) for event, wanted in zip(events, case["events"], strict=True)]
        assert found == case["events"], cut
        assert decoder.last_event_id == case["final_last_event_id"], cut
        assert decoder.retry == case["final_retry"], cut


def huge_body(case: dict[str, Any]) -> bytes:
    prefix, unit, suffix = (base64.b64decode(case[name]) for name in ("prefix_b64", "unit_b64", "suffix_b64"))
    return prefix + unit * case["count"] + suffix


def lines_of(events: list[Any]) -> Iterator[bytes]:
    for event in events:
        yield json.dumps([event.event, event.data, event.id], separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("name", HUGE)
def test_huge_case(engine: Any, name: str) -> None:
    case = HUGE[name]
    body = huge_body(case)
    assert len(body) == case["bytes"]
    for size in (len(body), 1000):
        events, _ = decode(engine, pieces(body, even_sizes(size)))
        assert len(events) == case["events"]
        assert sum(len(event.data) for event in events) == case["data_chars"]
        assert hashlib.sha256(b"".join(lines_of(events))).hexdigest() == case["sha256_of_event_lines"]


def test_comments_are_counted(engine: Any) -> None:
    body = b": a\n:\ndata: x\n:b\r\n: cut"
    for size in (1, 2, 100):
        events, decoder = decode(engine, pieces(body, even_sizes(size)))
        assert events == []
        assert decoder.comments == 3
        assert bytes(decoder.tail).startswith(b"data: x\n")


def test_tail_is_what_was_not_dispatched(engine: Any) -> None:
    decoder = engine.SSEDecoder()
    assert [event.data for event in decoder.feed(b"data: a\n\ndata: b\nda")] == ["a"]
    assert bytes(decoder.tail) == b"data: b\nda"
    assert [event.data for event in decoder.feed(b"ta: c\n\n")] == ["b\nc"]
    assert bytes(decoder.tail) == b""
    assert decoder.close() == []


def test_event_is_a_value(engine: Any) -> None:
    (event,) = engine.SSEDecoder().feed(b"event: e\nid: 1\nretry: 5\ndata: x\n\n")
    assert (event.event, event.data, event.id, event.retry) == ("e", "x", "1", 5)
    (again,) = engine.SSEDecoder().feed(b"event: e\r\nid: 1\r\nretry: 5\r\ndata: x\r\n\r\n")
    assert event == again
    with pytest.raises((AttributeError, TypeError)):
        event.data = "y"


def test_decoder_state(engine: Any) -> None:
    decoder = engine.SSEDecoder()
    assert (decoder.last_event_id, decoder.retry, decoder.comments, bytes(decoder.tail)) == ("", None, 0, b"")


LINES = (
    *(
        b"data: x",
        b"data:",
        b"data",
        b"data:  y",
        b"event: e",
        b"event",
        b"id: 1",
        b"id",
        b"id: \0",
        b"retry: 7",
    ),
    *(
        b"retry: -7",
        b": c",
        b":",
        b"",
        b"",
        b"",
        b"\xef\xbb\xbfdata: z",
        b"x: y",
        b"data: \xff\xc3",
        b"\xe2\x82",
    ),
)


def random_stream(source: random.Random) -> bytes:
    ends = source.choice(((b"\n",), (b"\r\n",), (b"\r",), (b"\n", b"\r\n", b"\r")))
    parts = [source.choice(LINES) + source.choice(ends) for _ in range(source.randint(0, 12))]
    body = (b"\xef\xbb\xbf" if source.random() < 0.2 else b"") + b"".join(parts)
    if source.random() < 0.3:
        body = body[: source.randint(0, len(body))]
    if source.random() < 0.3 and body:
        at = source.randrange(len(body))
        body = body[:at] + bytes([source.randrange(256)]) + body[at + 1 :]
    return body


@pytest.mark.parametrize("seed", [FIXED_SEED, RANDOM_SEED])
def test_both_engines_agree_on_random_streams(engines: tuple[Any, Any], seed: int) -> None:
    source = random.Random(seed)
    for number in range(1000):
        body = random_stream(source)
        found = []
        for at, engine in enumerate(engines):
            sizes = random_sizes((seed, number, at), 10)
            events, decoder = decode(engine, pieces(body, sizes))
            members = [(event.event, event.data, event.id, event.retry) for event in events]
            state = (decoder.last_event_id, decoder.retry, decoder.comments, bytes(decoder.tail))
            found.append((members, state))
        assert found[0] == found[1], (seed, body)
