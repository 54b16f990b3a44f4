"""A stream of any length out of repeated feeds, so that a long one costs no memory of the measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.shapes import Gateway, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_CHUNKS = 1000
FEED_SIZE = 16 * 1024


class RepeatedStream:
    """One call of `chunks` chunks (a multiple of BLOCK_CHUNKS); the same block of feeds again and again."""

    def __init__(self, chunks: int) -> None:
        gateway = Gateway(4)
        self.repeats = chunks // BLOCK_CHUNKS
        self.chunks = self.repeats * BLOCK_CHUNKS
        fragments = [f"piece {number} of a long text, " for number in range(BLOCK_CHUNKS)]
        frames = [gateway.call_delta(0, fragment) for fragment in fragments]
        self.opening = gateway.role() + gateway.call_start(0, "write_file")
        self.block = list(cut(b"".join(frames), FEED_SIZE))
        self.ending = b"".join(gateway.ending("tool_calls"))
        self.largest_frame = max(map(len, frames))
        self.text_bytes = self.repeats * sum(map(len, fragments))
        self.bytes = len(self.opening) + self.repeats * sum(map(len, self.block)) + len(self.ending)

    def __iter__(self) -> Iterator[bytes]:
        yield self.opening
        for _ in range(self.repeats):
            yield from self.block
        yield self.ending
