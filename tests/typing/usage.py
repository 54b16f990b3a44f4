"""Typical use, for the type checkers alone; every line of it must type strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import deltafold as df
from deltafold import Completion, Event, Limits, Policy, ToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from io import BufferedWriter


def whole(body: bytes) -> list[dict[str, Any]]:
    completion = df.assemble(body, wire="openai-chat", policy=Policy.harness(), limits=Limits(calls=8))
    assert_type(completion, Completion)
    assert_type(completion.content, str | None)
    assert_type(completion.to_json(), bytes)
    return [call.parse() for call in completion.executable_calls]


def many(bodies: list[bytes]) -> list[str]:
    return [completion.end for completion in df.assemble_many(bodies, threads=4, malformed="skip")]


def said(event: Event) -> str:
    match event:
        case df.TextDelta(text=text) | df.ReasoningDelta(text=text) | df.RefusalDelta(text=text):
            return text
        case df.ToolCallStart(_, call, identity, name):
            return f"{call} {identity} {name}"
        case df.ToolCallDelta(arguments=arguments):
            return arguments
        case df.ToolCallEnd(tool_call=tool_call):
            assert_type(tool_call, ToolCall)
            return tool_call.status
        case df.Finish(reason=reason):
            return reason
        case df.Usage(usage=usage):
            return str(usage.get("total_tokens"))


def streamed(chunks: Iterator[bytes], log: BufferedWriter) -> Completion:
    with df.stream(chunks, tee=log) as events:
        for event in events:
            assert_type(event, Event)
            if isinstance(event, df.ToolCallEnd):
                assert_type(event.tool_call.recovered(), str | None)
        return events.completion.check()


async def streamed_later(chunks: AsyncIterator[bytes]) -> str | None:
    async with df.astream(chunks, coalesce=False) as events:
        async for event in events:
            said(event)
        return events.completion.finish_reason


def by_hand(chunks: Iterator[bytes]) -> tuple[list[Event], str | None]:
    assembler = df.Assembler(wire="auto")
    events: list[Event] = []
    try:
        for chunk in chunks:
            events += assembler.feed(memoryview(chunk))
        events += assembler.finish()
    except df.ProviderError as error:
        assert_type(error.partial, Completion | None)
        return events, error.type
    assert_type(assembler.error, df.DeltafoldError | None)
    return events, assembler.close().model


def framed(data: bytes) -> list[str]:
    decoder = df.SSEDecoder()
    return [event.data for event in decoder.feed(data)] + [decoder.tail.decode()]


def in_plain_python(data: bytes) -> bool:
    return df.reference.assemble(data) == df.assemble(data)
