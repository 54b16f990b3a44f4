"""Many live assemblers, many threads, one shared assembler: right results or a clear error, never a crash."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from tests.outcomes import plain
from tests.support import public

if TYPE_CHECKING:
    from collections.abc import Callable


def frames_of(number: int) -> list[bytes]:
    """A short stream that no other number has."""
    opening = {"id": f"c{number}", "function": {"name": f"f{number % 7}", "arguments": '{"n":'}}
    deltas = [
        {"content": f"text {number}"},
        {"tool_calls": [{"index": 0, **opening}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": str(number)}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]},
    ]
    chunks: list[dict[str, Any]] = [{"id": f"r{number}", "choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    return [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]


def check_result(completion: Any, number: int) -> None:
    assert (completion.id, completion.content, completion.end) == (f"r{number}", f"text {number}", "done")
    (call,) = completion.tool_calls
    assert (call.id, call.name, call.parse()) == (f"c{number}", f"f{number % 7}", {"n": number})


def in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Runs `work(0)` to `work(count - 1)` in threads that start together; gives what they raised."""
    barrier = threading.Barrier(count)
    raised: list[BaseException] = []

    def body(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 (collected and looked at)
            raised.append(error)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_ten_thousand_live_assemblers(engine: Any) -> None:
    count = 10_000
    assemblers = [engine.Assembler() for _ in range(count)]
    for frames in zip(*map(frames_of, range(count)), strict=True):
        for assembler, frame in zip(assemblers, frames, strict=True):
            assembler.feed(frame)
    for number, assembler in enumerate(assemblers):
        check_result(assembler.close(), number)


def test_eight_threads_on_separate_assemblers(engine: Any) -> None:
    def work(thread: int) -> None:
        for number in range(thread * 1000, thread * 1000 + 100):
            body = b"".join(frames_of(number))
            assembler = engine.Assembler()
            for start in range(0, len(body), 50):
                assembler.feed(body[start : start + 50])
            check_result(assembler.close(), number)

    assert in_threads(8, work) == []


def test_one_assembler_shared_by_threads(engine: Any) -> None:
    """Whole frames in any order: every call is there once and whole, or a thread was told that it may not."""
    assembler = engine.Assembler()
    count = 8

    def work(thread: int) -> None:
        for number in range(50):
            index = thread * 50 + number
            entry = f'"index":{index},"id":"c{index}","function":{{"name":"f","arguments":"{{}}"}}'
            assembler.feed(f'data: {{"choices":[{{"delta":{{"tool_calls":[{{{entry}}}]}}}}]}}\n\n'.encode())
            assembler.snapshot()

    raised = in_threads(count, work)
    assert all(isinstance(error, (RuntimeError, public().DeltafoldError)) for error in raised), raised
    if not raised:
        assembler.feed(b"data: [DONE]\n\n")
        calls = assembler.close().tool_calls
        assert sorted(call.id for call in calls) == sorted(f"c{index}" for index in range(count * 50))
        assert {call.arguments for call in calls} == {"{}"}


def test_assemble_many_keeps_the_order(engine: Any) -> None:
    bodies = [b"".join(frames_of(number)) for number in range(300)]
    alone = [plain(engine.assemble(body)) for body in bodies]
    for threads in (None, 1, 4):
        found = engine.assemble_many(bodies, threads=threads)
        assert [plain(completion) for completion in found] == alone
    assert engine.assemble_many([]) == []
    assert engine.assemble_many(iter(bodies[:2]))[1].id == "r1"
