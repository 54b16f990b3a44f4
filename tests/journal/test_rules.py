"""J1 to J8: for every rule what passes and what does not, asked of append and of load alike."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from deltafold.journal import RULES, FileStore, Journal, JournalCorrupt, Refused, load
from tests.journal import forge
from tests.journal.forge import CLOSE, assistant, call, end, result, started, turn, user

OPEN_TURN = [turn(), user()]
ASKED = [*OPEN_TURN, assistant(call())]
RUNNING = [*ASKED, started()]


def message(**members: Any) -> tuple[str, dict[str, Any]]:
    """An assistant message with these members."""
    data = {"message": {"role": "assistant", "content": "x", **members}, "finish_reason": "stop"}
    return "assistant/message", data


def changed(entry: tuple[str, dict[str, Any]], **members: Any) -> tuple[str, dict[str, Any]]:
    """An entry with other members in its data."""
    return entry[0], {**entry[1], **members}


def without(entry: tuple[str, dict[str, Any]], name: str) -> tuple[str, dict[str, Any]]:
    """An entry with a member less."""
    return entry[0], {key: value for key, value in entry[1].items() if key != name}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"x": value}
    return value


IGNORABLE = ("note/added", {"ignorable": True, "text": "x"})
CUSTOM = {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
SOURCE = {"kind": "tool", "call_id": "call_1"}
NATIVE = {"wire": "anthropic-messages", "value": [], "before": [0]}

ADMITTED: list[tuple[str, list[Any], Any]] = [
    ("user", [turn()], user()),
    ("user parts", [turn()], ("user/message", {"message": {"role": "user", "content": [{"type": "text"}]}})),
    ("user name", [turn()], ("user/message", {"message": {"role": "user", "content": "x", "name": "Ann"}})),
    ("text", OPEN_TURN, assistant(text="x")),
    (
        "no content",
        OPEN_TURN,
        ("assistant/message", {"message": {"role": "assistant"}, "finish_reason": None}),
    ),
    ("calls", OPEN_TURN, assistant(call("a"), call("b"))),
    ("custom", OPEN_TURN, assistant(CUSTOM)),
    ("custom runs", [*OPEN_TURN, assistant(CUSTOM)], started("call_1", "sql", "select 1")),
    ("empty arguments", OPEN_TURN, assistant(call(arguments=""))),
    ("big integer", OPEN_TURN, assistant(call(arguments=f'{{"a":{10**30}}}'))),
    ("usage", OPEN_TURN, assistant(text="x", usage={"total": 10**30, "cost": 0.25})),
    ("start of a call", ASKED, started()),
    ("result", RUNNING, result()),
    ("result of a call that did not start", ASKED, result(is_error=True, error="not-started")),
    ("result parts", RUNNING, result(content=[{"type": "text", "text": "x"}])),
    ("user after results", [*RUNNING, result()], user()),
    ("answer after results", [*RUNNING, result()], assistant(text="x")),
    ("end after results", [*RUNNING, result()], end()),
    ("an id again in a later turn", [*RUNNING, result(), end(), turn(1), assistant(call())], started()),
    ("an id again in a later answer", [*RUNNING, result(), assistant(call())], started()),
    ("close", [], CLOSE),
    ("close in a turn", RUNNING, CLOSE),
    ("after a close", [CLOSE], turn()),
    ("ignorable", OPEN_TURN, IGNORABLE),
    ("ignorable while a call is open", RUNNING, IGNORABLE),
    ("ignorable of the session", [], ("session/label", {"ignorable": True})),
    ("repair", RUNNING, ("session/repair", {"tool": "x", "changes": [{}], "backup": None})),
    ("128 levels", OPEN_TURN, (IGNORABLE[0], {"ignorable": True, "x": nested(127)})),
    ("a control character", OPEN_TURN, user("a\x00b\x1b\u2028")),
]

REFUSED: list[tuple[str, str, list[Any], Any]] = [
    ("J1", "unknown type", OPEN_TURN, ("note/added", {"text": "x"})),
    ("J1", "ignorable is not true", OPEN_TURN, ("note/added", {"ignorable": 1})),
    ("J1", "type is no string", OPEN_TURN, (7, {})),
    ("J1", "data is no object", OPEN_TURN, ("user/message", [])),
    ("J1", "missing member", OPEN_TURN, without(assistant(text="x"), "finish_reason")),
    ("J1", "unknown member", OPEN_TURN, changed(assistant(text="x"), finish="stop")),
    ("J1", "wrong role", [turn()], ("user/message", {"message": {"role": "system", "content": "x"}})),
    ("J1", "content is a number", [turn()], ("user/message", {"message": {"role": "user", "content": 1}})),
    (
        "J1",
        "content part is text",
        [turn()],
        ("user/message", {"message": {"role": "user", "content": ["x"]}}),
    ),
    ("J1", "turn is true", [], ("turn/start", {"turn": True})),
    ("J1", "turn is negative", [], ("turn/start", {"turn": -1})),
    ("J1", "lone surrogate", [turn()], user("\ud800")),
    ("J1", "lone surrogate in a name", OPEN_TURN, (IGNORABLE[0], {"ignorable": True, "\udc00": 1})),
    ("J1", "not a number", OPEN_TURN, assistant(text="x", usage={"cost": float("nan")})),
    ("J1", "infinity", OPEN_TURN, assistant(text="x", usage={"cost": float("inf")})),
    ("J1", "an integer of 4,000 digits", OPEN_TURN, assistant(text="x", usage={"total": 10**4000})),
    ("J1", "129 levels", OPEN_TURN, (IGNORABLE[0], {"ignorable": True, "x": nested(128)})),
    ("J1", "too large", [turn()], user("x" * (32 * 1024 * 1024))),
    ("J1", "a second start", [], forge.start("s", bytes(16))),
    ("J1", "tool_calls is null", OPEN_TURN, message(tool_calls=None)),
    ("J1", "a call without type", OPEN_TURN, message(tool_calls=[{"id": "a", "function": {}}])),
    ("J1", "a call whose type is a list", OPEN_TURN, message(tool_calls=[{**call(), "type": []}])),
    ("J1", "a part without type", RUNNING, result(content=[{"text": "x"}])),
    ("J1", "a part whose type is a list", OPEN_TURN, assistant(text=[{"type": []}])),
    ("J1", "another wire's form without blocks", OPEN_TURN, message(deltafold={"wire": "x"})),
    ("J1", "another wire's form with a place too many", OPEN_TURN, message(deltafold=NATIVE)),
    ("J1", "legacy call", OPEN_TURN, message(function_call={"name": "f", "arguments": "{}"})),
    ("J1", "an id that is a number", OPEN_TURN, assistant({**call(), "id": 7})),
    ("J1", "result is a number", RUNNING, result(content=7)),
    ("J1", "is_error is a number", RUNNING, result(is_error=0)),
    ("J1", "stream without a digest", OPEN_TURN, assistant(text="x", stream={"file": "raw/x", "bytes": 1})),
    ("J2", "empty id in a message", OPEN_TURN, assistant(call(""))),
    ("J2", "empty name in a message", OPEN_TURN, assistant(call(name=""))),
    ("J2", "empty id in a call", ASKED, started("")),
    ("J2", "empty name in a call", ASKED, started(name="")),
    ("J2", "empty id in a result", RUNNING, result("")),
    ("J2", "endless id", OPEN_TURN, assistant(call("x" * 65_537))),
    ("J3", "an id twice in a message", OPEN_TURN, assistant(call("a"), call("a"))),
    ("J4", "a call of no message", OPEN_TURN, started()),
    ("J4", "another name", ASKED, started(name="other")),
    ("J4", "other arguments", ASKED, started(arguments="{}")),
    ("J4", "started twice", RUNNING, started()),
    ("J4", "started after its result", [*RUNNING, result()], started()),
    ("J4", "a call of an earlier message", [*RUNNING, result(), assistant(call("b"))], started()),
    ("J5", "a source of another kind", RUNNING, result(source={**SOURCE, "kind": "user"})),
    ("J5", "a source of another call", RUNNING, result(source={**SOURCE, "call_id": "x"})),
    ("J5", "no open call", OPEN_TURN, result()),
    ("J5", "a second result", [*RUNNING, result()], result()),
    ("J5", "a result of an earlier turn", [*RUNNING, result(), end(), turn(1)], result()),
    ("J6", "user while a call is open", RUNNING, user()),
    ("J6", "answer while a call is open", ASKED, assistant(text="x")),
    ("J6", "end while a call is open", ASKED, end()),
    ("J6", "end while one of two is open", [*OPEN_TURN, assistant(call("a"), call("b")), result("a")], end()),
    ("J7", "no calls at all", OPEN_TURN, message(tool_calls=[])),
    ("J7", "cut arguments", OPEN_TURN, assistant(call(arguments='{"a":'))),
    ("J7", "arguments are a list", OPEN_TURN, assistant(call(arguments="[]"))),
    ("J7", "arguments with NaN", OPEN_TURN, assistant(call(arguments='{"a":NaN}'))),
    ("J7", "arguments with a lone surrogate", OPEN_TURN, assistant(call(arguments='{"a":"\\ud800"}'))),
    ("J7", "arguments twice", OPEN_TURN, assistant(call(arguments="{}{}"))),
    ("J7", "white space", OPEN_TURN, assistant(call(arguments=" "))),
    ("J7", "a cut response", [*OPEN_TURN, assistant(call(), finish_reason="Length")], started()),
    ("J8", "a turn in a turn", OPEN_TURN, turn(1)),
    ("J8", "the end of another turn", OPEN_TURN, end(1)),
    ("J8", "an end without a turn", [], end()),
    ("J8", "user outside of a turn", [], user()),
    ("J8", "result outside of a turn", [], result()),
    ("J8", "ignorable outside of a turn", [], IGNORABLE),
]


@pytest.fixture
def journal(tmp_path):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        yield journal


@pytest.mark.parametrize(("before", "entry"), [row[1:] for row in ADMITTED], ids=[row[0] for row in ADMITTED])
def test_admitted_by_append_and_load(journal, before, entry):
    for kind, data in before:
        journal.append(kind, data)
    seq = journal.append(*entry)
    assert seq == len(before) + 1
    events, _ = forge.read(forge.log([*before, entry]))
    assert (events[-1].type, events[-1].data) == entry


@pytest.mark.parametrize(
    ("rule", "before", "entry"),
    [(row[0], *row[2:]) for row in REFUSED],
    ids=[f"{row[0]} {row[1]}" for row in REFUSED],
)
def test_refused_by_append_and_load(journal, tmp_path, rule, before, entry):
    for kind, data in before:
        journal.append(kind, data)
    whole = (tmp_path / "s" / "journal.jsonl").read_bytes()
    with pytest.raises(Refused) as refused:
        journal.append(*entry)
    assert refused.value.rule == rule
    assert (refused.value.session, refused.value.seq, refused.value.offset) == (
        "s",
        len(before) + 1,
        len(whole),
    )
    assert rule in str(refused.value)
    assert (tmp_path / "s" / "journal.jsonl").read_bytes() == whole, "a refused event leaves no byte"
    forged = forge.log([*before, entry])
    with pytest.raises(JournalCorrupt) as corrupt:
        forge.read(forged)
    assert corrupt.value.rule == rule
    assert corrupt.value.seq == len(before) + 1
    assert forged[corrupt.value.offset :].startswith(b'{"seq":%d,' % corrupt.value.seq)


def test_every_rule_is_refused_by_a_case():
    assert {row[0] for row in REFUSED} == {rule.rule for rule in RULES} == {f"J{n}" for n in range(1, 9)}


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.000006+00:00",
        "2026-01-02 03:04:05.000006Z",
        "2026-02-30T03:04:05.000006Z",
        "2026-01-02T24:04:05.000006Z",
        "\uff12026-01-02T03:04:05.000006Z",
        "",
        5,
        None,
    ],
)
def test_a_time_that_is_no_instant(time):
    salt = secrets.token_bytes(16)
    data = forge.log([], salt=salt) + forge.line(1, *turn(), salt, time=time)
    with pytest.raises(JournalCorrupt, match="J1: time"):
        forge.read(data)


@pytest.mark.parametrize("seq", [0, 2, -1, True, 1.0, "1", None])
def test_a_seq_that_is_not_the_next(seq):
    salt = secrets.token_bytes(16)
    data = forge.log([], salt=salt) + forge.line(seq, *turn(), salt)
    with pytest.raises(JournalCorrupt, match="J1"):
        forge.read(data)


def test_a_log_of_another_session():
    with pytest.raises(JournalCorrupt, match="belongs to session 'other'"):
        forge.read(forge.log([], session="other"))


def test_the_first_record_is_the_start():
    salt = secrets.token_bytes(16)
    line = forge.line(0, "turn/start", {"turn": 0, "salt": salt.hex()}, salt)
    with pytest.raises(JournalCorrupt, match="J1"):
        forge.read(line)


def test_what_was_given_may_change_afterwards(journal, tmp_path):
    """What is written is what was given at that moment."""
    content = {"role": "user", "content": "before"}
    journal.append("turn/start", {"turn": 0})
    journal.messages()
    journal.append("user/message", {"message": content})
    content["content"] = "after"
    handed_out = journal.messages()
    assert handed_out == [{"role": "user", "content": "before"}]
    handed_out[0]["content"] = "changed"
    assert journal.messages() == load(tmp_path, "s").messages() == [{"role": "user", "content": "before"}]
