"""A program that uses deltafold as its users do; mypy and pyright read it, and its functions run as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, assert_type

import deltafold as df

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable


def calls_of(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Fold a body and parse the calls that may be executed."""
    completion = df.assemble(body, wire="openai-chat", limits=df.Limits(text=1024), malformed="skip")
    assert_type(completion, df.Completion)
    assert_type(completion.content, str | None)
    assert_type(completion.executable_calls, tuple[df.ToolCall, ...])
    return [(call.name, call.parse()) for call in completion.executable_calls]


def shown(event: df.Event) -> str:  # noqa: PLR0911 (a return for each kind)
    """One event as text; every kind has its case."""
    match event:
        case df.TextDelta(choice=choice, text=text) | df.ReasoningDelta(choice=choice, text=text):
            return f"{choice}: {text}"
        case df.RefusalDelta(text=text):
            return f"refused: {text}"
        case df.ToolCallStart(call=position, name=name):
            return f"call {position}: {name}"
        case df.ToolCallDelta(arguments=arguments):
            return arguments
        case df.ToolCallEnd(tool_call=tool_call):
            return f"{tool_call.name} is {tool_call.status}"
        case df.Finish(reason=reason):
            return f"finished: {reason}"
        case df.Usage(usage=usage):
            return f"used: {usage}"
        case _:
            assert_never(event)


def streamed(chunks: Iterable[bytes], copy: list[bytes]) -> tuple[list[str], df.Completion]:
    """Take the events as they come, keeping the raw bytes."""
    stream = df.stream(chunks, coalesce=False, tee=copy.append)
    assert_type(stream, df.EventStream)
    lines = [shown(event) for event in stream]
    return lines, stream.completion


async def streamed_async(chunks: AsyncIterable[bytes]) -> df.Completion:
    """The same from an async source."""
    stream = df.astream(chunks, policy=df.Policy.harness(), read_every=0.05)
    async for event in stream:
        assert_type(event, df.Event)
    return stream.completion


def fed_by_hand(chunks: Iterable[bytes]) -> tuple[str, df.Completion | None]:
    """Feed an assembler, and see what an error left."""
    assembler = df.Assembler()
    try:
        for chunk in chunks:
            assert_type(assembler.feed(chunk), list[df.Event])
        completion = assembler.close()
    except df.ProviderError as error:
        assert_type(error.partial, df.Completion | None)
        return f"{error.kind} at frame {error.frame}: {error.message}", error.partial
    quirks = ", ".join(f"{quirk.kind} x{quirk.count}" for quirk in completion.quirks)
    return quirks, completion


def many(bodies: list[bytes]) -> list[str | None]:
    """Fold bodies on two threads."""
    return [completion.finish_reason for completion in df.assemble_many(bodies, threads=2)]


def framed(data: bytes) -> list[tuple[str, str]]:
    """Server-sent events alone."""
    decoder = df.SSEDecoder()
    return [(event.event, event.data) for event in decoder.feed(data)]
