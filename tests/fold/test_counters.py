"""Work is linear and memory bounded, by counters and never by time (S7, S8).

`Assembler._counters()` of the native engine says how many bytes came (`bytes_in`), how many were looked at
(`bytes_scanned`) and how many were held at most for input that was not yet an event (`bytes_buffered_peak`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from benches.shapes import SHAPES, shape
from tests.cases import huge_vectors
from tests.outcomes import run
from tests.support import FIXED_SEED, engine_of, even_sizes, pieces, public, random_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SLACK = 65_536
"""The constant beside the two passes: what a scanner may look at once more at a cut, all cuts together."""
MEBIBYTE = 1024 * 1024


@pytest.fixture
def native() -> Any:
    return engine_of("native")


def feed(engine: Any, chunks: Iterable[bytes], **options: Any) -> dict[str, int]:
    """The counters after the chunks, and their check against the linear bound."""
    assembler = engine.Assembler(**options)
    for chunk in chunks:
        assembler.feed(chunk)
    assembler.finish()
    counters: dict[str, int] = assembler._counters()
    assert counters["bytes_scanned"] <= 2 * counters["bytes_in"] + SLACK
    return counters


def sizes_of(name: str) -> dict[str, Iterator[int]]:
    return {
        "one byte": even_sizes(1),
        "64 bytes": even_sizes(64),
        "16 KiB": even_sizes(16 * 1024),
        "whole": even_sizes(1 << 40),
        "random": random_sizes((FIXED_SEED, name), 3000),
    }


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_at_every_cut(native: Any, name: str) -> None:
    for frames in shape(name).streams[:20]:
        body = b"".join(frames)
        longest = max(map(len, frames))
        for cut, sizes in sizes_of(name).items():
            counters = feed(native, pieces(body, sizes))
            assert counters["bytes_in"] == len(body), cut
            if cut in ("one byte", "64 bytes"):
                assert counters["bytes_buffered_peak"] <= 2 * longest + SLACK, cut


@pytest.mark.parametrize("name", huge_vectors())
def test_every_huge_vector(native: Any, name: str) -> None:
    vector = huge_vectors()[name]
    for size in (64, 1 << 40):
        assembler = native.Assembler(**vector.options)
        for chunk in pieces(vector.body, even_sizes(size)):
            assembler.feed(chunk)
            if assembler.error is not None:
                break
        counters = assembler._counters()
        assert counters["bytes_scanned"] <= 2 * counters["bytes_in"] + SLACK


def one_frame(total: int) -> Iterator[bytes]:
    """One frame of `total` bytes in 64-byte chunks, without ever holding it."""
    head, tail = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
    middle = total - len(head) - len(tail)
    yield head
    yield from itertools.repeat(b"x" * 64, middle // 64)
    yield b"x" * (middle % 64)
    yield tail


def test_one_frame_of_32_mebibytes_in_64_byte_cuts(native: Any) -> None:
    total = 32 * MEBIBYTE
    counters = feed(native, one_frame(total))
    assert counters["bytes_in"] == total
    assert counters["bytes_buffered_peak"] <= 2 * total + SLACK


def test_many_data_lines_in_64_byte_cuts(native: Any) -> None:
    body = b'data: {"choices":[]\n' + b"data:  \n" * 200_000 + b"data: }\n\ndata: [DONE]\n\n"
    feed(native, pieces(body, even_sizes(64)))


@pytest.mark.parametrize(
    "unit", [b"\n", b"\r\n", b":\n", b": keep-alive\n\n", b"event: x\n\n", b"x\n", b"data:\n\n"]
)
def test_nothing_is_kept_of_lines_that_bring_nothing(native: Any, unit: bytes) -> None:
    counters = feed(native, pieces(unit * (MEBIBYTE // len(unit)), even_sizes(1000)))
    assert counters["bytes_buffered_peak"] <= 2 * SLACK


def test_a_comment_without_end_is_not_kept(native: Any) -> None:
    counters = feed(native, itertools.chain([b":"], itertools.repeat(b"x" * 4096, 4096)))
    assert counters["bytes_buffered_peak"] <= 2 * SLACK


@pytest.mark.parametrize("prefix", [b"data: ", b"x: ", b"event: ", b"xxxx"])
def test_a_line_without_end_stops_at_its_limit(engine: Any, prefix: bytes) -> None:
    """Memory is bounded by the limit, not by what is sent: no more is read once it is passed."""
    assembler = engine.Assembler(limits=public().Limits(line=100_000))
    assembler.feed(prefix)
    for _ in range(30):
        assembler.feed(b"x" * 4096)
        if assembler.error is not None:
            break
    assert (assembler.error.kind, assembler.error.frame) == ("line", 0)
    with pytest.raises(public().LimitError):
        assembler.feed(b"x")


def test_a_body_that_is_no_stream_is_not_kept(native: Any) -> None:
    assembler = native.Assembler()
    for _ in range(2000):
        assembler.feed(b"<p>no stream</p>\n" * 50)
    assert assembler._counters()["bytes_buffered_peak"] <= 4 * SLACK


def test_the_default_limits_are_those_of_the_contract() -> None:
    limits = public().Limits()
    assert (limits.line, limits.event, limits.text) == (32 * MEBIBYTE, 32 * MEBIBYTE, 512 * MEBIBYTE)
    assert (limits.choices, limits.calls, limits.depth) == (128, 4096, 128)


def test_a_line_of_the_default_limit(engine: Any) -> None:
    """32 MiB pass, one byte more does not."""
    head, tail = b'data: {"choices":[{"delta":{"content":"', b'"}}]}'
    content = b"x" * (32 * MEBIBYTE - len(head) - len(tail))
    whole = run(engine, [head, content, tail + b"\n\ndata: [DONE]\n\n"])
    assert (whole.error, len(whole.completion.content)) == (None, len(content))
    longer = run(engine, [head, content, b"x" + tail + b"\n\ndata: [DONE]\n\n"])
    assert (longer.error.kind, longer.error.offset) == ("line", 0)
