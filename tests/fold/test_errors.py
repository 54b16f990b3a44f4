"""An error costs nothing that came before it (P7), and has kind, frame, offset and partial."""

from __future__ import annotations

import asyncio
import gc
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import public

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

TEXT = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
CALL = (
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
)
FINISH = b'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n'
DONE = b"data: [DONE]\n\n"
MALFORMED = b"data: {oops\n\n"
PROVIDER = b'data: {"error":{"message":"m","type":"t","code":503}}\n\n'


def test_events_first_then_the_error(engine: Any) -> None:
    assembler = engine.Assembler()
    events = assembler.feed(TEXT + MALFORMED + TEXT)
    assert [type(event).__name__ for event in events] == ["TextDelta"]
    error = assembler.error
    assert isinstance(error, public().WireError)
    for call in (
        lambda: assembler.feed(TEXT),
        assembler.finish,
        assembler.close,
        lambda: assembler.feed(b""),
    ):
        with pytest.raises(public().WireError) as raised:
            call()
        assert raised.value == error
        assert (raised.value.kind, raised.value.frame, raised.value.offset) == (
            "malformed-payload",
            1,
            len(TEXT),
        )
        assert raised.value.partial.content == "a"


def failing_stream(engine: Any) -> None:
    for _event in engine.stream([TEXT, PROVIDER]):
        pass


def failing_astream(engine: Any) -> None:
    async def run() -> None:
        async for _event in engine.astream(chunks()):
            pass

    async def chunks() -> AsyncIterator[bytes]:
        yield TEXT
        yield PROVIDER

    asyncio.run(run())


def failing_assembler(engine: Any) -> None:
    assembler = engine.Assembler()
    assembler.feed(TEXT + PROVIDER)
    assembler.snapshot()
    assembler.close()


@pytest.mark.parametrize("fails", [failing_stream, failing_astream, failing_assembler])
def test_what_failed_is_freed(engine: Any, fails: Callable[[Any], None]) -> None:
    """An exception has the frames that hold what raised it, and that has the exception."""

    def objects_after(times: int) -> int:
        for _ in range(times):
            with pytest.raises(public().ProviderError):
                fails(engine)
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(20)
    assert objects_after(200) - before < 100


def test_no_error_is_none(engine: Any) -> None:
    assembler = engine.Assembler()
    assert assembler.error is None
    assembler.feed(TEXT)
    assert assembler.error is None
    assert assembler.close().error is None
    assert assembler.error is None


def test_error_of_finish_is_raised_by_the_next_call(engine: Any) -> None:
    assembler = engine.Assembler()
    assert assembler.feed(b'data: {"a":1}\n\n') == []
    assert assembler.error is None
    assert assembler.finish() == []
    assert assembler.error.kind == "unknown-wire"
    for call in (assembler.finish, assembler.close, assembler.close):
        with pytest.raises(public().WireError):
            call()


def test_close_finds_and_raises(engine: Any) -> None:
    assembler = engine.Assembler()
    assembler.feed(b"<html>")
    with pytest.raises(public().WireError) as raised:
        assembler.close()
    assert raised.value.kind == "not-an-event-stream"
    assert (raised.value.frame, raised.value.offset) == (None, 0)


def test_finish_twice_is_empty(engine: Any) -> None:
    assembler = engine.Assembler()
    assembler.feed(TEXT + CALL + FINISH)
    assert [type(event).__name__ for event in assembler.finish()] == [
        "ToolCallStart",
        "ToolCallDelta",
        "ToolCallEnd",
    ]
    assert assembler.finish() == []
    first = assembler.close()
    assert assembler.close() == first
    assert assembler.finish() == []


def test_no_call_ends_after_an_error(engine: Any) -> None:
    assembler = engine.Assembler()
    assert [type(event).__name__ for event in assembler.feed(CALL + FINISH + PROVIDER + DONE)] == ["Finish"]
    with pytest.raises(public().ProviderError) as raised:
        assembler.finish()
    partial = raised.value.partial
    assert [(call.id, call.status, call.executable) for call in partial.tool_calls] == [
        ("call-0", "complete", False)
    ]
    assert partial.end == "cut"
    assert not partial.executable_calls
    assert partial.error.message == "m"
    assert "stream-cut" not in {quirk.kind for quirk in partial.quirks}


def test_provider_error_members(engine: Any) -> None:
    with pytest.raises(public().ProviderError) as raised:
        engine.assemble(TEXT + PROVIDER)
    error = raised.value
    assert (error.message, error.type, error.code, error.status) == ("m", "t", 503, 503)
    assert (error.kind, error.frame, error.offset) == ("provider-error", 1, len(TEXT))
    assert "m" in str(error)


def test_iterators_hand_out_the_events_first(engine: Any) -> None:
    stream = engine.stream([TEXT + MALFORMED, TEXT])
    assert next(stream).text == "a"
    with pytest.raises(public().WireError):
        next(stream)


def test_check_raises_for_a_cut_stream(engine: Any) -> None:
    completion = engine.assemble(TEXT)
    assert completion.end == "cut"
    with pytest.raises(public().IncompleteStream) as raised:
        completion.check()
    assert (raised.value.kind, raised.value.partial) == ("cut", completion)
    whole = engine.assemble(TEXT + DONE)
    assert whole.check() in (None, whole)


def test_parse_of_an_unfinished_call(engine: Any) -> None:
    cut = CALL.replace(b'"{}"', b'"{\\"a"')
    (call,) = engine.assemble(cut + FINISH).tool_calls
    assert (call.status, call.arguments) == ("truncated", '{"a')
    with pytest.raises(public().MalformedToolCall) as raised:
        call.parse()
    assert raised.value.kind == "not-complete"


def test_every_class_is_in_its_family() -> None:
    package = public()
    for name in ("WireError", "LimitError", "ProviderError", "MalformedToolCall", "IncompleteStream"):
        assert issubclass(getattr(package, name), package.DeltafoldError)
    assert issubclass(package.WireError, ValueError)


@pytest.mark.parametrize("body", [TEXT + MALFORMED, TEXT + PROVIDER, b"<html>"])
def test_errors_are_picklable(engine: Any, body: bytes) -> None:
    with pytest.raises(public().DeltafoldError) as raised:
        engine.assemble(body)
    error = raised.value
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (made here)
    assert type(copy) is type(error)
    members = ("kind", "frame", "offset", "partial")
    assert [getattr(copy, name) for name in members] == [getattr(error, name) for name in members]
    assert str(copy) == str(error)


def test_assemble_many_raises_nothing(engine: Any) -> None:
    bodies = [TEXT + DONE, TEXT + MALFORMED, b"<html>", TEXT + PROVIDER, b"", TEXT + DONE]
    for threads in (None, 1, 3):
        found = engine.assemble_many(bodies, threads=threads)
        kinds = [None if completion.error is None else completion.error.kind for completion in found]
        assert kinds == [None, "malformed-payload", "not-an-event-stream", "provider-error", None, None]
        assert [completion.content for completion in found] == ["a", "a", None, "a", None, "a"]


WRONG: list[tuple[str, Callable[[Any], Any]]] = [
    ("text", lambda engine: engine.Assembler().feed("data: x\n\n")),
    ("number", lambda engine: engine.Assembler().feed(5)),
    ("none", lambda engine: engine.Assembler().feed(None)),
    ("list", lambda engine: engine.Assembler().feed([1])),
    ("payload", lambda engine: engine.Assembler().feed_payload(5)),
    ("decoder", lambda engine: engine.SSEDecoder().feed("x")),
    ("body", lambda engine: engine.assemble("data: x\n\n")),
]


@pytest.mark.parametrize("call", [call for _, call in WRONG], ids=[name for name, _ in WRONG])
def test_arguments_of_a_wrong_type(engine: Any, call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        call(engine)


@pytest.mark.parametrize("options", [{"wire": "x"}, {"malformed": "ignore"}, {"wire": ""}])
def test_options_of_a_wrong_value(engine: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        engine.Assembler(**options)


@pytest.mark.parametrize("members", [{"identity": "x"}, {"shared_index": ""}, {"missing_id": "none"}])
def test_policies_of_a_wrong_value(members: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        public().Policy(**members)
