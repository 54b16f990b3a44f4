"""Session ids and directories: no id leaves the root, none means another."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltafold.journal import BadSessionId, FileStore, Journal, JournalMissing, load
from deltafold.journal.names import directory_name, session_id

NAMES = {
    "session-7": "session-7",
    "a b": "a%20b",
    "..": "%2E%2E",
    ".": "%2E",
    ".hidden": "%2Ehidden",
    "dot.": "dot%2E",
    "a/../b": "a%2F..%2Fb",
    "../../etc/passwd": "%2E.%2F..%2Fetc%2Fpasswd",
    "/root": "%2Froot",
    "C:\\x": "C%3A%5Cx",
    "nul": "%6Eul",
    "COM1.txt": "%43OM1.txt",
    "console": "console",
    "100%": "100%25",
    "%2E": "%252E",
    "é🍵": "%C3%A9%F0%9F%8D%B5",
    "-rf": "-rf",
    "journal.jsonl": "journal.jsonl",
}


@pytest.mark.parametrize(("session", "name"), NAMES.items())
def test_names(session, name):
    assert directory_name(session) == name
    assert session_id(name) == session


@pytest.mark.parametrize("session", ["", "a\0b", "a\nb", "\x1b[2J", "\x85", "\ud800", "x" * 201, "é" * 40])
def test_ids_that_name_no_directory(tmp_path, session):
    with pytest.raises(BadSessionId):
        directory_name(session)
    with pytest.raises(BadSessionId):
        Journal.open(tmp_path, session, create=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a b", "%2e", "%41", "..", ".", "", "%FF", "%", "%00", "x" * 201, "a/b", "nul"]
)
def test_names_that_encode_no_id(name):
    assert session_id(name) is None


@settings(max_examples=300, deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_every_id_has_a_name_of_its_own_inside_the_root(session):
    try:
        name = directory_name(session)
    except BadSessionId:
        return
    assert session_id(name) == session
    assert os.path.basename(name) == name not in {".", ".."}  # noqa: PTH119
    assert name.isascii()
    assert name.isprintable()


def test_a_session_named_to_leave_the_root_stays_in_it(tmp_path):
    root = tmp_path / "root"
    for session in ("..", "../../outside", "/etc"):
        Journal.open(root, session, create=True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]
    assert sorted(FileStore(root).sessions()) == ["..", "../../outside", "/etc"]


def test_links_are_not_followed(tmp_path):
    Journal.open(tmp_path / "real", "s", create=True).close()
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a" / "journal.jsonl").symlink_to(tmp_path / "real" / "s" / "journal.jsonl")
    (root / "b").symlink_to(tmp_path / "real" / "s")
    for session in ("a", "b"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            load(root, session)
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            Journal.open(root, session)


def test_what_is_no_file_does_not_hang(tmp_path):
    (tmp_path / "s").mkdir()
    os.mkfifo(tmp_path / "s" / "journal.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        load(tmp_path, "s")


def test_a_root_that_is_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    Journal.open(tmp_path / "link", "s", create=True).close()
    assert load(tmp_path / "real", "s").state.closed


def test_other_directories_are_no_sessions(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    Journal.open(tmp_path, "s", create=True).close()
    assert list(FileStore(tmp_path).sessions()) == ["s"]
    with pytest.raises(JournalMissing):
        load(tmp_path, "empty")
    with pytest.raises(JournalMissing):
        load(tmp_path, "nothing")
