"""Plans: what is repaired opens, what is not at fault keeps its bytes, a second repair is none."""

from __future__ import annotations

from typing import Any

import pytest

from deltafold.harness import zstd
from deltafold.harness.document import open_document
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model.reader import answer
from deltafold.harness.repair.diff import diff, diff_lines
from deltafold.harness.repair.draft import Options
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


def batches(content: bytes, size: int) -> bytes:
    """A plain log as the Harness writes it compressed: the header alone, then some lines a frame."""
    header, *rest = content.splitlines(keepends=True)
    parts = [header, *(b"".join(rest[at : at + size]) for at in range(0, len(rest), size))]
    return b"".join(map(zstd.encode_frame, parts))


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("name", ["poison-empty-identity-raw", "poison-parallel-empty-raw"])
def test_only_the_frames_of_touched_lines_are_written_anew(name: str, size: int) -> None:
    where = samples.Place("session.jsonl.zstd", None, "zstd", None)
    plan = plan_of(batches(samples.data(name), size), None, where)
    mended = samples.plan(name)
    assert plan.data is not None
    assert mended.data is not None
    old, new = (
        open_document(data, "zstd", DEFAULT_LIMITS) for data in (batches(samples.data(name), size), plan.data)
    )
    assert [frame.plain for frame in new.frames] == [
        frame.plain for frame in open_document(batches(mended.data, size), "zstd", DEFAULT_LIMITS).frames
    ]
    for one, two in zip(old.frames, new.frames, strict=True):
        kept = old.data[one.start : one.end] == new.data[two.start : two.end]
        assert kept is (one.plain == two.plain)


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
