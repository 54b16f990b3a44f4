"""Every cut and every flipped bit of a real journal."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path

import pytest

from deltafold.journal import Journal, JournalCorrupt, UnknownFormat, load
from deltafold.journal.check import check
from deltafold.journal.targets import targets_of
from tests.journal import figures, forge

LONG = "DELTAFOLD_JOURNAL_LONG" in os.environ


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A journal's bytes, as `Journal` wrote them."""
    root = tmp_path_factory.mktemp("written")
    with Journal.open(root, "s", create=True) as journal:
        for kind, data in forge.session(3 if LONG else 1)[:-1]:
            journal.append(kind, data)
    return (root / "s" / "journal.jsonl").read_bytes()


def test_every_cut_loads_to_a_prefix_with_every_whole_record(written):
    whole, _ = forge.read(written)
    ends = list(accumulate(len(line) for line in written.splitlines(keepends=True)))
    for cut in range(len(written) + 1):
        events, reader = forge.read(written[:cut])
        complete = sum(end <= cut for end in ends)
        assert events == whole[:complete]
        assert reader.torn == cut - (ends[complete - 1] if complete else 0)
    figures.note(f"cuts: {len(written) + 1}, every one a prefix with every whole record")


@pytest.mark.parametrize("filler", [b"\0", b"\0" * 4096, b"\n", b"\n\n{}\n", b"\xff" * 300, b'{"seq":5,"ti'])
def test_every_cut_with_what_a_power_cut_leaves_behind_it(written, filler):
    """Zeros of a block that was never written, or bytes of a deleted file, are a tear like any other."""
    whole, _ = forge.read(written)
    ends = list(accumulate(len(line) for line in written.splitlines(keepends=True)))
    for cut in range(len(written)):
        events, reader = forge.read(written[:cut] + filler)
        complete = sum(end <= cut for end in ends)
        if cut + 1 in ends and filler[:1] == b"\n":
            complete += 1  # the filler gives the missing line end back
        assert events == whole[:complete]
        assert reader.torn == cut + len(filler) - (ends[complete - 1] if complete else 0)


def test_records_of_another_log_behind_a_tear_do_not_verify_here(written):
    """A deleted journal's blocks may come back at the end of this one."""
    whole, _ = forge.read(written)
    other = forge.log(forge.session(1))
    lines = written.splitlines(keepends=True)
    for keep in range(1, len(lines)):
        events, reader = forge.read(b"".join(lines[:keep]) + other)
        assert events == whole[:keep]
        assert reader.torn == len(other)


def test_every_flipped_bit_is_noticed(written):
    """A flip in the last record looks like a tear and is said to be one; any other is damage."""
    whole, _ = forge.read(written)
    last = written.rstrip(b"\n").rfind(b"\n") + 1
    damage = tears = 0
    flipped = bytearray(written)
    for position in range(len(written)):
        for bit in range(8):
            flipped[position] ^= 1 << bit
            try:
                events, reader = forge.read(bytes(flipped))
            except (JournalCorrupt, UnknownFormat):
                damage += 1
            else:
                assert position >= last, f"bit {bit} of byte {position} passes for a tear"
                assert events == whole[:-1]
                assert reader.torn == len(written) - last
                tears += 1
            flipped[position] ^= 1 << bit
    assert damage + tears == 8 * len(written)
    assert damage >= 8 * last
    figures.note(
        f"flips: {damage + tears}, {damage} named damage, {tears} in the last record named a torn tail"
    )


def test_a_plain_log_lets_most_flips_pass(written):
    """The control: without check values a reader of JSON lines notices few of them."""
    import json  # noqa: PLC0415

    passed = total = 0
    for position in range(0, len(written), 7):
        flipped = bytearray(written)
        flipped[position] ^= 1
        total += 1
        try:
            for line in bytes(flipped).splitlines():
                json.loads(line)
        except ValueError:
            continue
        passed += 1
    assert passed > total / 2
    figures.note(f"flips in plain JSON lines: {passed} of {total} pass unnoticed")


def test_a_bad_byte_before_a_clean_close_is_no_tear(tmp_path, written):
    lines = written.splitlines(keepends=True)
    lines[-2] = lines[-2][:10] + b"X" + lines[-2][11:]
    forge.put(tmp_path, b"".join(lines))
    with pytest.raises(JournalCorrupt, match="a valid record stands behind it") as corrupt:
        load(tmp_path, "s")
    error = corrupt.value
    assert (error.rule, error.session, error.seq) == ("J1", "s", len(lines) - 2)
    assert error.offset == sum(map(len, lines[:-2]))
    assert error.location.endswith("s/journal.jsonl")
    assert "deltafold journal export" in str(error)
    with pytest.raises(JournalCorrupt):
        Journal.open(tmp_path, "s")
    assert (tmp_path / "s" / "journal.jsonl").read_bytes() == b"".join(lines), "nothing was touched"


def test_a_lost_line_end_between_two_records_is_damage(written):
    lines = written.splitlines(keepends=True)
    with pytest.raises(JournalCorrupt):
        forge.read(b"".join(lines[:-2]) + lines[-2][:-1] + lines[-1])


def test_a_torn_tail_is_cut_and_kept_when_the_session_is_opened(tmp_path, written):
    path = forge.put(tmp_path, written + b'{"seq":99,"time":"20')
    loaded = load(tmp_path, "s")
    assert (loaded.size, loaded.torn) == (len(written), 20)
    assert path.read_bytes().endswith(b'"20'), "reading changes nothing"
    with Journal.open(tmp_path, "s") as journal:
        assert journal.torn is not None
        assert (journal.torn.offset, journal.torn.size) == (len(written), 20)
        backup = journal.torn.backup
    assert path.read_bytes().startswith(written)
    assert b'{"seq":99' not in path.read_bytes()
    assert Path(backup).read_bytes() == b'{"seq":99,"time":"20'
    assert load(tmp_path, "s").torn == 0


def test_a_torn_first_record(tmp_path, written):
    forge.put(tmp_path, written[:50])
    assert load(tmp_path, "s").events == ()
    with pytest.raises(Exception, match="its first one was torn"):
        Journal.open(tmp_path, "s")
    with Journal.open(tmp_path, "s", create=True) as journal:
        assert journal.torn is not None
    assert [event.type for event in load(tmp_path, "s").events] == ["session/start", "session/close"]


@pytest.mark.parametrize("keep", [0, 40])
def test_check_tells_a_tear_from_damage(tmp_path, written, keep):
    forge.put(tmp_path, written + written[:keep] if keep else written)
    report = check(next(targets_of(str(tmp_path), "s")))
    assert report.status == ("torn" if keep else "clean")
    assert report.exit_code == (1 if keep else 0)


def test_an_unknown_format_is_named_and_nothing_is_touched(tmp_path):
    salt = bytes(16)
    kind, data = forge.start("s", salt)
    line = forge.line(0, kind, {**data, "format": 2}, salt)
    path = forge.put(tmp_path, line)
    with pytest.raises(UnknownFormat, match="format 2"):
        load(tmp_path, "s")
    with pytest.raises(UnknownFormat):
        Journal.open(tmp_path, "s", create=True)
    assert path.read_bytes() == line
    assert check(next(targets_of(str(tmp_path), "s"))).exit_code == 3
