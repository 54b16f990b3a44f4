"""The command: exit codes, words, JSON lines, and nothing that a session says reaches the terminal raw."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.cli import main
from deltafold.harness.repair import apply, plan
from tests.harness import samples
from tests.harness.samples import Log
from tests.harness.test_repair import NOT_REPAIRED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAMPLES = samples.FOLDER


pytestmark = pytest.mark.usefixtures("quick")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["harness", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("healthy-raw", 0),
        ("crash-after-tool-call", 0),
        ("torn-tail-mid-turn", 1),
        ("zstd-torn-checksum", 1),
        ("lone-surrogate", 2),
        ("poison-empty-identity-zstd", 2),
        ("seq-gap-committed", 2),
    ],
)
def test_check_exit_codes(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    found, out, _ = run(capsys, "check", str(samples.root(name)))
    assert found == code
    assert ("opens: " in out) or ("refused: " in out)
    assert re.search(r"\d clean, \d torn tail, \d damaged, \d unreadable", out)


def test_check_names_the_place_of_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "check", str(samples.root("poison-empty-identity-zstd")))
    assert "result-id-empty: message must have tool source (seq 17, line 17, byte 3072, frame 113)" in out


def test_nothing_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "show", "export", "repair", "restore"):
        code, _, err = run(capsys, command, str(tmp_path / "nothing"))
        assert code == 3
        assert "no session at" in err


def test_check_of_a_root_shows_what_is_at_fault_and_counts_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log()
    log.whole_turn(1)
    log.write(tmp_path)
    Log(header={**samples.HEADER, "id": "t"}, lines=[b"null"]).write(tmp_path, session="t")
    code, out, err = run(capsys, "check", "--progress", str(tmp_path))
    assert code == 2
    assert out.count("session.jsonl") == 1
    assert out.endswith("1 clean, 0 torn tail, 1 damaged, 0 unreadable\n")
    assert "2/2 sessions" in err


EVIL = "\x1b[2J\x07\x9b31m\u202e\u2028\r\nid"


def evil_log() -> Log:
    log = Log()
    log.turn(1)
    log.step(1, 1)
    log.user(EVIL)
    log.assistant(1, 1, [{"type": "tool-call", "id": EVIL, "name": EVIL, "arguments": EVIL}])
    log.call(1, 1, EVIL, "", EVIL)
    log.add(EVIL, {"x": EVIL}, ignorable=True)
    log.end(1, 1)
    log.lines.append(b'{"type":"\x1b[31m')
    return log


@pytest.mark.parametrize("command", ["check", "show", "export", "repair"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_control_characters_are_shown_and_not_obeyed(
    command: str, form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = evil_log().write(tmp_path)
    _, out, err = run(capsys, command, *form, str(path))
    assert out
    for text in (out, err):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", text)
    if form:
        assert out.isascii()
        lines(out)


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", str(samples.root("healthy-zstd")))
    assert code == 0
    assert "user/message" in out
    assert "Weather in Paris?" in out
    assert "'get_weather'" in out
    code, out, _ = run(capsys, "show", "--json", str(samples.root("poison-empty-identity-raw")))
    assert code == 2
    entry = lines(out)[0]
    assert [item["type"] for item in entry["outline"]][:3] == ["turn/start", "step/start", "user/message"]


def test_export_gives_every_record_and_the_bytes_of_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "export", str(samples.root("unparsable-committed")))
    assert code == 2
    entries = lines(out)
    assert entries[0]["header"]["id"] == "session-healthy"
    events = [entry["event"] for entry in entries if "event" in entry]
    assert events == samples.events(samples.data("unparsable-committed"))
    broken = next(entry for entry in entries if "base64" in entry)
    assert broken["line"] == 24
    assert [fault["kind"] for fault in broken["faults"]] == ["line-unparsable"]


def test_export_of_a_file_that_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    log.whole_turn(1)
    path = log.write(tmp_path)
    for command in ("export", "show", "repair", "check"):
        code, out, _ = run(capsys, command, "--max-bytes", "100", "--json", str(path))
        assert code == 3
        assert lines(out)[0]["faults"][0]["kind"] == "file-too-large"


def test_repair_is_dry_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples.copy("poison-empty-identity-raw", tmp_path / "root")
    before = sorted(tmp_path.rglob("*"))
    code, out, _ = run(capsys, "repair", str(tmp_path / "root"))
    assert code == 1
    assert path.read_bytes() == samples.data("poison-empty-identity-raw")
    assert sorted(tmp_path.rglob("*")) == before
    assert "then opens: 41 events, last turn/end" in out
    assert re.search(r'^  - 16: .*"callId":"","name":""', out, re.MULTILINE)
    assert re.search(r'^  \+ 16: .*"callId":"call_00_x","name":"get_weather"', out, re.MULTILINE)


def test_repair_apply_check_restore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples.copy("poison-parallel-empty-raw", tmp_path / "root")
    code, out, _ = run(capsys, "repair", "--apply", "--json", str(tmp_path / "root"))
    assert code == 0
    shown = lines(out)[0]
    assert shown["status"] == "repairable"
    assert shown["done"]["action"] == "repaired"
    assert len(shown["diff"]) == 9
    assert run(capsys, "check", str(path))[0] == 0
    code, out, _ = run(capsys, "restore", "--json", str(path))
    assert code == 0
    assert lines(out)[0]["done"]["action"] == "restored"
    assert path.read_bytes() == samples.data("poison-parallel-empty-raw")
    code, out, _ = run(capsys, "restore", str(path))
    assert code == 2
    assert "not what any repair left" in out


def test_repair_of_a_root_with_apply_leaves_the_healthy_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = Log()
    healthy.whole_turn(1)
    good = healthy.write(tmp_path)
    broken = Log(header={**samples.HEADER, "id": "t"}, lines=[*healthy.lines, b"null"]).write(
        tmp_path, session="t"
    )
    state = good.stat()
    assert run(capsys, "repair", "--apply", str(tmp_path))[0] == 0
    assert good.stat() == state
    assert broken.read_bytes().count(b"null") == 0
    code, out, _ = run(capsys, "restore", str(tmp_path))
    assert code == 0
    assert "no-backup" in out


@pytest.mark.parametrize("name", NOT_REPAIRED)
def test_apply_touches_nothing_where_nothing_is_to_be_repaired(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a byte nor a time, and no file beside it."""
    path = samples.copy(name, tmp_path / "root")
    before = {entry: entry.stat() for entry in tmp_path.rglob("*") if entry.is_file()}
    run(capsys, "repair", "--apply", str(path))
    after = {entry: entry.stat() for entry in tmp_path.rglob("*") if entry.is_file()}
    for one, two in zip(before.items(), after.items(), strict=True):
        assert one[0] == two[0]
        assert (one[1].st_ino, one[1].st_mtime_ns) == (two[1].st_ino, two[1].st_mtime_ns)
    assert path.read_bytes() == samples.data(name)


@pytest.mark.parametrize("where", ["plan", "apply"])
def test_a_failure_at_one_session_hides_no_other(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even one of this program itself; and what then stands at the path is said."""
    log = Log()
    log.whole_turn(1)
    log.lines.append(b"null")
    for session in ("a", "b"):
        Log(header={**samples.HEADER, "id": session}, lines=log.lines).write(tmp_path, session=session)
    module = plan if where == "plan" else apply
    name = "make_plan" if where == "plan" else "apply_plan"
    real = getattr(module, name)
    states = iter([ZeroDivisionError("here"), None])

    def failing(*given: Any) -> Any:
        error = next(states)
        if error is not None:
            raise error
        return real(*given)

    monkeypatch.setattr(module, name, failing)
    code, out, _ = run(capsys, "repair", "--apply", "--json", str(tmp_path))
    first, second = lines(out)
    assert code == 3
    assert "ZeroDivisionError: here" in json.dumps(first)
    if where == "apply":
        assert first["failed"] == {"message": "ZeroDivisionError: here", "file": "old"}
    assert second["done"]["action"] == "repaired"


def test_a_system_error_says_which_file_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that fails before the rename leaves the old file, one behind it the new file."""
    real, said = os.fsync, []
    monkeypatch.setattr(apply, "_SETTLE_SECONDS", 0)
    for at in range(99):
        path = samples.copy("poison-empty-identity-raw", tmp_path / str(at))
        left = iter([None] * at)

        def failing(descriptor: int, left: Iterator[None] = left) -> None:
            if next(left, "fail") == "fail":
                raise OSError(errno.EIO, "injected")
            real(descriptor)

        monkeypatch.setattr(os, "fsync", failing)
        code, out, _ = run(capsys, "repair", "--apply", "--json", str(path))
        shown = lines(out)[0]
        if "done" in shown:
            break
        assert (code, shown["failed"]["message"]) == (3, "injected")
        said.append(shown["failed"]["file"])
        old = path.read_bytes() == samples.data("poison-empty-identity-raw")
        assert said[-1] == ("old" if old else "new")
    assert said == sorted(said, reverse=True)
    assert set(said) == {"old", "new"}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("healthy-raw", 0, "healthy"),
        ("turn-numbers-nonsense", 0, "left-alone"),
        ("unknown-event-type", 2, "nothing is touched"),
        ("header-garbage", 2, "give --cwd"),
        ("header-id-mismatch", 2, "not-repairable"),
    ],
)
def test_repair_exit_codes(name: str, code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, out, _ = run(capsys, "repair", str(samples.root(name)))
    assert found == code
    assert words in out


def test_fork_and_checkpoint_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log()
    log.whole_turn(1)
    log.seq = 3
    log.assistant(1, 1, [{"type": "text", "text": "another"}])
    path = log.write(tmp_path)
    code, out, _ = run(capsys, "repair", str(path))
    assert code == 2
    assert re.search(r"choice: --fork first keeps .*; then opens: 6 events, last turn/end", out)
    assert run(capsys, "repair", "--fork", "first", str(path))[0] == 1
    assert run(capsys, "repair", "--checkpoint", str(path))[0] == 1
