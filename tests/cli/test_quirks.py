"""`deltafold quirks`: the departures, with frame numbers and what they mean."""

from __future__ import annotations

import json

from deltafold.cli import main
from deltafold.quirks import QUIRKS
from tests.cli import streams
from tests.cli.test_assemble import DEMO


def test_demo_stream(capsys) -> None:
    assert main(["quirks", str(DEMO)]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = {line.split()[0]: line.split()[1:] for line in lines if line.split()[0] in QUIRKS}
    assert set(cells) == {"empty-identity", "null-identity"}
    assert any(QUIRKS["empty-identity"].meaning in line for line in lines)


def test_frame_numbers(tmp_path, capsys) -> None:
    path = tmp_path / "recorded.sse"
    path.write_bytes(streams.WHOLE)
    main(["quirks", "--json", str(path)])
    told = json.loads(capsys.readouterr().out)
    first_frames = {quirk["kind"]: quirk["frame"] for quirk in told["quirks"]}
    assert first_frames == {"empty-identity": 1, "null-identity": 1}
    assert told["file"] == str(path)
    assert told["end"] == "done"


def test_no_quirks(tmp_path, capsys) -> None:
    path = tmp_path / "recorded.sse"
    path.write_bytes(streams.delta({"content": "tea"}, "stop") + streams.DONE)
    assert main(["quirks", str(path)]) == 0
    assert "no quirks" in capsys.readouterr().out


def test_exit_codes(tmp_path, capsys) -> None:
    path = tmp_path / "recorded.sse"
    path.write_bytes(streams.CUT)
    assert main(["quirks", str(path)]) == 1
    assert "stream-cut" in capsys.readouterr().out
    assert main(["quirks", str(tmp_path / "absent")]) == 2
