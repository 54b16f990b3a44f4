"""Strategy C: one identity in every record of a call, from evidence; an unnamed call is quarantined."""

from __future__ import annotations

import json

import pytest

from deltafold.harness.repair.draft import placeholder
from tests.harness import samples
from tests.harness.samples import Log, plan_of

LINES = {"poison-empty-identity-raw": 5, "poison-empty-id-only-raw": 5, "poison-null-identity-raw": 7}
LINES |= {"poison-parallel-empty-raw": 9}


@pytest.mark.parametrize("name", LINES)
def test_strategy_c_touches_exactly_the_lines_of_the_identity_set(name: str) -> None:
    measured = next(
        entry
        for entry in samples.STRATEGIES
        if entry["sample"] == name and entry["strategy"] == "C-full-identity-set"
    )
    plan = samples.plan(name)
    assert plan.data is not None
    old, new = samples.data(name).split(b"\n"), plan.data.split(b"\n")
    assert len(old) == len(new)
    differing = [number for number, (one, two) in enumerate(zip(old, new, strict=True)) if one != two]
    assert len(differing) == measured["changedLines"] == LINES[name]
    assert plan.after == {"ok": {key: measured["v0Load"]["ok"][key] for key in ("events", "last")}}
    results = {event["seq"]: event for event in samples.events(plan.data) if event["type"] == "tool/result"}
    for identity in measured["identities"]:
        message = results[identity["seq"]]["data"]["message"]
        assert message["source"]["callId"] == message["content"][0]["toolCallId"] == identity["id"]
    assert {change.origin for change in plan.changes} == {"recovered"}


@pytest.mark.parametrize("name", [*LINES, "poison-empty-identity-zstd", "duplicate-call-id-in-step"])
def test_one_identity_in_every_record_of_a_call(name: str) -> None:
    plan = samples.plan(name)
    assert plan.data is not None
    text = samples.text(plan.data, samples.place(name).compression)
    for empty in (b'"id":""', b'"callId":""', b'"toolCallId":""', b'"name":""', b'"name":null'):
        assert empty not in text
    events = samples.events(plan.data, samples.place(name).compression)
    calls = [event["data"] for event in events if event["type"] == "tool/call"]
    blocks = [
        block
        for event in events
        if event["type"] == "assistant/message"
        for block in event["data"]["message"]["content"]
        if block["type"] == "tool-call"
    ]
    shown = [(block["id"], block["name"], block["arguments"]) for block in blocks]
    assert shown == [(call["callId"], call["name"], call["arguments"]) for call in calls]
    assert len({identity for identity, _, _ in shown}) == len(shown)


def test_outcomes_stay_what_was_recorded() -> None:
    """Of a call whose id alone was blanked the tool ran: its result stays. Of the other the refusal stays."""
    for name, words in (
        ("poison-empty-id-only-raw", b"sunny in Paris"),
        ("poison-empty-identity-raw", rb"Error: unknown tool \"\""),
    ):
        plan = samples.plan(name)
        assert plan.data is not None
        assert samples.data(name).count(words) == plan.data.count(words)


def test_a_call_that_was_never_named_goes_to_quarantine_as_a_whole() -> None:
    plan = samples.plan("poison-never-identified-raw")
    assert plan.data is not None
    assert plan.draft is not None
    events = samples.events(plan.data)
    assert [event["seq"] for event in events] == list(range(38))
    assert events[12]["data"]["message"]["content"] == []
    assert events[12]["sourceEventSeqs"] == [10, 11]
    for seq in (7, 8, 9, 13, 14):
        assert events[seq] == placeholder(seq, events[seq]["time"])
    old = samples.data("poison-never-identified-raw").split(b"\n")
    assert [old[line - 1] for line in (9, 10, 11, 14, 15, 16)] == sorted(
        (entry.raw for entry in plan.draft.removed), key=old.index
    )
    assert plan.lost == ["1 call(s) or result(s) that no record names, kept in quarantine"]


def test_the_turn_of_an_unnamed_call_is_closed() -> None:
    lines = samples.data("poison-never-identified-raw").split(b"\n")
    plan = plan_of(b"\n".join(lines[:15]) + b"\n")
    assert plan.status == "repairable"
    assert plan.data is not None
    assert [event["type"] for event in samples.events(plan.data)][-2:] == ["step/end", "turn/end"]


def test_a_name_is_never_invented_and_an_id_by_rule_alone() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    log.assistant(1, 1, [{"type": "tool-call", "id": "", "name": "named", "arguments": "{}"}])
    call = log.call(1, 1, "", "named")
    log.result(1, 1, "", call)
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    assert b'"callId":"call-0","name":"named"' in plan.data
    assert {change.origin for change in plan.changes} == {"minted"}


def test_a_minted_id_differs_from_every_id_of_the_session() -> None:
    log = Log()
    for turn, identity in ((1, "call-0"), (2, "")):
        log.turn(turn)
        log.step(turn, 1)
        log.assistant(turn, 1, [{"type": "tool-call", "id": identity, "name": "t", "arguments": "{}"}])
        call = log.call(turn, 1, identity, "t")
        log.result(turn, 1, identity, call)
        log.end(turn, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    ids = [event["data"]["callId"] for event in samples.events(plan.data) if event["type"] == "tool/call"]
    assert ids == ["call-0", "call-0-2"]


def test_attempts_of_one_step_are_not_mixed() -> None:
    """A rejected attempt with other ids stands before the one that the message cites."""
    log = Log()
    log.turn(1)
    log.step(1, 1)
    log.chunk(1, 1, type="tool-call-delta", index=0, id="wrong", name="wrong", argumentsDelta="")
    log.chunk(1, 1, type="finish", reason={"kind": "error", "failure": {"message": "m", "code": "c"}})
    first = log.chunk(1, 1, type="tool-call-delta", index=0, id="right", name="tool", argumentsDelta="")
    log.chunk(1, 1, type="tool-call-delta", index=0, id="", name="", argumentsDelta="{}")
    last = log.chunk(1, 1, type="finish", reason={"kind": "tool-calls"})
    block = {"type": "tool-call", "id": "", "name": "", "arguments": "{}"}
    log.assistant(1, 1, [block], [*range(first, last + 1)])
    call = log.call(1, 1, "", "")
    log.result(1, 1, "", call)
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    assert plan.data.count(b'"wrong"') == 2
    assert b'"callId":"right","name":"tool"' in plan.data


def test_results_pair_by_the_seq_they_cite_and_not_by_their_order() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    sources = [
        log.chunk(1, 1, type="tool-call-delta", index=index, id=identity, name="t", argumentsDelta=arguments)
        for index, identity, arguments in ((0, "a", "1"), (1, "b", "2"))
    ]
    blocks = [{"type": "tool-call", "id": "", "name": "t", "arguments": arguments} for arguments in "12"]
    log.assistant(1, 1, blocks, sources)
    one, two = log.call(1, 1, "", "t", "1"), log.call(1, 1, "", "t", "2")
    log.result(1, 1, "", two, "second")
    log.result(1, 1, "", one, "first")
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    found = [
        event["data"]["message"] for event in samples.events(plan.data) if event["type"] == "tool/result"
    ]
    assert [(m["source"]["callId"], m["content"][0]["content"][0]["text"]) for m in found] == [
        ("b", "second"),
        ("a", "first"),
    ]


def test_the_seq_that_a_result_cites_says_more_than_the_id_it_carries() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    pairs = (("a", "1"), ("b", "2"))
    log.assistant(1, 1, [{"type": "tool-call", "id": i, "name": "t", "arguments": x} for i, x in pairs])
    one, two = log.call(1, 1, "a", "t", "1"), log.call(1, 1, "b", "t", "2")
    log.result(1, 1, "b", one, "of the first")
    log.result(1, 1, "a", two, "of the second")
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    ids = [
        (message["source"]["callId"], message["content"][0]["toolCallId"], event["sourceEventSeqs"])
        for event in samples.events(plan.data)
        if event["type"] == "tool/result"
        for message in [event["data"]["message"]]
    ]
    assert ids == [("a", "a", [one]), ("b", "b", [two])]


def test_results_that_cite_nothing_and_carry_no_id_are_not_guessed_at() -> None:
    """Of two open calls either could be meant: the results go to quarantine, the outcomes stay unknown."""
    log = Log()
    log.turn(1)
    log.step(1, 1)
    sources = [
        log.chunk(1, 1, type="tool-call-delta", index=index, id=identity, name="t", argumentsDelta="")
        for index, identity in enumerate("ab")
    ]
    log.assistant(1, 1, [{"type": "tool-call", "id": "", "name": "", "arguments": ""}] * 2, sources)
    calls = [log.call(1, 1, "", "", "") for _ in sources]
    results = [log.result(1, 1, "", 0, words, sourceEventSeqs=...) for words in ("one", "two")]
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    assert plan.draft is not None
    events = samples.events(plan.data)
    ends = [event for event in events if event["type"] == "tool/result"]
    assert [event["sourceEventSeqs"] for event in ends] == [[call] for call in calls]
    assert {event["data"]["error"]["code"] for event in ends} == {"TOOL_OUTCOME_UNKNOWN"}
    assert [entry.seq for entry in plan.draft.removed] == results
    assert [json.loads(entry.raw)["seq"] for entry in plan.draft.removed] == results


def test_an_unnamed_call_among_named_ones_goes_alone() -> None:
    """All six records are alike but for their seqs; what the results cite keeps them apart."""
    log = Log()
    log.turn(1)
    log.step(1, 1)
    deltas = ((0, "a", "t"), (1, "", ""), (2, "c", "t"))
    sources = [
        log.chunk(1, 1, type="tool-call-delta", index=index, id=identity, name=name, argumentsDelta="")
        for index, identity, name in deltas
    ]
    log.assistant(1, 1, [{"type": "tool-call", "id": "", "name": "", "arguments": ""}] * 3, sources)
    calls = [log.call(1, 1, "", "", "") for _ in deltas]
    for call in reversed(calls):
        log.result(1, 1, "", call, f"of {call}")
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    assert plan.draft is not None
    events = samples.events(plan.data)
    assert [block["id"] for block in events[5]["data"]["message"]["content"]] == ["a", "c"]
    results = {
        message["source"]["callId"]: message["content"][0]["content"][0]["text"]
        for event in events
        if event["type"] == "tool/result"
        for message in [event["data"]["message"]]
    }
    assert results == {"a": f"of {calls[0]}", "c": f"of {calls[2]}"}
    assert sum(event["type"] == "agent/inbox/spliced" for event in events) == 3
    assert len(plan.draft.removed) == 4


def test_a_rewritten_result_follows_its_original() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    source = log.chunk(1, 1, type="tool-call-delta", index=0, id="a", name="t", argumentsDelta="")
    log.assistant(1, 1, [{"type": "tool-call", "id": "", "name": "t", "arguments": ""}], [source])
    call = log.call(1, 1, "", "t", "")
    original = log.result(1, 1, "", call, "long")
    line = json.loads(log.lines[-1])
    line["data"]["message"]["content"][0]["content"] = [{"type": "text", "text": "pruned"}]
    line |= {"seq": log.seq, "sourceEventSeqs": [original]}
    line["surfaceOp"] = {"op": "replace", "start": original, "end": original}
    log.lines.append(samples.dumps(line))
    log.seq += 1
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.status == "repairable"
    assert plan.data is not None
    assert plan.data.count(b'"toolCallId":"a"') == 2


def test_dispatches_and_approvals_of_a_call_get_its_id() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    source = log.chunk(1, 1, type="tool-call-delta", index=0, id="a", name="code", argumentsDelta="")
    log.assistant(1, 1, [{"type": "tool-call", "id": "", "name": "code", "arguments": ""}], [source])
    call = log.call(1, 1, "", "code", "")
    log.add("approval/asked", {"id": "x", "toolName": "code", "callId": ""})
    part = {"rootCallId": "", "parentCallId": "", "subCallId": ":code:1", "name": "n", "arguments": 1}
    log.add("tool/code-dispatch-start", part)
    log.result(1, 1, "", call)
    log.end(1, 1)
    plan = plan_of(log.bytes())
    assert plan.data is not None
    assert b'"rootCallId":"a","parentCallId":"a","subCallId":"a:code:1"' in plan.data
    assert b'"toolName":"code","callId":"a"' in plan.data
