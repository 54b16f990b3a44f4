"""Six histories that real agents broke, resumed: providers of all three wires accept what comes out."""

from __future__ import annotations

import copy
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltafold.journal import FileStore, Journal, load
from tests.journal import forge, strategies
from tests.journal.checkers import Rejected, anthropic, chat, responses
from tests.journal.processes import child

LONG = "DELTAFOLD_JOURNAL_LONG" in os.environ
CHECKERS = [
    ("openai-chat", chat.check),
    ("anthropic-messages", anthropic.check),
    ("openai-responses", responses.check),
]


def accepted_everywhere(session) -> None:
    """The history passes the strict rules of each wire."""
    for wire, check in CHECKERS:
        check(session.messages(wire))


def user(text="What is tea?"):
    return {"role": "user", "content": text}


def asks(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answers(call_id="call_1", content="a drink"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


SAYS = {"role": "assistant", "content": "Tea is a drink."}
CALL = forge.call()

BROKEN = {
    "call without result at a crash": [user(), asks(CALL)],
    "crash between call and result": [
        user(),
        asks(CALL, forge.call("call_2")),
        answers("call_2"),
        user("hello?"),
    ],
    "result without call": [user(), SAYS, answers("call_9"), user("and?")],
    "ids repeated over turns": [
        user(),
        asks(CALL),
        answers(),
        SAYS,
        user("again"),
        asks(CALL),
        answers(),
        SAYS,
    ],
    "empty id": [user(), asks(forge.call("")), answers(""), SAYS, user("again")],
    "no calls at all": [user(), asks(content="Tea is a drink."), user("and?")],
    # variants of the same, from the same reports
    "all ids empty": [user(), asks(forge.call(""), forge.call("", "other")), answers(""), answers(""), SAYS],
    "id is null": [user(), asks({**CALL, "id": None}), {**answers(), "tool_call_id": None}],
    "an id twice in one message": [user(), asks(CALL, forge.call("call_1", "other")), answers(), answers()],
    "cut arguments": [user(), asks(forge.call(arguments='{"q":"te')), answers()],
    "call without a name": [user(), asks(forge.call(name="")), answers(), user("and?")],
    "two results of one call": [user(), asks(CALL), answers(), answers(content="again"), SAYS],
    "legacy calls": [
        user(),
        {"role": "assistant", "content": None, "function_call": {"name": "look_up", "arguments": "{}"}},
        {"role": "function", "name": "look_up", "content": "a drink"},
    ],
    "begins with the assistant": [SAYS, user()],
    "instructions": [{"role": "system", "content": "Be brief."}, user(), SAYS],
    "nothing said": [user(""), {"role": "assistant", "content": ""}, user("  "), SAYS],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_is_taken_over(tmp_path, name):
    with Journal.open(tmp_path, "s", create=True) as journal:
        journal.adopt(BROKEN[name])
        accepted_everywhere(journal)
        turn = journal.turn(user="What else?")
        assert turn.number > 0
        accepted_everywhere(journal)
    accepted_everywhere(load(tmp_path, "s"))
    assert load(tmp_path, "s").messages()[-1]["content"] == "What else?"


@pytest.mark.parametrize("name", [name for name in list(BROKEN)[:6] if name != "ids repeated over turns"])
def test_the_same_history_as_it_was_is_refused(name):
    with pytest.raises(Rejected):
        chat.check(BROKEN[name])


def test_ids_that_repeat_over_turns_are_refused_by_wires_that_pair_by_id():
    """The chat wire pairs within a message; the other two want ids that are unique."""
    chat.check(BROKEN["ids repeated over turns"])
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]}
    done = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": []}]}
    with pytest.raises(Rejected, match="unique"):
        anthropic.check(
            [{"role": "user", "content": [{"type": "text", "text": "x"}]}, used, done, used, done]
        )
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": ""}
    with pytest.raises(Rejected, match="came before"):
        responses.check([call, output, call, output])


def test_what_is_kept_of_a_history_with_empty_ids(tmp_path):
    """Both calls and both results are there, each result with its own call."""
    broken = [
        user(),
        asks(forge.call(""), forge.call("", "other")),
        answers("", "first"),
        answers("", "second"),
    ]
    with Journal.open(tmp_path, "s", create=True) as journal:
        notes = journal.adopt(broken)
        messages = journal.messages()
    ids = [call["id"] for call in messages[1]["tool_calls"]]
    assert ids == ["call-0", "call-1"]
    assert [(m["tool_call_id"], m["content"]) for m in messages[2:]] == [
        ("call-0", "first"),
        ("call-1", "second"),
    ]
    assert len(notes) == 2


def test_a_result_without_a_call_is_in_quarantine(tmp_path):
    with Journal.open(tmp_path, "s", create=True) as journal:
        notes = journal.adopt(BROKEN["result without call"])
    assert notes == ["message 2: in quarantine (J5: no open call is meant by this result)"]
    kept = json.loads((tmp_path / "s" / "quarantine.jsonl").read_bytes())
    assert (kept["rule"], kept["event"]["content"]) == ("J5", "a drink")


@pytest.mark.parametrize("moment", ["before-call", "in-call", "after-result", "in-stream", "in-second-call"])
def test_a_process_killed_at_a_moment_of_its_turn(tmp_path, moment):
    """The outcome that is known is told; the one that is not is said to be unknown."""
    process = child("agent", tmp_path, moment)
    process.stdout.read()
    process.stdout.close()
    assert process.wait() == -9
    with Journal.open(tmp_path, "s", resume=True) as journal:
        assert journal.state.turn is None
        accepted_everywhere(journal)
        results = {m["tool_call_id"]: m["content"] for m in journal.messages() if m["role"] == "tool"}
    unknown, not_run = "is not known", "It did not run"
    expected = {
        "before-call": {"call_1": not_run, "call_2": not_run},
        "in-call": {"call_1": unknown, "call_2": not_run},
        "after-result": {"call_1": "a drink", "call_2": not_run},
        "in-second-call": {"call_1": "a drink", "call_2": unknown},
        "in-stream": {},
    }[moment]
    assert set(results) == set(expected)
    assert all(text in results[call_id] for call_id, text in expected.items())
    errors = [event.data.get("error") for event in load(tmp_path, "s").events if event.type == "tool/result"]
    assert errors.count("outcome-unknown") == sum(text == unknown for text in expected.values())
    assert errors.count("not-started") == sum(text == not_run for text in expected.values())


def test_resume_of_a_turn_at_rest_or_of_none_invents_nothing(tmp_path):
    with Journal.open(tmp_path, "s", create=True) as journal:
        assert journal.resume() is False
        journal.turn(user="x")
        assert journal.resume() is True
        assert journal.resume() is False
    types = [event.type for event in load(tmp_path, "s").events]
    assert types == ["session/start", "turn/start", "user/message", "turn/end", "session/close"]


def test_the_records_that_resume_writes_are_ordinary_ones(tmp_path):
    """Any reader of the format reads them; the turn's end says that it was interrupted."""
    forge.put(
        tmp_path, forge.log([forge.turn(), forge.user(), forge.assistant(forge.call()), forge.started()])
    )
    Journal.open(tmp_path, "s", resume=True).close()
    *_, result, end, close = load(tmp_path, "s").events
    assert (result.type, result.data["error"], result.data["is_error"]) == (
        "tool/result",
        "outcome-unknown",
        True,
    )
    assert (end.type, end.data) == ("turn/end", {"turn": 0, "reason": "interrupted"})
    assert close.type == "session/close"


@settings(max_examples=1500 if LONG else 60, deadline=None)
@given(st.sampled_from(sorted(BROKEN)), st.data())
def test_whatever_another_program_kept_is_taken_over(tmp_path_factory, name, data):
    """Members changed or lost at random: nothing raises, and the next request is one that providers take."""
    messages = copy.deepcopy(BROKEN[name])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(strategies.places(messages) or [()]))
        if path:
            strategies.wound(data.draw, messages, path, lose=data.draw(st.booleans()))
    root = tmp_path_factory.mktemp("any")
    with Journal.open(FileStore(root, sync="os"), "s", create=True) as journal:
        journal.adopt(messages)
        journal.turn(user="What else?")
        accepted_everywhere(journal)
    accepted_everywhere(load(root, "s"))
