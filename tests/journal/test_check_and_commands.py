"""`deltafold journal ...`: exit codes, one bad session among thousands, linear and flat checks, safe
terminals."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tracemalloc

import pytest

import deltafold
from deltafold.cli import journal_common, main
from deltafold.journal import FileStore, Journal, Refused, load
from deltafold.journal import check as check_module
from deltafold.journal.check import check
from deltafold.journal.targets import Target, targets_of
from tests.cli import streams
from tests.journal import forge
from tests.journal.damage import CASES, HEALTHY, SALT
from tests.journal.processes import environment
from tests.journal.test_repair import target


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    code = main(["journal", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def root(tmp_path):
    """One session of each state: clean, torn, damaged, of an unknown format, unreadable, live."""
    forge.put(tmp_path, forge.log(HEALTHY, session="clean"), "clean")
    forge.put(tmp_path, forge.log(HEALTHY, session="torn") + b"torn", "torn")
    forge.put(tmp_path, CASES["empty id in the result"].data, "s")
    kind, data = forge.start("newer", SALT)
    forge.put(tmp_path, forge.line(0, kind, {**data, "format": 9}, SALT), "newer")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "journal.jsonl").symlink_to(tmp_path / "clean" / "journal.jsonl")
    return tmp_path


def test_check_a_root(root, capsys):
    code, out, _ = run(capsys, "check", root, "--json")
    assert code == 3
    states = {row["session"]: (row["status"], row["exit"]) for row in rows(out)}
    assert states == {
        "clean": ("clean", 0),
        "torn": ("torn", 1),
        "s": ("damaged", 2),
        "newer": ("unreadable", 3),
        "link": ("unreadable", 3),
    }
    row = next(row for row in rows(out) if row["session"] == "s")
    (fault,) = row["faults"]
    assert (fault["rule"], fault["kind"], fault["seq"]) == ("J2", "empty-id", 7)
    assert row["file"].endswith("s/journal.jsonl")
    assert fault["offset"] == CASES["empty id in the result"].data.index(b'{"seq":7')
    assert "journal repair" in fault["advice"]


@pytest.mark.parametrize(
    ("session", "code"), [("clean", 0), ("torn", 1), ("s", 2), ("newer", 3), ("nothing", 3)]
)
def test_exit_codes(root, capsys, session, code):
    assert run(capsys, "check", root, "--session", session)[0] == code
    assert run(capsys, "check", root / session)[0] == code
    assert run(capsys, "check", root / session / "journal.jsonl")[0] == code


VERBS = ["check", "show", "export", "replay", "quarantine", "repair", "restore"]


@pytest.mark.parametrize("verb", VERBS)
def test_what_cannot_be_read_is_a_row_of_every_verb_and_hides_no_other(root, capsys, verb):
    """A root with a session of each state: exit 3, an error or a row for what cannot be read."""
    (root / "folder" / "journal.jsonl").mkdir(parents=True)
    options = ["--list"] if verb == "restore" else []
    for session in (
        "nothing",
        *(["newer", "folder", "link"] if verb not in {"restore", "quarantine"} else []),
    ):
        code, out, err = run(capsys, verb, root, "--session", session, "--json", *options)
        (row,) = rows(out)
        assert (code, row["session"], bool(row["error"])) == (3, session, True), session
        assert verb == "check" or session in err
    before = {path: path.read_bytes() for path in root.glob("*/journal.jsonl") if path.is_file()}
    code, out, _ = run(capsys, verb, root, "--json", *options)
    assert code == (0 if verb == "restore" else 3)
    if verb not in {"replay", "quarantine"}:
        assert {"clean", "torn", "s"} <= {row["session"] for row in rows(out)}
    assert {path: path.read_bytes() for path in before} == before, "nothing was touched"


def test_check_for_people(root, capsys):
    code, out, _ = run(capsys, "check", root)
    assert code == 3
    assert "5 sessions: 1 clean, 1 torn, 1 damaged, 2 unreadable" in out
    assert "J2 empty-id: seq 7, byte " in out
    assert "-> journal repair sets it in all linked records" in out
    assert "everything that can be decoded: deltafold journal export" in out


def test_one_bad_session_among_thousands(tmp_path, capsys):
    for number in range(1500):
        session = f"s{number:04}"
        data = forge.log([forge.turn(), forge.user()], session=session)
        forge.put(tmp_path, data if number != 777 else data.replace(b"tea", b"TEA", 1) + data, session)
    code, out, _ = run(capsys, "check", tmp_path)
    assert code == 2
    assert "1500 sessions: 1499 clean, 1 damaged" in out
    (bad,) = [line for line in out.splitlines() if line.startswith("damaged")]
    assert bad.split()[1] == "s0777:"


def test_export_has_everything_that_can_be_decoded(root, capsys):
    code, out, _ = run(capsys, "export", root, "--session", "s")
    assert code == 2
    exported = rows(out)
    assert [row["seq"] for row in exported] == list(range(len(exported)))
    assert [row["seq"] for row in exported if row["faults"]] == [7]
    code, out, _ = run(capsys, "export", root / "torn")
    assert code == 1
    assert rows(out)[-1]["text"] == "torn"
    assert run(capsys, "export", root / "clean")[0] == 0


@pytest.mark.parametrize("name", CASES)
def test_export_and_show_of_every_damage(tmp_path, capsys, name):
    path = forge.put(tmp_path, CASES[name].data)
    before = path.read_bytes()
    code, out, _ = run(capsys, "export", tmp_path)
    assert code == (1 if name == "torn tail" else 2)
    assert sum(row["bytes"] for row in rows(out)) == len(before)
    assert any(row["faults"] for row in rows(out))
    run(capsys, "show", tmp_path)
    run(capsys, "quarantine", tmp_path)
    run(capsys, "replay", tmp_path)
    run(capsys, "repair", tmp_path)
    assert path.read_bytes() == before


def test_repair_and_restore(tmp_path, capsys):
    path = forge.put(tmp_path, CASES["empty id in the result"].data)
    before = path.read_bytes()
    code, out, _ = run(capsys, "repair", tmp_path)
    assert code == 1
    assert "empty-id (rewritten) seq 7" in out
    assert '        - {"seq":7' in out
    assert '        + {"type":"tool/result"' in out
    assert "carry it out with --apply" in out
    code, out, _ = run(capsys, "repair", tmp_path, "--json")
    (row,) = rows(out)
    (change,) = row["changes"]
    assert (code, row["applied"], change["kind"]) == (1, False, "empty-id")
    assert json.loads(change["before"])["data"]["call_id"] == ""
    assert change["after"]["data"] == {**json.loads(change["before"])["data"], "call_id": "b"}
    assert path.read_bytes() == before
    code, out, _ = run(capsys, "repair", tmp_path, "--apply", "--json")
    assert (code, rows(out)[0]["applied"]) == (0, True)
    assert run(capsys, "check", tmp_path)[0] == 0
    assert run(capsys, "repair", tmp_path, "--apply")[1].startswith("healthy")
    assert "1 backup(s)" in run(capsys, "restore", tmp_path, "--list")[1]
    code, out, _ = run(capsys, "restore", tmp_path, "--json")
    assert code == 0
    assert path.read_bytes() == before
    assert run(capsys, "restore", tmp_path, "--backup", "repair-x")[0] == 3


def test_repair_that_needs_a_choice(tmp_path, capsys):
    data = forge.log([forge.turn(), forge.user("one")], salt=SALT) + forge.line(2, *forge.user("two"), SALT)
    path = forge.put(tmp_path, data)
    code, out, _ = run(capsys, "repair", tmp_path, "--apply")
    assert code == 2
    assert "blocked: two logs forked at seq 2" in out
    assert path.read_bytes() == data
    assert run(capsys, "repair", tmp_path, "--apply", "--keep", "last")[0] == 0
    assert "two" in run(capsys, "show", tmp_path)[1]


def test_show_quarantine_and_replay(tmp_path, capsys):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        turn = journal.turn(user="What is tea?\x1b[2J")
        list(turn.stream([streams.WHOLE]))
        with turn.running(turn.executable_calls[0]) as run_:
            run_.result("a \u202edrink")
        with pytest.raises(Refused):
            journal.append("tool/result", forge.result("\x07")[1])
        with pytest.raises(Refused):
            journal.append("user/message", {"message": object()})
    _, out, _ = run(capsys, "show", tmp_path)
    assert "What is tea?\\x1b[2J" in out
    assert 'asks for look_up({"q": "tea"}) as call_1' in out
    code, out, _ = run(capsys, "quarantine", tmp_path)
    assert code == 0
    assert "J5 tool/result: no call of this id is open" in out
    assert "J1 user/message" in out
    assert [row["rule"] for row in rows(run(capsys, "quarantine", tmp_path, "--json")[1])] == ["J5", "J1"]
    code, out, _ = run(capsys, "replay", tmp_path)
    assert (code, out.split()[0]) == (0, "same")
    for command in ("show", "export", "check", "quarantine", "replay"):
        for options in ([], ["--json"]):
            printed = run(capsys, command, tmp_path, *options)[1]
            assert not set(printed) & {"\x1b", "\u202e", "\x07", "\x85"}, (
                "no control character reaches a terminal"
            )


@pytest.mark.parametrize("damage", ["changed", "missing", "differs"])
def test_replay_notices(tmp_path, capsys, damage):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        list(journal.turn(user="x").stream([streams.WHOLE]))
    (raw,) = (tmp_path / "s" / "raw").iterdir()
    if damage == "changed":
        raw.write_bytes(raw.read_bytes() + b"\n")
    elif damage == "missing":
        raw.unlink()
    else:
        journal_path = tmp_path / "s" / "journal.jsonl"
        lines = journal_path.read_bytes().splitlines(keepends=True)
        salt = bytes.fromhex(json.loads(lines[0])["data"]["salt"])
        entries = [json.loads(line) for line in lines]
        entries[3]["data"]["message"]["tool_calls"][0]["id"] = "call_9"
        new = [forge.line(e["seq"], e["type"], e["data"], salt, time=e["time"]) for e in entries]
        journal_path.write_bytes(b"".join(new))
    code, out, _ = run(capsys, "replay", tmp_path, "--json")
    assert (code, rows(out)[0]["outcome"]) == (2, damage)
    assert run(capsys, "check", tmp_path)[0] == 0
    if damage == "missing":
        assert "raw streams are not there" in run(capsys, "check", tmp_path)[1]


def test_replay_folds_as_it_was_folded(tmp_path, capsys):
    """With the policy, the limits and the leniency of the first time; odd ones in a record are no crash."""
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        turn = journal.turn(user="x")
        begin, rest = streams.delta({"content": "a"}), streams.delta({}, "stop") + streams.DONE
        list(turn.stream([begin, b"data: {nonsense\n\n", rest], malformed="skip"))
        list(turn.stream([begin * 200, rest], limits=deltafold.Limits(text=200)))
        with pytest.raises(deltafold.LimitError):
            list(turn.stream([begin * 201, rest], limits=deltafold.Limits(text=200)))
        list(turn.stream([rest], policy=deltafold.Policy(identity="last"), wire="openai-chat"))
    code, out, _ = run(capsys, "replay", tmp_path, "--json")
    assert (code, [row["outcome"] for row in rows(out)]) == (0, ["same", "same", "same", "unused"])
    streams_noted = [event.data["stream"] for event in load(tmp_path, "s").events if "stream" in event.data]
    assert [sorted(set(note) - {"file", "sha256", "bytes", "wire"}) for note in streams_noted] == [
        ["malformed"],
        ["limits"],
        ["policy"],
    ]
    odd = {"policy": {"x": 1}}, {"limits": {"text": "much"}}, {"malformed": "perhaps"}, {"wire": "none"}
    for number, members in enumerate(odd):
        session = f"odd{number}"
        note = {**streams_noted[0], **members}
        message = forge.assistant(text="a", stream=note)
        forge.put(tmp_path, forge.log([forge.turn(), forge.user(), message], session=session), session)
        shutil.copytree(tmp_path / "s" / "raw", tmp_path / session / "raw")
        code, out, _ = run(capsys, "replay", tmp_path / session, "--json")
        assert (code, rows(out)[0]["outcome"], bool(rows(out)[0]["reason"])) == (2, "failed", True)


def test_an_unused_raw_stream_is_named(tmp_path, capsys):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        turn = journal.turn(user="x")
        with pytest.raises(deltafold.WireError):
            list(turn.stream([b"data: {nonsense\n\n"], wire="openai-chat"))
    code, out, _ = run(capsys, "replay", tmp_path, "--json")
    assert (code, rows(out)[0]["outcome"]) == (0, "unused")


def test_a_live_session_is_said_to_be_live(tmp_path, capsys):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True):
        assert ", a writer is live" in run(capsys, "check", tmp_path)[1]
    assert ", a writer is live" not in run(capsys, "check", tmp_path)[1]


def test_a_damaged_quarantine_is_noted_and_hides_nothing(tmp_path, capsys):
    with Journal.open(FileStore(tmp_path, sync="os"), "s", create=True) as journal:
        for _ in range(2):
            with pytest.raises(Refused):
                journal.append("tool/result", forge.result("")[1])
    path = tmp_path / "s" / "quarantine.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    code, out, _ = run(capsys, "check", tmp_path)
    assert code == 0
    assert "1 line(s) of the quarantine do not verify" in out
    with Journal.open(FileStore(tmp_path, sync="os"), "s") as journal, pytest.raises(Refused):
        journal.append("tool/result", forge.result("")[1])
    assert [row["intact"] for row in rows(run(capsys, "quarantine", tmp_path, "--json")[1])] == [
        True,
        False,
        True,
    ]


def test_what_lies_beside_a_history_does_not_hide_it(tmp_path, capsys):
    """A folder where the quarantine should be, a file where the raw streams should be."""
    directory = forge.put(tmp_path, forge.log(HEALTHY)).parent
    (directory / "quarantine.jsonl").mkdir()
    (directory / "raw").write_bytes(b"")
    code, out, _ = run(capsys, "check", tmp_path, "--json")
    (row,) = rows(out)
    assert (code, row["status"], row["records"]) == (0, "clean", len(HEALTHY) + 1)
    assert any("raw streams cannot be listed" in note for note in row["notes"])
    assert any("quarantine cannot be read" in note for note in row["notes"])
    assert run(capsys, "show", tmp_path)[0] == 0
    assert run(capsys, "replay", tmp_path)[0] == 3
    assert run(capsys, "quarantine", tmp_path)[0] == 3


def test_a_closed_pipe_is_no_error(root):
    command = f"{sys.executable} -m deltafold.cli journal export {root}/clean | head -c 1"
    command = command.replace(
        "-m deltafold.cli", "-c 'import sys; from deltafold.cli import main; sys.exit(main())'"
    )
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, env=environment()
    )
    assert done.stderr == ""


def large(tmp_path, turns: int) -> Target:
    lines = [forge.line(0, *forge.start("s", SALT), SALT)]
    path = forge.put(tmp_path, b"")
    with path.open("wb") as file:
        file.write(lines[0])
        seq = 1
        for _ in range(turns):
            for kind, data in forge.session(1)[:-1]:
                file.write(forge.line(seq, kind, data, SALT))
                seq += 1
    return target(tmp_path)


@pytest.mark.parametrize("damaged", [False, True])
def test_memory_of_a_check_does_not_grow_with_the_session(tmp_path, damaged):
    """Ten times the records: the same memory (of a damaged one, but for four bytes a record)."""
    peaks = []
    for turns in (50, 500):
        one = large(tmp_path / str(turns), turns)
        path = tmp_path / str(turns) / "s" / "journal.jsonl"
        if damaged:
            path.write_bytes(
                path.read_bytes() + b"spoiled\n" + forge.line(7 * turns + 1, *forge.turn(), SALT)
            )
        tracemalloc.start()
        report = check(one)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (report.status, report.records) == ("damaged" if damaged else "clean", 7 * turns + 1)
        assert damaged or report.size == path.stat().st_size
    assert peaks[1] < peaks[0] * 1.2 + 100_000


def test_a_line_longer_than_any_record_is_bounded_and_named(tmp_path):
    """A hole in a file costs no disk; the check looks at a part of it and goes on to its end."""
    path = forge.put(tmp_path, forge.log(HEALTHY, salt=SALT))
    with path.open("r+b") as file:
        file.seek(300 * 1024 * 1024)
        file.write(b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = check(target(tmp_path))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert report.status == "damaged"
    assert "longer than" in str(report.error)
    assert after - before < 3 * 300_000, "kilobytes: less than the file"


def test_paths_that_name_nothing(tmp_path, capsys):
    code, _, err = run(capsys, "check", tmp_path / "nothing")
    assert (code, "there is nothing at" in err) == (3, True)
    assert list(targets_of(str(tmp_path))) == []
    assert run(capsys, "check", tmp_path)[0] == 0


@pytest.mark.parametrize("verb", VERBS[:6])
def test_progress_is_shown_on_a_terminal_alone(tmp_path, capsys, monkeypatch, verb):
    """A line that says how far it is, taken away at the end; a pipe gets none of it."""
    large(tmp_path, 1)
    monkeypatch.setattr(journal_common, "_PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(check_module, "_PROGRESS_EVERY", 4)
    _, piped, err = run(capsys, verb, tmp_path)
    assert err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _, out, err = run(capsys, verb, tmp_path)
    assert verb == "quarantine" or "0 sessions done; this one: 4 records, 0 MB" in err
    assert "1 sessions done" in err
    assert err.endswith("\r\x1b[K")
    assert out == piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _, _, err = run(capsys, verb, tmp_path)
    assert (err != "") == (verb == "check"), "not between the lines that are printed"
