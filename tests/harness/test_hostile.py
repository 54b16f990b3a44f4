"""Hostile input is bounded, named and refused; nothing outside the session is read or written."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from deltafold.cli import main
from deltafold.harness import document, source, zstd
from deltafold.harness.check import Scan, check_place
from deltafold.harness.faults import find_faults
from deltafold.harness.layout import (
    Place,
    decode_segment,
    encode_segment,
    index_root,
    log_path,
    place_of,
    project_key,
)
from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.model import reader, surface
from deltafold.harness.repair import draft
from deltafold.harness.repair.apply import apply_plan, restore_file
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import make_plan
from tests.harness import hostile, samples
from tests.harness.samples import LOOSE, Log, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("kind", hostile.MAKERS)
def test_refused_by_name(kind: str, tmp_path: Path) -> None:
    path = hostile.MAKERS[kind](tmp_path)
    result = check_place(place_of(str(path)), None, hostile.LIMITS)
    assert [fault.kind for fault in result.faults] == [kind]
    assert result.answer["error"] == "Refused"
    assert not result.readable


def test_a_bomb_costs_no_more_than_the_limit(tmp_path: Path) -> None:
    path = hostile.bomb(tmp_path)
    assert path.stat().st_size < 100_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = check_place(place_of(str(path)), None, hostile.LIMITS)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.faults[0].kind == "plain-too-large"
    assert grown < 64 << 10


def repeated(byte: bytes, size: int) -> bytes:
    """A frame that unpacks to one byte many times over, in blocks of 128 KiB that take 4 bytes each."""
    block = (1 << 17 << 3 | 1 << 1).to_bytes(3, "little") + byte
    last = (1 << 17 << 3 | 1 << 1 | 1).to_bytes(3, "little") + byte
    return b"\x28\xb5\x2f\xfd\x00\x58" + block * ((size >> 17) - 1) + last


@pytest.mark.parametrize(
    ("byte", "size", "kind"),
    [
        (b"x", 1 << 30, "plain-too-large"),
        (b"\n", 1 << 40, "plain-too-large"),
        (b"x", 128 << 20, "line-too-long"),
    ],
)
def test_a_line_of_a_gigabyte_and_a_terabyte_of_lines(
    byte: bytes, size: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the limits as they are: refused by name; what its blocks say is enough, nothing is unpacked."""
    path = tmp_path / "--w--" / "s" / "session.jsonl.zstd"
    path.parent.mkdir(parents=True)
    header = zstd.encode_frame(samples.dumps(Log().header) + b"\n")
    path.write_bytes(header + repeated(byte, size) + zstd.encode_frame(b"\n"))
    pulled: list[int] = []
    real = zstd._pull
    monkeypatch.setattr(zstd, "_pull", lambda *given: pulled.append(1) or real(*given))
    result = check_place(place_of(str(path)))
    assert [fault.kind for fault in result.faults] == [kind]
    assert bool(pulled) is (kind == "line-too-long")
    code = main(["harness", "repair", "--apply", str(path)])
    assert code == 3
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_plain_line_of_a_gigabyte(tmp_path: Path) -> None:
    log = Log()
    log.whole_turn(1)
    path = log.write(tmp_path)
    os.truncate(path, 1 << 30)
    assert [fault.kind for fault in check_place(place_of(str(path))).faults] == ["file-too-large"]
    os.truncate(path, 128 << 20)
    assert [fault.kind for fault in check_place(place_of(str(path))).faults] == ["line-too-long"]


def test_a_file_that_lies_about_its_size_is_no_bomb(tmp_path: Path) -> None:
    """The frame header promises 2^50 bytes; memory follows what comes, not what is promised."""
    promised = (1 << 50).to_bytes(8, "little")
    frame = b"\x28\xb5\x2f\xfd" + bytes([0b11000000, 0x50]) + promised + b"\x19\x00\x00abc"
    path = tmp_path / "x.zstd"
    path.write_bytes(frame)
    result = check_place(place_of(str(path)))
    assert "frame at byte 0 failed validation" in str(result.answer["message"])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    result = check_place(place_of(str(tmp_path / "--w--" / "s" / "session.jsonl")))
    assert [fault.kind for fault in result.faults] == ["file-unreadable"]
    folder = tmp_path / "--w--" / "d" / "session.jsonl"
    folder.mkdir(parents=True)
    assert check_place(place_of(str(folder))).faults[0].kind in ("file-unreadable", "file-not-regular")


def test_a_file_that_changes_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Log().write(tmp_path)
    states = iter(range(100))
    monkeypatch.setattr(source.Stamp, "of", classmethod(lambda cls, _status: cls(0, 0, 0, next(states), 0)))
    assert check_place(place_of(str(path))).faults[0].kind == "file-changing"


def test_without_a_zstd_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(zstd, "_loaded", [])
    monkeypatch.setattr(zstd, "import_module", missing)
    result = check_place(samples.place("healthy-zstd"))
    assert [fault.kind for fault in result.faults] == ["zstd-missing"]


def test_a_fault_of_the_check_itself_is_a_result_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_rest: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr(reader, "inspect", broken)
    result = check_place(samples.place("healthy-raw"))
    assert "ZeroDivisionError" in str(result.answer["message"])


def test_what_no_rule_names_is_still_named(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"error": "Error", "message": "something new"}
    monkeypatch.setattr("deltafold.harness.check.reader.answer", lambda *_rest: answer)
    result = check_place(samples.place("healthy-raw"))
    assert [fault.kind for fault in result.faults] == ["reader-refuses"]


def test_links_below_a_root_are_not_followed(tmp_path: Path) -> None:
    base = tmp_path / "root"
    Log().write(base)
    outside = tmp_path / "outside"
    Log().write(outside)
    (base / "--linked--").symlink_to(outside / "--w--")
    (base / "--w--" / "linked").symlink_to(outside / "--w--" / "s")
    index = index_root(str(base))
    assert [place.path for place in index.places] == [str(base / "--w--" / "s" / "session.jsonl")]
    assert len(index.links) == 2
    results = list(Scan().run([str(base)]))
    assert [fault.kind for result in results for fault in result.faults] == ["file-link", "file-link"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("which", ["project", "session"])
def test_a_link_on_the_way_from_the_root_is_not_followed(which: str, tmp_path: Path) -> None:
    """Also where the path of the file itself is given: it would leave the root."""
    base, outside = tmp_path / "root", tmp_path / "outside"
    target = samples.copy("poison-empty-identity-raw", outside)
    project, session = target.parent.parent.name, target.parent.name
    path = base / project / session / target.name
    plan = make_plan(target.read_bytes(), place_of(str(path)), Options(), DEFAULT_LIMITS)
    link = base / project if which == "project" else base / project / session
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / link.relative_to(base))
    assert path.read_bytes() == target.read_bytes()
    assert [fault.kind for fault in check_place(place_of(str(path))).faults] == ["file-link"]
    for run in (lambda: apply_plan(plan, DEFAULT_LIMITS), lambda: restore_file(str(path), DEFAULT_LIMITS)):
        with pytest.raises(RefusedError) as refused:
            run()
        assert refused.value.kind == "file-link"
    assert list(target.parent.iterdir()) == [target]
    assert target.read_bytes() == samples.data("poison-empty-identity-raw")


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    path = samples.copy("poison-empty-identity-raw", tmp_path / "disk")
    (tmp_path / "sessions").symlink_to(tmp_path / "disk")
    (result,) = Scan().run([str(tmp_path / "sessions")])
    plan = make_plan(path.read_bytes(), result.place, Options(), DEFAULT_LIMITS)
    assert result.place.path.startswith(str(tmp_path / "sessions"))
    apply_plan(plan, DEFAULT_LIMITS)
    assert path.read_bytes() == plan.data


@pytest.mark.parametrize(
    ("session", "segment"),
    [
        ("plain-1.x_y", "plain-1.x_y"),
        ("../../etc", "..~002F..~002Fetc"),
        (".", "~002E"),
        ("..", "~002E~002E"),
        ("a/b", "a~002Fb"),
        ("~", "~007E"),
        ("\x00", "~0000"),
        ("\U0001f600", "~D83D~DE00"),
        ("\ud83d", "~D83D"),
    ],
)
def test_no_id_leaves_its_directory(session: str, segment: str) -> None:
    assert encode_segment(session) == segment
    assert decode_segment(segment) == session
    assert log_path("/r", "/w", session, "none") == f"/r/--w--/{segment}/session.jsonl"


@pytest.mark.parametrize("name", ["a~", "~12", "~002f", "~0061", "a b", "", "~002E~002Ex"])
def test_names_that_no_id_encodes_to(name: str) -> None:
    assert decode_segment(name) is None or encode_segment(str(decode_segment(name))) == name
    assert name == "~002E~002Ex" or decode_segment(name) is None


@pytest.mark.parametrize(
    ("cwd", "key"),
    [
        ("/home/demo", "--home-demo--"),
        ("C:\\Users\\x", "--C-Users-x--"),
        ("/", "--root--"),
        ("/a b", "--a~0020b--"),
        ("/" + "x" * 300, "--" + "x" * 251 + "--"),
        (5, "--root--"),
        ({}, "--root--"),
    ],
)
def test_project_keys(cwd: object, key: str) -> None:
    assert project_key(cwd) == key  # type: ignore[arg-type]


def test_the_header_cannot_name_a_path_outside(tmp_path: Path) -> None:
    log = Log(header={**samples.HEADER, "id": "../../../etc/passwd"})
    path = log.write(tmp_path)
    result = check_place(place_of(str(path)))
    assert result.faults[0].kind == "layout-identity"
    assert make_plan(path.read_bytes(), place_of(str(path)), Options(), DEFAULT_LIMITS).data is None


def test_a_gap_of_nine_quadrillion_is_not_filled() -> None:
    log = Log()
    log.whole_turn(1)
    log.seq = 9_007_199_254_740_000
    log.whole_turn(2)
    plan = plan_of(log.bytes())
    assert plan.status == "needs-decision"
    assert "too many to fill" in plan.reasons[0]
    assert plan.checkpoint is not None
    cut = plan_of(log.bytes(), Options(checkpoint=True))
    assert (cut.status, cut.after) == ("repairable", {"ok": {"events": 6, "last": "turn/end"}})


def test_a_million_brackets_are_read_and_repaired() -> None:
    log = Log()
    log.whole_turn(1)
    deep = b"[" * 200_000 + b"]" * 200_000
    content = (
        log.bytes()
        .replace(b'"hello"', b'"hello","deep":' + deep)
        .replace(b'"turn":1,"reason"', b'"turn":1,"x":1,"reason"')
    )
    plan = plan_of(content)
    assert plan.status == "repairable"
    assert plan.data is not None
    assert deep in plan.data


def test_replacements_that_search_too_long_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    log.turn(1)
    seqs = [log.user("x") for _ in range(50)]
    for seq in seqs:
        message = {"content": [], "source": {"kind": "user"}, "role": "user", "id": "n"}
        replaced = {"op": "replace", "start": seq, "end": seq}
        log.add("user/message", message, sourceEventSeqs=[seq], surfaceOp=replaced)
    path = log.write(tmp_path)
    assert check_place(place_of(str(path))).answer == {"ok": {"events": 102, "last": "turn/end"}}
    monkeypatch.setattr(surface, "DEFAULT_LIMITS", replace(DEFAULT_LIMITS, work=1000))
    assert [fault.kind for fault in check_place(place_of(str(path))).faults] == ["file-too-complex"]


def poisoned(turns: int, calls: int) -> bytes:
    """A log of many turns with many poisoned calls in one message each; the stream alone tells their ids."""
    log = Log()
    for turn in range(1, turns + 1):
        log.turn(turn)
        log.step(turn, 1)
        places = range(calls)
        sources = [
            log.chunk(
                turn, 1, type="tool-call-delta", index=at, id=f"c{turn}-{at}", name="t", argumentsDelta=""
            )
            for at in places
        ]
        block = {"type": "tool-call", "id": "", "name": "", "arguments": ""}
        log.assistant(turn, 1, [block] * calls, sources)
        started = [log.call(turn, 1, "", "", "") for _ in places]
        for call in started:
            log.result(turn, 1, "", call)
        log.end(turn, 1)
    return log.bytes()


def work_of(run: Callable[[], object]) -> int:
    """Count the calls of Python functions that something makes."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_check_and_plan_are_linear() -> None:
    """Twice the turns or twice the calls of a message is twice the work; a plan is linear in the turns."""

    def check(content: bytes) -> int:
        opened = document.open_document(content, "none", DEFAULT_LIMITS)
        return work_of(lambda: find_faults(opened, LOOSE, reader.answer(opened, LOOSE)))

    turns, more_turns = poisoned(10, 4), poisoned(20, 4)
    assert check(more_turns) <= 2.2 * check(turns) + 1000
    assert check(poisoned(2, 80)) <= 2.2 * check(poisoned(2, 40)) + 1000
    assert plan_of(more_turns).status == "repairable"
    assert work_of(lambda: plan_of(more_turns)) <= 2.2 * work_of(lambda: plan_of(turns)) + 1000


def test_a_line_that_wants_too_many_changes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "_ROW_WORK", 10_000)
    plan = plan_of(poisoned(1, 30))
    assert (plan.status, plan.data) == ("needs-decision", None)
    assert plan.reasons == ["more changes in one line than a repair makes"]


def test_no_more_placeholders_than_the_limit() -> None:
    log = Log()
    for _ in range(30):
        log.add("step/start", {"turn": 1, "step": 1})
        log.seq += 500
    plan = plan_of(log.bytes())
    assert plan.status == "needs-decision"
    assert "too many to fill" in plan.reasons[0]


def test_text_is_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many frames that hold one line together: the pieces are joined once, not again for each frame."""
    joined: list[int] = []
    real = document._Builder._emit

    def counted(self: document._Builder, frame: int, *, ended: bool) -> None:
        joined.append(self.pending_size)
        real(self, frame, ended=ended)

    monkeypatch.setattr(document._Builder, "_emit", counted)
    body = b"".join(zstd.encode_frame(b"x" * 100) for _ in range(2000))
    data = zstd.encode_frame(b"{}\n") + body + zstd.encode_frame(b"\n")
    document.open_document(data, "zstd", DEFAULT_LIMITS)
    assert joined == [2, 200_000]


def test_a_place_outside_the_layout_is_judged_alone(tmp_path: Path) -> None:
    path = tmp_path / "attached.jsonl"
    path.write_bytes(samples.data("healthy-raw"))
    place = place_of(str(path))
    assert place == Place(str(path), None, "none", None)
    assert check_place(place).answer == {"ok": {"events": 52, "last": "turn/end"}}


def test_refusals_carry_kind_and_text() -> None:
    error = RefusedError("kind", "text")
    assert (error.kind, error.message, str(error)) == ("kind", "text", "text")
