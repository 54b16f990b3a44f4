"""Gaps, duplicates, forks, torn tails, garbled lines, open calls: what is kept, what is said to be lost."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from deltafold.harness import zstd
from deltafold.harness.repair.draft import Options, placeholder
from tests.harness import samples
from tests.harness.samples import Log, plan_of


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


def test_a_garbled_last_turn_end_in_a_frame_is_said_to_be_lost_too() -> None:
    """There a load refuses the session instead of ending the turn anew."""
    header, _, rest = samples.data("last-turn-end-garbled").partition(b"\n")
    content = zstd.encode_frame(header + b"\n") + zstd.encode_frame(rest)
    plan = plan_of(content, None, samples.Place("session.jsonl.zstd", None, "zstd", None))
    assert "torn JSONL record" in str(plan.before["message"])
    assert plan.lost == ["line 45: 93 bytes that were a turn/end; how that turn ended is lost"]
    assert samples.events(plan.data or b"", "zstd")[-1]["data"]["reason"] == {"kind": "interrupted"}


def test_a_lone_surrogate_gives_way_to_a_sign_and_nothing_else_changes() -> None:
    plan = samples.plan("lone-surrogate")
    old = samples.data("lone-surrogate")
    assert plan.data == old.replace(rb"\ud83d", rb"\ufffd") != old
    assert [(change.kind, change.origin) for change in plan.changes] == [("lone-surrogate", "derived")]


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
    opens = [{"events": 12, "last": "turn/end"}, {"events": 18, "last": "turn/end"}, None]
    assert [choice.get("then", {}).get("ok") for choice in undecided.choices()] == opens
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
