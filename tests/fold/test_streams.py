"""`assemble`, `stream`, `astream` and the assembler's own methods: the same fold by every way in."""

from __future__ import annotations

import array
import asyncio
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cases import vectors
from tests.outcomes import plain, run
from tests.support import public

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

BODY = vectors()["openai-chat/order-within-a-delta"].body + b": c\n\n"
TEXTS = b"".join(
    f'data: {{"choices":[{{"delta":{{"content":"{text}"}}}}]}}\n\n'.encode() for text in ("a", "b", "c")
)
FRAMES = [frame + b"\n\n" for frame in BODY.split(b"\n\n")[:-1]]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_like_input(engine: Any, kind: Callable[[bytes], Any]) -> None:
    whole = plain(engine.assemble(BODY))
    assert plain(engine.assemble(kind(BODY))) == whole
    assert plain(engine.assemble([kind(frame) for frame in FRAMES])) == whole
    assert plain(engine.assemble(kind(frame) for frame in FRAMES)) == whole
    assert plain(run(engine, [kind(frame) for frame in FRAMES]).completion) == whole
    decoder = engine.SSEDecoder()
    assert len(decoder.feed(kind(BODY))) == 2


def test_memoryviews_of_other_shapes(engine: Any) -> None:
    padded = BODY + b"\n" * (-len(BODY) % 4)
    assert plain(engine.assemble(memoryview(array.array("I", padded)))) == plain(engine.assemble(padded))
    spread = bytes(byte for pair in zip(BODY, BODY, strict=True) for byte in pair)
    assert plain(engine.assemble(memoryview(spread)[::2])) == plain(engine.assemble(BODY))


def test_input_may_change_after_feed(engine: Any) -> None:
    """Nothing is kept by reference: a buffer that is used again does not reach back."""
    buffer = bytearray(len(BODY))
    assembler = engine.Assembler()
    for start in range(0, len(BODY), 7):
        part = BODY[start : start + 7]
        buffer[: len(part)] = part
        assembler.feed(memoryview(buffer)[: len(part)])
        buffer[:] = b"x" * len(buffer)
    assert plain(assembler.close()) == plain(engine.assemble(BODY))
    buffer.extend(b"y")


def test_coalescing_joins_neighbours_of_one_feed(engine: Any) -> None:
    package = public()
    assembler = engine.Assembler()
    assert assembler.feed(TEXTS) == [package.TextDelta(0, "abc")]
    assert assembler.feed(TEXTS[:60]) == [package.TextDelta(0, "a")]
    apart = engine.Assembler(coalesce=False)
    assert apart.feed(TEXTS) == [package.TextDelta(0, text) for text in "abc"]


def test_coalescing_joins_only_one_text(engine: Any) -> None:
    package = public()
    call = {"index": 0, "id": "i", "function": {"name": "f", "arguments": "{"}}
    rest = {"index": 0, "function": {"arguments": "}"}}
    chunks = [
        [(0, {"reasoning": "r", "content": "a"}), (1, {"content": "x"})],
        [(1, {"content": "y"}), (0, {"content": "b"})],
        [(0, {"content": "c", "tool_calls": [call]})],
        [(0, {"tool_calls": [rest]})],
    ]
    payloads = [{"choices": [{"index": index, "delta": delta} for index, delta in chunk]} for chunk in chunks]
    assert engine.Assembler().feed(b"".join(map(frame_of, payloads))) == [
        *(package.ReasoningDelta(0, "r"), package.TextDelta(0, "a"), package.TextDelta(1, "xy")),
        *(
            package.TextDelta(0, "bc"),
            package.ToolCallStart(0, 0, "i", "f"),
            package.ToolCallDelta(0, 0, "{}"),
        ),
    ]


def frame_of(payload: Any) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()


def test_coalesced_events_say_the_same(engine: Any) -> None:
    for vector in vectors().values():
        joined = joined_texts(run(engine, [vector.body], coalesce=True, **vector.options).events)
        assert joined == joined_texts(run(engine, [vector.body], **vector.options).events), vector.name


def joined_texts(events: list[Any]) -> list[Any]:
    """The events with neighbouring deltas of one text joined."""
    texts = {
        "TextDelta": "text",
        "ReasoningDelta": "text",
        "RefusalDelta": "text",
        "ToolCallDelta": "arguments",
    }
    found: list[Any] = []
    for event in events:
        name = type(event).__name__
        if name in texts:
            key = (name, event.choice, getattr(event, "call", None))
            if found and found[-1][0] == key:
                found[-1] = (key, found[-1][1] + getattr(event, texts[name]))
            else:
                found.append((key, getattr(event, texts[name])))
        else:
            found.append((name, plain(event)))
    return found


def test_stream(engine: Any) -> None:
    whole = run(engine, FRAMES, coalesce=True)
    stream = engine.stream(iter(FRAMES))
    assert list(stream) == whole.events
    assert stream.completion == whole.completion
    assert stream.snapshot() == whole.completion
    assert list(stream) == []


def test_stream_options(engine: Any) -> None:
    apart = [type(event).__name__ for event in engine.stream([TEXTS], coalesce=False)]
    assert apart == ["TextDelta"] * 3
    stream = engine.stream([b"data: x\n\n" + TEXTS], malformed="skip", wire="openai-chat")
    assert [event.text for event in stream] == ["abc"]


def test_snapshots_of_a_stream(engine: Any) -> None:
    stream = engine.stream([TEXTS[:47], TEXTS[47:]])
    assert stream.snapshot().content is None
    assert next(stream).text == "a"
    assert (stream.snapshot().content, stream.snapshot().end) == ("a", "open")
    assert next(stream).text == "bc"
    assert list(stream) == []
    assert (stream.completion.content, stream.completion.end) == ("abc", "cut")


def test_tee_gets_every_chunk_before_it_is_parsed(engine: Any) -> None:
    bad = b"data: {oops\n\n"
    kept: list[bytes] = []
    stream = engine.stream([*FRAMES[:1], bad, *FRAMES], tee=kept.append)
    with pytest.raises(public().WireError):
        list(stream)
    assert b"".join(map(bytes, kept)).startswith(FRAMES[0] + bad)


def test_tee_to_a_file(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "raw.sse"
    with path.open("wb") as file:
        assert engine.stream(FRAMES, tee=file).snapshot().end == "open"
        list(engine.stream(FRAMES, tee=file))
    assert path.read_bytes() == BODY
    memory = io.BytesIO()
    list(engine.stream(FRAMES, tee=memory))
    assert memory.getvalue() == BODY


def test_an_error_of_the_source_comes_through(engine: Any) -> None:
    def source() -> Iterator[bytes]:
        yield TEXTS
        raise ConnectionResetError

    stream = engine.stream(source())
    assert next(stream).text == "abc"
    with pytest.raises(ConnectionResetError):
        next(stream)
    assert stream.snapshot().content == "abc"


async def chunks(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        await asyncio.sleep(0)
        yield part


def test_astream(engine: Any) -> None:
    kept: list[bytes] = []

    async def consume() -> tuple[list[Any], Any, Any]:
        stream = engine.astream(chunks(FRAMES), tee=kept.append)
        return [event async for event in stream], stream.completion, stream.snapshot()

    events, completion, snapshot = asyncio.run(consume())
    whole = run(engine, FRAMES, coalesce=True)
    assert events == whole.events
    assert completion == snapshot == whole.completion
    assert b"".join(map(bytes, kept)) == BODY


def test_astream_hands_out_events_before_the_error(engine: Any) -> None:
    async def consume() -> list[str]:
        stream = engine.astream(chunks([TEXTS + b"data: {oops\n\n", TEXTS]))
        found = [(await anext(stream)).text]
        with pytest.raises(public().WireError):
            await anext(stream)
        return found

    assert asyncio.run(consume()) == ["abc"]


def test_many_astreams_at_once(engine: Any) -> None:
    async def one() -> Any:
        stream = engine.astream(chunks(FRAMES))
        async for _ in stream:
            pass
        return stream.completion

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(one() for _ in range(50)))

    whole = engine.assemble(BODY)
    assert all(completion == whole for completion in asyncio.run(all_of_them()))


@pytest.mark.parametrize("kind", [bytes, bytes.decode])
def test_feed_payload(engine: Any, kind: Callable[[bytes], Any]) -> None:
    """Payloads without framing fold like the same ones in frames."""
    for name in ("openai-chat/clean-stream", "anthropic-messages/plain-text", "openai-responses/plain-text"):
        body = vectors()[name].body
        payloads = [line.removeprefix(b"data: ") for line in body.split(b"\n") if line.startswith(b"data: ")]
        assembler = engine.Assembler(coalesce=False)
        events = [event for payload in payloads for event in assembler.feed_payload(kind(payload))]
        whole = run(engine, [body])
        assert events + assembler.finish() == whole.events
        assert assembler.close() == whole.completion


def test_feed_payload_errors(engine: Any) -> None:
    assembler = engine.Assembler(wire="openai-chat")
    assert [event.text for event in assembler.feed_payload('{"choices":[{"delta":{"content":"é"}}]}')] == [
        "é"
    ]
    assert assembler.feed_payload(b"{oops") == []
    with pytest.raises(public().WireError) as raised:
        assembler.feed_payload(b"{}")
    assert (raised.value.kind, raised.value.frame) == ("malformed-payload", 1)
    assert raised.value.partial.content == "é"


def test_assemble_takes_nothing_and_empty_chunks(engine: Any) -> None:
    for nothing in (b"", [], [b"", b""]):
        assert (engine.assemble(nothing).end, engine.assemble(nothing).wire) == (
            "cut",
            engine.assemble(b"").wire,
        )
    assert plain(engine.assemble([b"", *FRAMES, b""])) == plain(engine.assemble(BODY))


def test_feed_after_close(engine: Any) -> None:
    """The input has ended: more of it is refused, or is nothing; the result stays what it was."""
    assembler = engine.Assembler()
    assembler.feed(BODY)
    first = assembler.close()
    try:
        assert assembler.feed(TEXTS) == []
    except (ValueError, RuntimeError) as error:
        assert str(error)  # noqa: PT017 (either way is right)
    assert assembler.close().content == first.content
