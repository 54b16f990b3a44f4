"""Snapshots on the way: each is what a snapshot of a stream that was never looked at before would be."""

from __future__ import annotations

from typing import Any

import pytest

from benches.shapes import Gateway
from tests.cases import vectors
from tests.outcomes import plain

FRAMES = 80


@pytest.mark.parametrize("name", vectors())
def test_a_snapshot_does_not_depend_on_those_before(engine: Any, name: str) -> None:
    vector = vectors()[name]
    looked_at = engine.Assembler(**vector.options)
    fed = b""
    for frame in vector.body.split(b"\n\n")[:FRAMES]:
        # Cut where an event is not whole as well.
        for piece in (frame[: len(frame) // 2], frame[len(frame) // 2 :] + b"\n\n"):
            if looked_at.error is not None:
                return
            looked_at.feed(piece)
            fed += piece
            fresh = engine.Assembler(**vector.options)
            fresh.feed(fed)
            assert plain(looked_at.snapshot()) == plain(fresh.snapshot())
    if looked_at.error is None:
        looked_at.finish()
        ended = looked_at.snapshot()
        assert plain(looked_at.snapshot()) == plain(ended)


def test_texts_of_every_kind_grow(engine: Any) -> None:
    gateway = Gateway(21)
    assembler = engine.Assembler()
    assembler.feed(gateway.call_start(0, "f") + gateway.call_start(1, "g"))
    whole = ""
    for word in ("流れ", "🦀", "plain ", "größer", '"\\'):
        whole += word
        for member in ("content", "reasoning_content", "refusal"):
            assembler.feed(gateway.frame({member: word}))
        assembler.feed(gateway.call_delta(1, word))
        found = assembler.snapshot()
        assert (found.content, found.reasoning, found.refusal) == (whole, whole, whole)
        assert [call.arguments for call in found.tool_calls] == ["", whole]
    closed = assembler.close()
    assert assembler.snapshot() == closed
    assert closed.content == whole
