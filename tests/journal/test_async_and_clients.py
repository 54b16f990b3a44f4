"""The async form of the journal, and the clients whose responses both forms read."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from deltafold.journal import AsyncJournal, FileStore, Journal, Refused, load
from deltafold.journal.stores import files
from tests.cli import streams
from tests.journal import forge
from tests.journal.test_resume import accepted_everywhere
from tests.journal.test_turn import body, entry, records


@pytest.fixture
def journal(tmp_path):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        yield journal


class Responses:
    """What clients give: each kind of response that is understood."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def httpx(self):
        return type("Response", (), {"iter_bytes": lambda _: iter([self.data])})()

    def requests(self):
        return type("Response", (), {"iter_content": lambda _self, **_options: iter([self.data])})()

    def http_client(self):
        chunks = iter([self.data[:10], self.data[10:], b""])
        return type("Response", (), {"read1": lambda _self, _size: next(chunks)})()

    def bytes(self):
        return self.data

    def bytearrays(self):
        return [bytearray(self.data)]


@pytest.mark.parametrize("kind", ["httpx", "requests", "http_client", "bytes", "bytearrays"])
def test_responses_of_clients(journal, kind):
    turn = journal.turn(user="x")
    list(turn.stream(getattr(Responses(body({"content": "hi"}, reason="stop")), kind)()))
    assert journal.messages()[-1]["content"] == "hi"


@pytest.mark.parametrize("sync", ["always", "group"])
def test_the_async_form(tmp_path, sync):
    async def tool(q: str) -> str:
        await asyncio.sleep(0)
        return f"{q} is a drink"

    async def chunks(data: bytes):
        for at in range(0, len(data), 40):
            yield data[at : at + 40]

    async def agent(session: str) -> list[dict[str, Any]]:
        async with AsyncJournal.open(tmp_path, session, create=True, sync=sync) as journal:
            turn = await journal.turn(user="What is tea?")
            async for _ in turn.stream(chunks(streams.WHOLE)):
                pass
            for call in turn.executable_calls:
                async with turn.running(call) as run:
                    await run.result(await tool(**call.parse()))
            async for _ in turn.stream(chunks(body(entry(0, "b", "look_up", "{}")))):
                pass
            async with turn.running(turn.executable_calls[0]):
                raise ValueError("no")
            return await journal.messages()

    async def many() -> list[list[dict[str, Any]]]:
        return await asyncio.gather(*(agent(f"s{number}") for number in range(8)))

    for number, messages in enumerate(asyncio.run(many())):
        assert messages[2]["content"] == "tea is a drink"
        assert messages[4]["content"] == "ValueError: no"
        assert load(tmp_path, f"s{number}").messages() == messages
        accepted_everywhere(load(tmp_path, f"s{number}"))


@pytest.mark.parametrize("sync", ["always", "group"])
@pytest.mark.parametrize("moment", ["entering", "body", "result"])
def test_a_task_that_is_cancelled_in_a_call(tmp_path, sync, moment, monkeypatch):
    """Whenever it comes, the call has its one result, and the turn can go on."""
    reached = threading.Event()
    go_on = threading.Event()
    write_all = files.write_all

    def slow_write(descriptor, data):
        write_all(descriptor, data)
        wanted = {"entering": b'"tool/call"', "result": b'"tool/result"'}.get(moment)
        if wanted is not None and wanted in bytes(data):
            reached.set()
            go_on.wait(1 if sync == "always" else 0)

    async def main() -> None:
        async with AsyncJournal.open(tmp_path, "s", create=True, sync=sync) as journal:
            turn = await journal.turn(user="x")

            async def chunks():
                yield streams.WHOLE

            async for _ in turn.stream(chunks()):
                pass
            monkeypatch.setattr(files, "write_all", slow_write)

            async def work() -> None:
                async with turn.running(turn.executable_calls[0]) as run:
                    if moment == "result":
                        await run.result("done")
                    reached.set()
                    await asyncio.sleep(60)

            task = asyncio.create_task(work())
            await asyncio.to_thread(reached.wait)
            task.cancel()
            await asyncio.sleep(0)
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            await turn.end()

    asyncio.run(main())
    (result,) = records(tmp_path, "tool/result")
    expected = {"entering": {"not-started"}, "body": {"outcome-unknown"}, "result": {None}}[moment]
    if sync == "group":
        expected |= {"outcome-unknown"} if moment == "entering" else set()
    assert result.get("error") in expected
    accepted_everywhere(load(tmp_path, "s"))


@pytest.mark.parametrize("sync", ["always", "group"])
def test_results_of_many_tasks_and_one_note(tmp_path, sync):
    async def main() -> list[str]:
        async with AsyncJournal.open(tmp_path, "s", create=True, sync=sync) as journal:
            calls = [entry(number, f"c{number}", "look_up", "{}") for number in range(8)]

            async def chunks():
                yield body(*calls, entry(8, "b", "", "{}"))

            async def work(call) -> None:
                async with turn.running(call) as run:
                    await run.result("ok")

            turn = await journal.turn(user="x")
            async for _ in turn.stream(chunks()):
                pass
            await asyncio.gather(*map(work, turn.executable_calls))
            return [message["role"] for message in await journal.messages()]

    assert asyncio.run(main()) == ["user", "assistant", *["tool"] * 8, "user"]


def test_the_async_form_by_await(tmp_path):
    async def main() -> None:
        journal = await AsyncJournal.open(tmp_path, "s", create=True)
        assert await journal.append("turn/start", {"turn": 0}) == 1
        with pytest.raises(Refused):
            await journal.append("turn/start", {"turn": 0})
        turn_seq = await journal.append_all([forge.user(), forge.assistant(forge.call())])
        assert turn_seq == 2
        assert journal.state.unanswered == 1
        assert journal.current_turn is not None
        assert await journal.resume()
        assert journal.current_turn is None
        assert await journal.adopt([{"role": "user", "content": "x"}, {"role": "tool", "content": "y"}]) != []
        turn = journal.current_turn
        await turn.user("more")
        await turn.end()
        assert (journal.session, journal.torn) == ("s", None)
        await journal.close()
        await journal.close()

    asyncio.run(main())
    accepted_everywhere(load(tmp_path, "s"))
