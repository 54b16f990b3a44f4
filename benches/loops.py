"""The loops that a competent user writes by hand today, made as fast as their idea allows.

They are the yardstick: split the bytes at line ends, parse each payload (orjson, or msgspec's typed decoder
that skips what nobody declared), append the pieces to lists, join at the end. Each is one function on
purpose, since calls would cost it; each comes with and without one event object for each delta. None checks
identity, endings, limits or UTF-8 outside payloads, which is what deltafold does in addition.

Each takes the feeds of one stream. The fold functions return the `Answer`, the event functions yield events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from benches.answers import (
    Answer,
    CallState,
    ChoiceState,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Event = TextDelta | ReasoningDelta | ToolCallStart | ToolCallDelta | Finish


def text_of_parts(parts: list[dict[str, Any]]) -> str:
    """The text of a content that a gateway sends as a list of parts."""
    return "".join(part.get("text", "") for part in parts)


def orjson_fold(feeds: Iterable[bytes]) -> Answer:
    """The answer of one stream, parsed with orjson."""
    loads = orjson.loads
    choices: dict[int, ChoiceState] = {}
    usage: Any = None
    tail = b""
    for data in feeds:
        if b"\n" not in data:
            tail += data
            continue
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        for line in lines:
            if line[:5] != b"data:" or line[5:12] == b" [DONE]":
                continue
            chunk = loads(line[5:])
            for choice in chunk.get("choices") or ():
                number = choice.get("index", 0)
                state = choices.get(number)
                if state is None:
                    state = choices[number] = ChoiceState()
                delta = choice.get("delta")
                if delta:
                    if text := delta.get("content"):
                        if text.__class__ is list:
                            text = text_of_parts(text)
                        state.text.append(text)
                    if text := delta.get("reasoning_content"):
                        state.reasoning.append(text)
                    for entry in delta.get("tool_calls") or ():
                        index = entry.get("index", 0)
                        function = entry["function"]
                        call = state.calls.get(index)
                        if call is None:
                            call = state.calls[index] = CallState(entry.get("id"), function.get("name"))
                        if text := function.get("arguments"):
                            call.fragments.append(text)
                if reason := choice.get("finish_reason"):
                    state.finish_reason = reason
            if counted := chunk.get("usage"):
                usage = counted
    return Answer(choices, usage)


def orjson_events(feeds: Iterable[bytes]) -> Iterator[Event]:
    """The events of one stream, parsed with orjson; the answer is built beside them."""
    loads = orjson.loads
    choices: dict[int, ChoiceState] = {}
    usage: Any = None
    tail = b""
    for data in feeds:
        if b"\n" not in data:
            tail += data
            continue
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        for line in lines:
            if line[:5] != b"data:" or line[5:12] == b" [DONE]":
                continue
            chunk = loads(line[5:])
            for choice in chunk.get("choices") or ():
                number = choice.get("index", 0)
                state = choices.get(number)
                if state is None:
                    state = choices[number] = ChoiceState()
                delta = choice.get("delta")
                if delta:
                    if text := delta.get("content"):
                        if text.__class__ is list:
                            text = text_of_parts(text)
                        state.text.append(text)
                        yield TextDelta(number, text)
                    if text := delta.get("reasoning_content"):
                        state.reasoning.append(text)
                        yield ReasoningDelta(number, text)
                    for entry in delta.get("tool_calls") or ():
                        index = entry.get("index", 0)
                        function = entry["function"]
                        call = state.calls.get(index)
                        if call is None:
                            call = state.calls[index] = CallState(entry.get("id"), function.get("name"))
                            yield ToolCallStart(number, index, call.id, call.name)
                        if text := function.get("arguments"):
                            call.fragments.append(text)
                            yield ToolCallDelta(number, index, text)
                if reason := choice.get("finish_reason"):
                    state.finish_reason = reason
                    yield Finish(number, reason)
            if counted := chunk.get("usage"):
                usage = counted
    Answer(choices, usage)


class Function(msgspec.Struct, gc=False):
    """What a loop reads of a call's `function` member."""

    name: str | None = None
    arguments: str | None = None


class ToolCallEntry(msgspec.Struct, gc=False):
    index: int | None = 0
    id: str | None = None
    function: Function | None = None


class Delta(msgspec.Struct, gc=False):
    # Some gateways send content as a list of parts; the decoder has to let it pass.
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCallEntry] | None = None


class Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: Delta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None


DECODER = msgspec.json.Decoder(Chunk)


def msgspec_fold(feeds: Iterable[bytes]) -> Answer:
    """The answer of one stream, parsed with msgspec's typed decoder."""
    decode = DECODER.decode
    choices: dict[int, ChoiceState] = {}
    usage: Any = None
    tail = b""
    for data in feeds:
        if b"\n" not in data:
            tail += data
            continue
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        for line in lines:
            if line[:5] != b"data:" or line[5:12] == b" [DONE]":
                continue
            chunk = decode(line[5:])
            for choice in chunk.choices or ():
                state = choices.get(choice.index)
                if state is None:
                    state = choices[choice.index] = ChoiceState()
                delta = choice.delta
                if delta is not None:
                    if text := delta.content:
                        if text.__class__ is list:
                            text = text_of_parts(text)
                        state.text.append(text)
                    if delta.reasoning_content:
                        state.reasoning.append(delta.reasoning_content)
                    for entry in delta.tool_calls or ():
                        function = entry.function
                        call = state.calls.get(entry.index)
                        if call is None:
                            call = state.calls[entry.index] = CallState(entry.id, function.name)
                        if function.arguments:
                            call.fragments.append(function.arguments)
                if choice.finish_reason:
                    state.finish_reason = choice.finish_reason
            if chunk.usage:
                usage = chunk.usage
    return Answer(choices, usage)


def msgspec_events(feeds: Iterable[bytes]) -> Iterator[Event]:
    """The events of one stream, parsed with msgspec's typed decoder; the answer is built beside them."""
    decode = DECODER.decode
    choices: dict[int, ChoiceState] = {}
    usage: Any = None
    tail = b""
    for data in feeds:
        if b"\n" not in data:
            tail += data
            continue
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        for line in lines:
            if line[:5] != b"data:" or line[5:12] == b" [DONE]":
                continue
            chunk = decode(line[5:])
            for choice in chunk.choices or ():
                number = choice.index
                state = choices.get(number)
                if state is None:
                    state = choices[number] = ChoiceState()
                delta = choice.delta
                if delta is not None:
                    if text := delta.content:
                        if text.__class__ is list:
                            text = text_of_parts(text)
                        state.text.append(text)
                        yield TextDelta(number, text)
                    if delta.reasoning_content:
                        state.reasoning.append(delta.reasoning_content)
                        yield ReasoningDelta(number, delta.reasoning_content)
                    for entry in delta.tool_calls or ():
                        function = entry.function
                        call = state.calls.get(entry.index)
                        if call is None:
                            call = state.calls[entry.index] = CallState(entry.id, function.name)
                            yield ToolCallStart(number, entry.index, call.id, call.name)
                        if function.arguments:
                            call.fragments.append(function.arguments)
                            yield ToolCallDelta(number, entry.index, function.arguments)
                if choice.finish_reason:
                    state.finish_reason = choice.finish_reason
                    yield Finish(number, choice.finish_reason)
            if chunk.usage:
                usage = chunk.usage
    Answer(choices, usage)
