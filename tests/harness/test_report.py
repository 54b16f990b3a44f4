"""The report for an issue: structure and faults, and nothing that a session says."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.cli import main
from deltafold.harness.check import examine
from deltafold.harness.document import open_document
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model import reader
from deltafold.harness.repair import plan
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import make_plan
from deltafold.harness.report import redact_check, redact_plan
from tests.harness import samples
from tests.support import FIXED_SEED, RANDOM_SEED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 4000 if "DELTAFOLD_HARNESS_LONG" in os.environ else 60


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["harness", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_report_holds_nothing_that_a_session_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = [
        "home",
        "demo",
        "session-",
        "Paris",
        "weather",
        "get_weather",
        "call_00_x",
        "deepseek-v4",
        "Checking",
        str(tmp_path),
    ]
    for command, name in [("check", name) for name in samples.CASES] + [
        ("repair", name) for name in samples.CASES
    ]:
        report = tmp_path / "report.json"
        run(capsys, command, "--report", str(report), str(samples.root(name)))
        text = report.read_text()
        for secret in secrets:
            assert secret not in text.replace("session log", "").replace("session-title", ""), (name, secret)
        assert json.loads(text)["sessions"]


def test_the_report_says_what_is_needed_to_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    run(capsys, "repair", "--report", str(report), str(samples.root("tool-result-mismatched-ids")))
    shown = json.loads(report.read_text())["sessions"][0]
    assert shown["before"] == {
        "error": "SessionPersistenceCorruptionError",
        "message": 'stored session "…" failed validation: Error: session event at seq 25'
        " message has mismatched tool call ids",
    }
    assert [fault["kind"] for fault in shown["faults"]] == ["id-disagrees", "result-mismatch"]
    assert shown["changes"] == [
        {
            "kind": "result-id-empty",
            "origin": "recovered",
            "seq": 25,
            "line": 22,
            "member": "data.message.content.0.toolCallId",
        }
    ]


@pytest.mark.usefixtures("quick")
def test_a_report_that_cannot_be_written_undoes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = samples.copy("poison-empty-identity-raw", tmp_path / "root")
    nowhere = str(tmp_path / "nowhere" / "report.json")
    code, out, err = run(capsys, "repair", "--apply", "--json", "--report", nowhere, str(path))
    assert code == 3
    assert "no report was written: No such file" in err
    assert json.loads(out)["done"]["action"] == "repaired"
    assert run(capsys, "check", str(path))[0] == 0
    assert run(capsys, "check", "--report", nowhere, str(path))[0] == 3


WORD = "CaNaRy"
FORMS: list[Any] = [WORD, [WORD], {WORD: WORD}, WORD + ') "x" ', WORD + "\n", 'x" ' + WORD + ' "y']
Spot = tuple[Any, Any]


def spots(value: Any) -> Iterator[Spot]:
    """Every place of a JSON value: its container and the key in it."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield value, key
        yield from spots(child)


def with_a_word(chance: random.Random, name: str) -> bytes:
    """A session in which one member, or the name of one, is the word."""
    lines = samples.data(name).splitlines()
    at = chance.randrange(len(lines))
    record = json.loads(lines[at])
    container, key = chance.choice(list(spots(record)))
    if isinstance(container, dict) and chance.random() < 0.2:
        container[WORD] = container.pop(key)
    else:
        container[key] = chance.choice(FORMS)
    lines[at] = samples.dumps(record)
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("seed", [FIXED_SEED, RANDOM_SEED])
def test_no_member_and_no_name_of_one_reaches_the_report(seed: int) -> None:
    chance, where = random.Random(seed), samples.place("healthy-raw")
    refused = 0
    for number in range(COUNT):
        data = with_a_word(chance, chance.choice(["healthy-raw-unpacked", "poison-parallel-empty-raw"]))
        check = examine(open_document(data, "none", DEFAULT_LIMITS), where, None)
        repair = make_plan(data, where, Options(cwd="/home/demo"), DEFAULT_LIMITS)
        assert WORD not in json.dumps([redact_check(check), redact_plan(repair)]), (seed, number)
        refused += WORD in json.dumps(check.answer)
    assert refused, "the reader itself quotes the word"


@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_session_that_cannot_be_read_is_in_the_report(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what this program itself stumbles over is not quoted."""

    def broken(*_given: object) -> None:
        raise ValueError(f"cannot take '{WORD}'")

    monkeypatch.setattr(*((reader, "inspect") if command == "check" else (plan, "make_plan")), broken)
    report = tmp_path / "report.json"
    path = samples.file("healthy-raw")
    assert run(capsys, command, "--report", str(report), str(path))[0] in (2, 3)
    (shown,) = json.loads(report.read_text())["sessions"]
    assert WORD not in report.read_text()
    if command == "repair":
        assert shown["answer"]["message"] == "the check itself failed: ValueError"
        assert run(capsys, command, "--max-bytes", "9", "--report", str(report), str(path))[0] == 3
