"""The next version of the Harness takes a repaired log as well: its strict migration refuses none.

Section 4.12 of the specification; strategy C alone passes it. Skips with the reason where npm has it not.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deltafold.harness.repair.draft import Options
from tests.harness import npm, samples

Answers = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the migration can run."""
    given = npm.folder(tmp_path_factory)
    _, reason = npm.prepare_migration(given)
    if reason is not None:
        pytest.skip(reason)
    return given


def migrated(folder: Path, logs: dict[str, bytes], base: Path) -> Answers:
    """What the migration says of each log, given as text."""
    node, _ = npm.prepare_migration(folder)
    script = folder / "migrate.mjs"
    script.write_text((Path(__file__).parent / "migrate.mjs").read_text())
    for name, text in logs.items():
        (base / name).write_bytes(text)
    asked = "".join(f"{base / name}\n" for name in logs)
    done = subprocess.run([node, script], cwd=folder, input=asked, capture_output=True, text=True, check=True)
    return dict(zip(logs, map(json.loads, done.stdout.splitlines()), strict=True))


def test_every_repaired_sample_can_be_migrated(folder: Path, tmp_path: Path) -> None:
    logs: dict[str, bytes] = {}
    for name in samples.CASES:
        data = samples.plan(name, Options(cwd="/home/demo")).data
        if data is not None:
            logs[name] = samples.text(data, samples.place(name).compression)
    assert len(logs) >= 79
    found = migrated(folder, logs, tmp_path)
    assert {name: answer for name, answer in found.items() if "ok" not in answer} == {}
    for entry in samples.STRATEGIES:
        if entry["strategy"].startswith("C-") and "ok" in entry["v0toV1Strict"]:
            assert found[entry["sample"]] == entry["v0toV1Strict"]


def test_the_migration_refuses_what_is_not_repaired(folder: Path, tmp_path: Path) -> None:
    names = [name for name in samples.CASES if name.startswith("poison-") and name.endswith("-raw")]
    found = migrated(folder, {name: samples.data(name) for name in names}, tmp_path)
    assert len(names) >= 5
    assert [name for name, answer in found.items() if "ok" in answer] == []
