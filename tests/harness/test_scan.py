"""A whole root: every session is answered, one bad file hides no other, work grows with sessions alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from deltafold.harness import check, source
from deltafold.harness.check import CLEAN, DAMAGED, TORN, UNREADABLE, Scan
from tests.harness import samples
from tests.harness.samples import HEADER, Log, dumps

SESSIONS = 10_000
PROJECTS = 100


def small(identity: str) -> bytes:
    log = Log(header={**HEADER, "id": identity})
    log.turn(1)
    log.end(1)
    return log.bytes()


def build(base: Path, sessions: int, projects: int) -> None:
    """Write small sessions over several projects."""
    for number in range(sessions):
        project = f"/w{number % projects}"
        identity = f"s{number}"
        folder = base / f"--w{number % projects}--" / identity
        folder.mkdir(parents=True)
        header = {**HEADER, "id": identity, "cwd": project}
        body = small(identity).split(b"\n", 1)[1]
        (folder / "session.jsonl").write_bytes(dumps(header) + b"\n" + body)


@pytest.fixture(scope="module")
def large_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("sessions")
    build(base, SESSIONS, PROJECTS)
    return base


class Counts:
    """Counts what a scan asks of the filesystem."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = 0
        real = source.read_place

        def counted(place: Any, limits: Any) -> Any:
            self.read += 1
            return real(place, limits)

        monkeypatch.setattr(check, "read_place", counted)


def test_ten_thousand_sessions(large_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is read once, each directory listed once, progress goes from the first to the last."""
    counts = Counts(monkeypatch)
    seen: list[tuple[int, int]] = []
    scan = Scan(progress=lambda done, known: seen.append((done, known)))
    results = list(scan.run([str(large_root)]))
    assert len(results) == SESSIONS
    assert {result.code for result in results} == {CLEAN}
    assert counts.read == SESSIONS
    assert scan.rules(str(large_root)).index.listings == 1 + PROJECTS + SESSIONS
    assert seen == [(done, SESSIONS) for done in range(1, SESSIONS + 1)]


def test_one_bad_file_never_hides_the_others(tmp_path: Path) -> None:
    build(tmp_path, 30, 3)
    folders = sorted(path.parent for path in tmp_path.glob("*/*/session.jsonl"))
    (folders[0] / "session.jsonl").write_bytes(b"")
    (folders[1] / "session.jsonl").write_bytes(os.urandom(5000))
    (folders[2] / "session.jsonl").unlink()
    (folders[2] / "session.jsonl").mkdir()
    (folders[3] / "session.jsonl").unlink()
    (folders[3] / "session.jsonl").symlink_to("/etc/passwd")
    with (folders[4] / "session.jsonl").open("ab") as file:
        file.write(b'{"type":"tur')
    results = {Path(result.place.path).parent: result for result in Scan().run([str(tmp_path)])}
    assert len(results) == 30
    codes = [results[folder].code for folder in folders]
    assert codes[:5] == [DAMAGED, DAMAGED, UNREADABLE, UNREADABLE, TORN]
    assert codes[5:] == [CLEAN] * 25


def test_one_bad_layout_is_named_for_each_and_hides_none(tmp_path: Path) -> None:
    build(tmp_path, 6, 2)
    (tmp_path / "--w0--" / "old.jsonl").write_bytes(b"{}\n")
    results = list(Scan().run([str(tmp_path)]))
    sessions = [result for result in results if result.session]
    assert len(sessions) == 6
    for result in sessions:
        assert "unsupported flat-file layout" in str(result.answer["message"])
        assert result.alone == {"ok": {"events": 2, "last": "turn/end"}}


@pytest.mark.parametrize("form", ["file", "session", "project", "root", "home"])
def test_forms_of_a_path(form: str, tmp_path: Path) -> None:
    base = tmp_path / "sessions"
    build(base, 4, 2)
    file = base / "--w0--" / "s0" / "session.jsonl"
    path, count = {
        "file": (file, 1),
        "session": (file.parent, 1),
        "project": (file.parent.parent, 2),
        "root": (base, 4),
        "home": (tmp_path, 4),
    }[form]
    results = list(Scan().run([str(path)]))
    assert [result.code for result in results] == [CLEAN] * count
    assert all(result.place.root == str(base) for result in results)


def test_a_path_without_sessions_is_said_to_be_empty(tmp_path: Path) -> None:
    scan = Scan()
    assert list(scan.run([str(tmp_path), str(tmp_path / "nothing"), str(samples.root("healthy-raw"))])) != []
    assert scan.empty == [str(tmp_path), str(tmp_path / "nothing")]


def test_both_encodings_of_one_session_are_two_results() -> None:
    results = list(Scan().run([str(samples.root("layout-opposite-encoding"))]))
    assert [result.place.compression for result in results] == ["none", "zstd"]
    assert all("this backend is configured" in str(result.answer["message"]) for result in results)
