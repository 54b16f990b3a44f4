"""The typed program does what its docstrings say."""

from __future__ import annotations

import asyncio
import json

from tests.cli import streams
from tests.typing import typical_use


def test_calls():
    assert typical_use.calls_of(streams.WHOLE) == [("look_up", {"q": "tea"})]


def test_stream():
    copy: list[bytes] = []
    lines, completion = typical_use.streamed([streams.WHOLE[:100], streams.WHOLE[100:]], copy)
    assert lines == [
        "call 0: look_up",
        '{"q":',
        ' "tea"}',
        "finished: tool_calls",
        "look_up is complete",
    ]
    assert b"".join(copy) == streams.WHOLE
    assert completion.finish_reason == "tool_calls"


def test_async_stream():
    async def chunks():
        yield streams.WHOLE

    assert asyncio.run(typical_use.streamed_async(chunks())).executable_calls


def test_fed_by_hand():
    quirks, completion = typical_use.fed_by_hand([streams.WHOLE])
    assert quirks == "empty-identity x1, null-identity x1"
    assert completion is not None
    told, partial = typical_use.fed_by_hand([streams.FAILED])
    assert told == "provider-error at frame 1: overloaded"
    assert partial is not None
    assert partial.tool_calls[0].arguments == '{"q": "tea"}'


def test_many():
    assert typical_use.many([streams.WHOLE, streams.CUT]) == ["tool_calls", None]


def test_framed():
    (name, data), *_ = typical_use.framed(streams.WHOLE)
    assert name == "message"
    assert json.loads(data)["id"] == "chatcmpl-1"
