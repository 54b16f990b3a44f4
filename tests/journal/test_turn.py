"""The common path: a stream becomes records, calls run, results follow; what must not run is answered and
says why."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from typing import Any

import pytest

import deltafold
from deltafold.journal import FileStore, Journal, Refused, load
from tests.cli import streams
from tests.journal import forge
from tests.journal.test_resume import accepted_everywhere


def entry(index: int, call_id: Any, name: Any, arguments: str) -> dict[str, Any]:
    return {
        "tool_calls": [{"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}]
    }


def body(*deltas: dict[str, Any], reason: str | None = "tool_calls", done: bool = True) -> bytes:
    parts = [streams.delta(delta) for delta in deltas]
    if reason is not None:
        parts.append(streams.delta({}, reason))
    return b"".join(parts) + (streams.DONE if done else b"")


@pytest.fixture
def journal(tmp_path):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        yield journal


def records(tmp_path, kind):
    return [event.data for event in load(tmp_path, "s").events if event.type == kind]


def test_the_common_path(tmp_path):
    with Journal.open(tmp_path, "s", create=True) as journal:
        turn = journal.turn(user="What is tea?")
        events = list(turn.stream([streams.WHOLE[at : at + 9] for at in range(0, len(streams.WHOLE), 9)]))
        assert events == list(deltafold.stream([streams.WHOLE], coalesce=False))
        (call,) = turn.executable_calls
        with turn.running(call) as run:
            assert records(tmp_path, "tool/call") == [
                {"call_id": "call_1", "name": "look_up", "arguments": call.arguments}
            ]
            run.result({"answer": call.parse()["q"]})
        assert turn.executable_calls == []
        list(turn.stream([body({"content": "A drink."}, reason="stop")]))
        messages = journal.messages()
    assert messages == load(tmp_path, "s").messages()
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[2] == {"role": "tool", "tool_call_id": "call_1", "content": '{"answer":"tea"}'}
    types = [event.type for event in load(tmp_path, "s").events]
    assert types[-2:] == ["turn/end", "session/close"]


def test_the_identity_is_one_in_message_call_and_result(journal, tmp_path):
    """The gateway blanks the id in later deltas, or never sends one: all three records have the same, by
    I10."""
    for number, call_id in enumerate(["call_7", ""]):
        turn = journal.turn()
        list(turn.stream([body(entry(0, call_id, "look_up", '{"q":'), entry(0, "", None, '"tea"}'))]))
        with turn.running(turn.executable_calls[0]) as run:
            run.result("ok")
        expected = call_id or "call-0"
        message = records(tmp_path, "assistant/message")[number]["message"]
        assert message["tool_calls"][0]["id"] == expected
        assert records(tmp_path, "tool/call")[number]["call_id"] == expected
        result = records(tmp_path, "tool/result")[number]
        assert (result["call_id"], result["source"]["call_id"]) == (expected, expected)


NOT_RUN = {
    "truncated": (
        body(entry(0, "a", "f", '{"q":"te'), reason=None, done=False),
        "cut off because the stream broke",
    ),
    "truncated by length": (
        body(entry(0, "a", "f", '{"q":"te'), reason="length"),
        r"cut off \(finish reason length\)",
    ),
    "invalid": (body(entry(0, "a", "f", "{}{}")), "not one JSON object"),
    "cut after it": (body(entry(0, "a", "f", "{}"), reason="content_filter"), "the response was cut"),
    "a list": (body(entry(0, "a", "f", "[1]")), "not one JSON object"),
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_a_call_that_must_not_run_is_answered_and_says_why(journal, tmp_path, name):
    data, why = NOT_RUN[name]
    turn = journal.turn(user="x")
    list(turn.stream([data]))
    assert turn.executable_calls == []
    (result,) = records(tmp_path, "tool/result")
    assert (result["call_id"], result["is_error"], result["error"]) == ("a", True, "not-executable")
    assert re.search(why, result["content"])
    assert records(tmp_path, "tool/call") == []
    accepted_everywhere(journal)
    with pytest.raises(Refused) as refused, turn.running(turn.completion.tool_calls[0]):
        pass
    assert refused.value.rule in {"J4", "J7"}


def test_a_call_without_a_name_is_set_aside_and_the_model_is_told(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([body(entry(0, "a", "look_up", "{}"), entry(1, "b", "", '{"q":"tea"}'))]))
    (call,) = turn.executable_calls
    with turn.running(call) as run:
        run.result("ok")
    messages = journal.messages()
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["a"]
    assert messages[-1]["role"] == "user"
    assert "without a name" in messages[-1]["content"]
    kept = json.loads((tmp_path / "s" / "quarantine.jsonl").read_bytes())
    assert (kept["rule"], kept["event"]["arguments"]) == ("J2", '{"q":"tea"}')
    assert kept["stream"] == records(tmp_path, "assistant/message")[0]["stream"]["file"]
    accepted_everywhere(journal)


def test_the_note_survives_a_result_that_is_refused(journal):
    turn = journal.turn(user="x")
    list(turn.stream([body(entry(0, "a", "look_up", "{}"), entry(1, "b", "", "{}"))]))
    with turn.running(turn.executable_calls[0]) as run:
        run.result("\ud800")
    assert "without a name" in journal.messages()[-1]["content"]


def test_results_of_many_threads_and_one_note(journal):
    calls = [entry(number, f"c{number}", "look_up", "{}") for number in range(12)]
    turn = journal.turn(user="x")
    list(turn.stream([body(*calls, entry(12, "b", "", "{}"))]))

    def work(call):
        with turn.running(call) as run:
            run.result("ok")

    threads = [threading.Thread(target=work, args=(call,)) for call in turn.executable_calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    roles = [message["role"] for message in journal.messages()]
    assert roles == ["user", "assistant", *["tool"] * 12, "user"]


def test_only_calls_without_a_name(journal):
    turn = journal.turn(user="x")
    list(turn.stream([body(entry(0, "a", None, "{}"))]))
    assert [message["role"] for message in journal.messages()] == ["user", "assistant", "user"]
    accepted_everywhere(journal)


def test_colliding_ids_in_one_answer(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([body(entry(0, "a", "f", '{"n":1}'), entry(1, "a", "f", '{"n":2}'))]))
    calls = turn.executable_calls
    assert [call.id for call in calls] == ["a", "a-2"]
    for call in turn.completion.tool_calls:  # those of the stream itself mean the same calls, by position
        with turn.running(call) as run:
            run.result(call.arguments)
    results = {data["call_id"]: data["content"] for data in records(tmp_path, "tool/result")}
    assert results == {"a": '{"n":1}', "a-2": '{"n":2}'}
    accepted_everywhere(journal)


def test_a_tool_that_raises(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with turn.running(turn.executable_calls[0]) as run:
        raise ValueError("no such \ud800 place")
    assert isinstance(run.exception, ValueError)
    (result,) = records(tmp_path, "tool/result")
    assert (result["content"], result["error"]) == ("ValueError: no such ? place", "raised")
    accepted_everywhere(journal)


def test_a_tool_that_ends_the_program(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with pytest.raises(KeyboardInterrupt), turn.running(turn.executable_calls[0]):
        raise KeyboardInterrupt
    assert records(tmp_path, "tool/result")[0]["error"] == "outcome-unknown"


def test_a_result_that_no_record_can_hold(journal, tmp_path):
    """It is refused, kept aside, and the call still has its one result: an error that says so."""
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with turn.running(turn.executable_calls[0]) as run:
        run.result("broken \ud800 text")
    assert isinstance(run.exception, Refused)
    (result,) = records(tmp_path, "tool/result")
    assert result["is_error"]
    assert "lone surrogate" in result["content"]
    assert rb"broken \ud800 text" in (tmp_path / "s" / "quarantine.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        (None, ""),
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ([], "[]"),
        (10**30, "1" + "0" * 30),
        ({1, 2} - {2}, "{1}"),
    ],
)
def test_what_a_result_may_be(journal, tmp_path, value, content):
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with turn.running(turn.executable_calls[0]) as run:
        run.result(value)
    assert records(tmp_path, "tool/result")[0]["content"] == content
    accepted_everywhere(journal)


def test_no_result_and_two_results(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with turn.running(turn.executable_calls[0]):
        pass
    assert records(tmp_path, "tool/result")[0]["error"] == "no-result"
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with turn.running(turn.executable_calls[0]) as run:
        run.result("one")
        with pytest.raises(Refused, match="J5"):
            run.result("two")
    assert records(tmp_path, "tool/result")[1]["content"] == "one"


def test_a_stream_that_fails_enters_nothing_but_leaves_its_bytes(journal, tmp_path):
    turn = journal.turn(user="x")
    seen = []
    with pytest.raises(deltafold.ProviderError):
        seen.extend(turn.stream([streams.FAILED]))
    assert records(tmp_path, "assistant/message") == []
    kept = json.loads((tmp_path / "s" / "quarantine.jsonl").read_bytes())
    assert (tmp_path / "s" / kept["stream"]).read_bytes() == streams.FAILED
    assert kept["event"]["choices"][0]["tool_calls"][0]["name"] == "look_up"
    list(turn.stream([body({"content": "again"}, reason="stop")]))
    assert journal.messages()[-1]["content"] == "again"


def test_a_connection_that_breaks(journal, tmp_path):
    def chunks():
        yield streams.WHOLE[:60]
        raise ConnectionResetError("peer")

    turn = journal.turn(user="x")
    with pytest.raises(ConnectionResetError):
        list(turn.stream(chunks()))
    assert [event.type for event in load(tmp_path, "s").events][-1] == "user/message"
    (raw,) = (tmp_path / "s" / "raw").iterdir()
    assert raw.read_bytes() == streams.WHOLE[:60]


def test_stopping_early_records_what_came(journal):
    turn = journal.turn(user="x")
    stream = turn.stream([streams.delta({"content": "one "}), body({"content": "two"})])
    assert next(stream) == deltafold.TextDelta(0, "one ")
    stream.close()
    stream.close()
    assert stream.completion.end == "cut"
    assert journal.messages()[-1]["content"] == "one "


def test_a_stream_that_nobody_reads_on(journal):
    turn = journal.turn(user="x")
    next(turn.stream([body({"content": "lost"})]))
    list(turn.stream([body({"content": "kept"}, reason="stop")]))
    assert [message["content"] for message in journal.messages()] == ["x", "kept"]


def test_an_empty_answer_that_was_cut_is_no_message(journal, tmp_path):
    turn = journal.turn(user="x")
    list(turn.stream([b": keep-alive\n\n"]))
    assert turn.completion.end == "cut"
    assert records(tmp_path, "assistant/message") == []


def test_what_is_recorded_of_an_answer(journal, tmp_path):
    turn = journal.turn(user="x")
    data = streams.delta({"content": "hi"}, "stop", usage={"total_tokens": 10**20}) + streams.DONE
    list(turn.stream([data], policy=deltafold.Policy(identity="last")))
    (record,) = records(tmp_path, "assistant/message")
    assert record["finish_reason"] == "stop"
    assert record["usage"] == {"total_tokens": 10**20}
    assert record["stream"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert record["stream"]["bytes"] == len(data)
    assert record["stream"]["wire"] == "openai-chat"
    assert record["stream"]["policy"]["identity"] == "last"
    assert (tmp_path / "s" / record["stream"]["file"]).read_bytes() == data


def test_a_response_that_was_folded_elsewhere(journal):
    turn = journal.turn(user="x")
    turn.record(deltafold.assemble(streams.WHOLE))
    with turn.running(turn.executable_calls[0]) as run:
        run.result("ok")
    accepted_everywhere(journal)


def test_a_turn_cannot_begin_while_a_call_is_open(journal):
    turn = journal.turn(user="x")
    list(turn.stream([streams.WHOLE]))
    with pytest.raises(Refused, match="J6"):
        journal.turn(user="y")
    journal.resume()
    journal.turn(user="y")
    accepted_everywhere(journal)


def test_going_on_in_an_open_turn_after_a_clean_close(tmp_path):
    with Journal.open(tmp_path, "s", create=True) as journal:
        turn = journal.turn(user="x")
        list(turn.stream([streams.WHOLE]))
        with turn.running(turn.executable_calls[0]) as run:
            run.result("ok")
    with Journal.open(tmp_path, "s") as journal:
        turn = journal.current_turn
        list(turn.stream([body({"content": "so"}, reason="stop")]))
        turn.user("more")
        turn.end("enough")
        assert journal.current_turn is None
    assert records(tmp_path, "turn/end") == [{"turn": 0, "reason": "enough"}]


def test_without_raw_and_without_quarantine(tmp_path):
    with Journal.open(tmp_path, "s", create=True, raw=False, quarantine=False) as journal:
        list(journal.turn(user="x").stream([body({"content": "hi"}, reason="stop")]))
        with pytest.raises(Refused):
            journal.append("tool/result", forge.result("")[1])
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["journal.jsonl", "lock"]


def test_something_that_is_no_response(journal):
    with pytest.raises(TypeError, match="a response or an iterable of bytes is needed, not int"):
        journal.turn(user="x").stream(7)
