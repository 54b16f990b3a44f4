"""Plans: what is repaired opens, what is not at fault keeps its bytes, what is lost is said."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from deltafold.harness.document import open_document
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model.reader import answer
from deltafold.harness.repair.diff import diff, diff_lines
from deltafold.harness.repair.draft import Options, placeholder
from tests.harness import samples
from tests.harness.samples import Log, plan_of

HEALTHY = [
    "healthy-raw",
    "healthy-zstd",
    "healthy-raw-unpacked",
    "crash-after-tool-call",
    "crash-after-assistant-message",
    "header-only",
    "crlf-lines",
    "header-extra-key",
    "unknown-event-ignorable",
    "legacy-pre-identity-user",
    "legacy-pre-identity-tool-result",
    "layout-flat",
    "layout-duplicate-id",
    "layout-orphan-tmp",
    "zstd-two-batches",
    "zstd-header-frame-only",
    "zstd-no-checksum",
    "zstd-empty-frame",
]
LEFT_ALONE = ["turn-numbers-nonsense", "number-negative-zero", "arguments-not-json"]
UNDAMAGED = [
    "header-version-1",
    "header-version-minus-1",
    "header-retired-policy",
    "unknown-event-type",
    "legacy-header-delta",
    "legacy-mode-set",
    "legacy-header-fallback",
]
MISPLACED = ["header-id-mismatch", "header-cwd-mismatch", "layout-opposite-encoding"]
UNDECIDED = ["empty-file", "header-garbage", "header-not-session", "header-bad-origin"]
NOT_REPAIRED = [*HEALTHY, *LEFT_ALONE, *UNDAMAGED, *MISPLACED, *UNDECIDED]
REPAIRED = [name for name in samples.CASES if name not in NOT_REPAIRED]
STATUS = {
    **dict.fromkeys(HEALTHY, "healthy"),
    **dict.fromkeys(LEFT_ALONE, "left-alone"),
    **dict.fromkeys(UNDAMAGED, "not-damaged"),
    **dict.fromkeys(MISPLACED, "not-repairable"),
    **dict.fromkeys(UNDECIDED, "needs-decision"),
}


@pytest.mark.parametrize("name", NOT_REPAIRED)
def test_nothing_is_to_be_written(name: str) -> None:
    plan = samples.plan(name)
    assert plan.status == STATUS[name]
    assert plan.data is None
    assert plan.reasons or name in HEALTHY


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repaired_sample_opens(name: str) -> None:
    plan = samples.plan(name)
    assert plan.status == "repairable"
    assert plan.data is not None
    place = samples.place(name)
    assert answer(open_document(plan.data, place.compression, DEFAULT_LIMITS), place) == plan.after
    assert "ok" in (plan.after or {})
    assert [fault.kind for fault in plan.remaining if fault.kind != "turn-open"] == []


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repair_of_a_repaired_log_is_nothing(name: str) -> None:
    plan = samples.plan(name)
    assert plan.data is not None
    again = plan_of(plan.data, None, samples.place(name))
    assert (again.status, again.changes) == ("healthy", [])


@pytest.mark.parametrize("name", REPAIRED)
def test_every_line_that_differs_is_accounted_for(name: str) -> None:
    """Lines that no change names stand in the new file with their bytes and in their order."""
    plan = samples.plan(name)
    assert plan.data is not None
    assert plan.draft is not None
    place = samples.place(name)
    before = samples.text(samples.data(name), place.compression).split(b"\n")
    after = samples.text(plan.data, place.compression).split(b"\n")
    named = {change.line for change in plan.changes} | {entry.line for entry in plan.draft.removed}
    kept = [line for number, line in enumerate(before, 1) if number not in named and line]
    if name in ("dangling-call-closed-turn", "zstd-bad-checksum-middle"):
        return
    rest = iter(after)
    assert [line for line in kept if line not in rest] == []
    assert list(diff_lines(diff(plan.draft))) or name.startswith("zstd") or name == "header-no-newline"


@pytest.mark.parametrize("name", [name for name in REPAIRED if "zstd" in name])
def test_frames_stay_one_header_and_one_a_batch(name: str) -> None:
    plan = samples.plan(name)
    assert plan.data is not None
    old, new = samples.document(name), open_document(plan.data, "zstd", DEFAULT_LIMITS)
    assert new.torn_start is None
    assert new.structure_error is None
    first = new.frames[0].plain or b""
    assert first.count(b"\n") == 1
    assert first.endswith(b"\n")
    assert all(frame.plain is not None and frame.plain.endswith(b"\n") for frame in new.frames)
    kept = {old.data[frame.start : frame.end] for frame in old.frames if frame.plain is not None}
    fresh = [frame for frame in new.frames if new.data[frame.start : frame.end] not in kept]
    assert len(fresh) <= 2


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


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, case in samples.CASES.items()
        if case.get("afterLoad") and name != "last-turn-end-garbled"
    ],
)
def test_a_torn_tail_ends_as_a_load_would_have_ended_it(name: str) -> None:
    """The same text as the real loader leaves, but for what it gave up and we could keep."""
    compression = samples.CASES[name]["compression"]
    after = next((samples.FOLDER / samples.CASES[name]["afterLoad"]).glob("session.jsonl*")).read_bytes()
    if name == "crash-after-assistant-message":
        assert samples.plan(name).data is None
        return
    fresh = samples.plan(name).data
    assert fresh is not None
    assert samples.text(fresh, compression) == samples.text(after, compression)


def test_how_the_last_turn_ended_is_said_to_be_lost() -> None:
    plan = samples.plan("last-turn-end-garbled")
    assert plan.lost == ["line 45: 93 bytes that were a turn/end; how that turn ended is lost"]
    assert plan.draft is not None
    assert plan.draft.removed[0].raw.endswith(b'"reason":{"kind":"complete#')
    after = next((samples.FOLDER / "last-turn-end-garbled" / "after-load").iterdir()).read_bytes()
    assert plan.data == after


def test_a_complete_last_line_without_its_end_is_kept() -> None:
    log = Log()
    log.whole_turn(1)
    plan = plan_of(log.bytes()[:-1])
    assert plan.data == log.bytes()
    assert plan.lost == []


def test_records_that_were_joined_are_parted() -> None:
    log = Log()
    log.whole_turn(1)
    whole = log.bytes()
    lines = whole.split(b"\n")
    glued = b"\n".join([*lines[:2], lines[2] + lines[3], *lines[4:]])
    assert plan_of(glued).data == whole
    torn = b"\n".join([*lines[:2], lines[2][:20] + lines[2], *lines[3:]])
    plan = plan_of(torn)
    assert plan.data == whole
    assert plan.draft is not None
    assert [entry.raw for entry in plan.draft.removed] == [lines[2][:20]]


def test_two_files_joined_into_one() -> None:
    log = Log()
    log.whole_turn(1)
    plan = plan_of(log.bytes() + log.bytes())
    assert plan.data == log.bytes()
    assert Counter(change.kind for change in plan.changes) == {"line-not-event": 1, "seq-duplicate": 6}


def test_a_wrong_seq_between_right_ones_is_set_right() -> None:
    log = Log()
    log.whole_turn(1)
    whole = log.bytes()
    for wrong in (b'"seq":99,', b'"seq":"x",', b'"seq":null,', b'"seq":0,'):
        assert plan_of(whole.replace(b'"seq":2,', wrong)).data == whole


def test_duplicates_are_dropped_and_of_a_packed_row_the_rest_is_kept() -> None:
    name = "healthy-raw"
    lines = samples.data(name).split(b"\n")
    row = next(at for at, line in enumerate(lines) if b'"reasoning-chunks"' in line)
    first = {"type": "assistant/chunk", "seq": 8, "time": 1796041763263}
    chunk = {"type": "reasoning-delta", "index": 0, "text": "User "}
    alone = samples.dumps({**first, "data": {"turn": 1, "step": 1, "chunk": chunk}})
    plan = plan_of(b"\n".join([*lines[:row], alone, *lines[row:]]), None, samples.place(name))
    assert plan.status == "repairable"
    assert plan.data is not None
    assert samples.events(plan.data) == samples.events(samples.data(name))


def forked() -> tuple[bytes, bytes, bytes]:
    """A log with a fork: (both branches, the first alone, the second alone)."""
    trunk = Log()
    trunk.whole_turn(1)
    first, second = Log(lines=[*trunk.lines], seq=trunk.seq), Log(lines=[*trunk.lines], seq=trunk.seq)
    first.whole_turn(2, "one way")
    second.whole_turn(2, "another way")
    second.whole_turn(3, "and on")
    own = [line + b"\n" for line in second.lines[len(trunk.lines) :]]
    start = next(
        at for at, (one, two) in enumerate(zip(first.lines, second.lines, strict=False)) if one != two
    )
    shared = start - len(trunk.lines)
    return first.bytes() + b"".join(own), first.bytes(), second.bytes() if shared >= 0 else b""


def test_a_fork_is_never_merged() -> None:
    both, first, second = forked()
    undecided = plan_of(both)
    assert (undecided.status, undecided.data) == ("needs-decision", None)
    assert [choice["option"] for choice in undecided.choices()] == [
        "--fork first",
        "--fork last",
        "--checkpoint",
    ]
    assert plan_of(both, Options(fork="first")).data == first
    assert plan_of(both, Options(fork="last")).data == second


def test_two_writers_at_once_leave_no_last_branch() -> None:
    log = Log()
    log.turn(1)
    for turn in range(3):
        for words in ("a", "b"):
            log.seq = 1 + turn
            log.user(words)
    plan = plan_of(log.bytes(), Options(fork="last"))
    assert plan.status == "needs-decision"
    assert "two writers" in plan.reasons[0]
    first = plan_of(log.bytes(), Options(fork="first"))
    assert first.after == {"ok": {"events": 3, "last": "turn/end"}}


def test_what_a_gap_proves_is_rebuilt_and_the_rest_gets_placeholders() -> None:
    found = samples.events(samples.plan("seq-gap-committed").data or b"")
    lost = samples.events(samples.data("healthy-raw"))[27]
    assert {**found[27], "time": 0} == {**lost, "time": 0}
    seven = samples.events(samples.plan("seq-gap-at-turn-end").data or b"")
    assert seven[53:60] == [placeholder(seq, 1) for seq in range(53, 60)]


@pytest.mark.parametrize("seq", range(1, 51))
def test_any_single_lost_record_is_survived(seq: int) -> None:
    """Each record of the healthy log is taken out in turn; it opens again with all others in place."""
    healthy = samples.data("healthy-raw-unpacked")
    lines = healthy.split(b"\n")
    without = [line for line in lines if b'"seq":%d,' % seq not in line]
    plan = plan_of(b"\n".join(without), None, samples.place("healthy-raw"))
    assert plan.status == "repairable"
    assert plan.data is not None
    events, old = samples.events(plan.data), samples.events(healthy)
    assert events[:seq] == old[:seq]
    assert events[seq + 1 :] == old[seq + 1 :]
    structural = {"turn/start", "step/start", "step/end", "tool/call"}
    if old[seq]["type"] in structural:
        assert {**events[seq], "time": 0} == {**old[seq], "time": 0}
    if old[seq]["type"] == "tool/result":
        assert events[seq]["data"]["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"


def test_a_call_left_open_in_a_closed_turn_gets_an_unknown_outcome() -> None:
    plan = samples.plan("dangling-call-closed-turn")
    assert plan.data is not None
    events = samples.events(plan.data)
    assert [event["seq"] for event in events] == list(range(28))
    result = events[25]
    assert result["type"] == "tool/result"
    assert result["sourceEventSeqs"] == [24]
    assert result["data"]["error"] == {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
    old = samples.data("dangling-call-closed-turn").split(b"\n")
    new = plan.data.split(b"\n")
    assert new[: len(old) - 3] == old[:-3]
    assert new[-3] == old[-3].replace(b'"seq":25', b'"seq":26')


def test_renumbering_moves_every_reference_and_nothing_else() -> None:
    log = Log(header={**samples.HEADER, "parentSession": "p", "seedLength": 8})
    log.turn(1)
    log.step(1, 1)
    user = log.user("x")
    log.assistant(1, 1, [{"type": "tool-call", "id": "a", "name": "t", "arguments": "{}"}])
    log.call(1, 1, "a", "t")
    log.end(1, 1, "max-tokens")
    log.add("session/end-seed", {})
    later = log.seq
    log.turn(2)
    log.step(2, 1)
    second = log.user("y")
    chunk = log.chunk(2, 1, type="text-delta", index=0, text="25")
    log.assistant(2, 1, [{"type": "text", "text": "25"}], [chunk])
    log.add("session/title", {"title": "t", "messageSeqs": [user, second], "source": {"kind": "fallback"}})
    framed = "Generate the session title from this JSON array of human messages:\n" + json.dumps(
        [{"seq": second, "text": "y"}], separators=(",", ":")
    )
    request = {"titleProvider": "x", "messageSeqs": [second], "messages": [{"content": [{"text": framed}]}]}
    log.add("session/title-llm-request", request)
    log.add("command/done", {"commandId": "c", "kind": "success", "sourceEventSeq": second})
    span = {
        "shadowedRange": {"start": second, "end": second},
        "shadowedSeqs": [second],
        "shadowedTokenCount": 1,
    }
    log.add("compaction/prune", span)
    message = {"content": [], "source": {"kind": "user"}, "role": "user", "id": "n"}
    replace = {"op": "replace", "start": second, "end": second}
    log.add("user/message", message, sourceEventSeqs=[second], surfaceOp=replace)
    log.end(2, 1)
    plan = plan_of(log.bytes())
    assert plan.status == "repairable", plan.reasons
    assert plan.data is not None
    new = samples.events(plan.data)
    assert [event["seq"] for event in new] == list(range(len(log.lines) + 1))
    assert json.loads(plan.data.split(b"\n")[0])["seedLength"] == 9
    by_type = {event["type"]: event for event in new if event["seq"] > later}
    assert by_type["assistant/message"]["sourceEventSeqs"] == [chunk + 1]
    assert by_type["session/title"]["data"]["messageSeqs"] == [user, second + 1]
    asked = by_type["session/title-llm-request"]["data"]
    assert asked["messageSeqs"] == [second + 1]
    assert asked["messages"][0]["content"][0]["text"].endswith(f'[{{"seq":{second + 1},"text":"y"}}]')
    assert by_type["command/done"]["data"]["sourceEventSeq"] == second + 1
    assert by_type["compaction/prune"]["data"]["shadowedRange"] == {"start": second + 1, "end": second + 1}
    assert by_type["user/message"]["surfaceOp"]["start"] == second + 1
    assert b'"text":"25"' in plan.data


def test_a_call_that_was_never_started_says_so() -> None:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    log.assistant(1, 1, [{"type": "tool-call", "id": "a", "name": "t", "arguments": "{}"}])
    log.end(1, 1)
    plan = plan_of(log.bytes())
    result = samples.events(plan.data or b"")[3]
    assert result["data"]["error"]["code"] == "TOOL_NOT_STARTED"
    assert result["data"]["message"]["id"] == "interrupted-tool-result-a-3"
    assert "sourceEventSeqs" not in result


def test_the_checkpoint_is_offered_and_can_be_taken() -> None:
    plan = samples.plan("null-line-tail")
    assert plan.choices() == [
        {"option": "--checkpoint", "seq": 51, "keeps": "52 events", "gives_up_lines": 1},
    ]
    cut = samples.plan("user-no-source", Options(checkpoint=True))
    assert cut.after == {"ok": {"events": 0}}
    log = Log()
    log.whole_turn(1)
    log.whole_turn(2)
    broken = log.bytes().replace(b'"id":"u8"', b'"id":5')
    plan = plan_of(broken, Options(checkpoint=True))
    assert plan.data == b"\n".join(log.bytes().split(b"\n")[:7]) + b"\n"
    assert plan.draft is not None
    assert len(plan.draft.removed) == 6


@pytest.mark.parametrize("name", ["header-garbage", "header-not-session"])
def test_a_lost_header_is_rebuilt_when_its_directory_is_known(name: str) -> None:
    plan = samples.plan(name, Options(cwd="/home/demo"))
    assert plan.after == {"ok": {"events": 52, "last": "turn/end"}}
    wrong = samples.plan(name, Options(cwd="/somewhere/else"))
    assert wrong.status == "needs-decision"


def test_members_that_a_damaged_header_still_shows_are_kept() -> None:
    content = samples.data("healthy-raw").replace(b'"version":0', b'"version"#0')
    plan = plan_of(content, None, samples.place("healthy-raw"))
    assert plan.data == samples.data("healthy-raw")


def test_neighbours_tell_the_directory_of_a_lost_header(tmp_path: Any) -> None:
    log = Log()
    log.whole_turn(1)
    broken = log.write(tmp_path, session="s")
    broken.write_bytes(b"{oops" + log.bytes()[log.bytes().index(b"\n") :])
    Log(header={**samples.HEADER, "id": "other"}).write(tmp_path, session="other")
    plan = plan_of(broken.read_bytes(), None, samples.place_of(str(broken)))
    assert plan.data == log.bytes()


def test_a_frame_that_fails_its_check_is_read_and_said_to_be_unverified() -> None:
    plan = samples.plan("zstd-bad-checksum-middle")
    assert plan.data is not None
    healthy = samples.text(samples.data("zstd-two-batches"), "zstd")
    assert samples.text(plan.data, "zstd") == healthy
    assert plan.lost == ["frame at byte 114: its text could not be verified"]


def test_a_damaged_frame_gives_what_stands_before_the_damage() -> None:
    log = Log()
    for turn in range(1, 400):
        log.whole_turn(turn, "words " * turn)
    content = bytearray(log.zstd())
    content[len(content) * 3 // 4] ^= 0xFF
    plan = plan_of(bytes(content), None, samples.Place("x.zstd", None, "zstd", None))
    assert plan.status == "repairable"
    assert 100 < plan.after["ok"]["events"] <= len(log.lines)  # type: ignore[index, call-overload, operator]


def test_the_plan_as_json_says_what_before_and_after() -> None:
    shown = samples.plan("poison-empty-identity-raw").to_dict()
    assert shown["status"] == "repairable"
    assert shown["after"] == {"ok": {"events": 41, "last": "turn/end"}}
    changes = shown["changes"]
    assert isinstance(changes, list)
    assert changes[0] == {
        "kind": "block-id-empty",
        "why": "as its stream or its other records have it",
        "origin": "recovered",
        "seq": 15,
        "line": 15,
        "member": "data.message.content.0.id",
        "old": '""',
        "new": '"call_00_x"',
    }
