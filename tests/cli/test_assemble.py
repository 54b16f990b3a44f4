"""`deltafold assemble`: the table, the JSON, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deltafold
from deltafold.cli import main
from tests.cli import streams

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "gateway_blanks_ids.sse"


@pytest.fixture
def file(tmp_path):
    """Writes a stream to a file, gives its name."""

    def written(body: bytes, name: str = "recorded.sse") -> str:
        path = tmp_path / name
        path.write_bytes(body)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(streams.WHOLE, 0, id="whole"),
        pytest.param(streams.LENGTH, 0, id="whole, ended by its length"),
        pytest.param(streams.CUT, 1, id="cut"),
        pytest.param(streams.FAILED, 1, id="provider error"),
        pytest.param(streams.WHOLE[:-40] + b"data: {nonsense\n\n", 1, id="malformed payload"),
        pytest.param(b"", 1, id="empty"),
        pytest.param(streams.HTML, 2, id="no event stream"),
        pytest.param(streams.frame({"candidates": []}), 2, id="unknown wire"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_exit_code(file, capsys, body, code, words) -> None:
    assert main(["assemble", *words, file(body)]) == code
    assert capsys.readouterr().out


def test_table_of_a_whole_stream(file, capsys) -> None:
    main(["assemble", file(streams.WHOLE)])
    out = capsys.readouterr().out
    assert "openai-chat · any-model · chatcmpl-1 · end done" in out
    assert "call 0  look_up  call_1  complete  executable" in out
    assert '{"q": "tea"}' in out
    assert "empty-identity" in out
    assert "null-identity" in out


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        (streams.CUT, "truncated  NOT executable: its arguments break off; the stream was cut"),
        (streams.LENGTH, "complete  NOT executable: finish reason length is a cut"),
        (streams.FAILED, "NOT executable: its arguments break off; the response ended in an error"),
    ],
)
def test_table_says_why_a_call_may_not_be_executed(file, capsys, body, reasons) -> None:
    main(["assemble", file(body)])
    assert reasons in capsys.readouterr().out


def test_error_shows_frame_and_byte(file, capsys) -> None:
    main(["assemble", file(streams.FAILED)])
    offset = streams.FAILED.index(b'data: {"error"')
    assert f"ProviderError, provider-error (frame 1, byte {offset}): overloaded" in capsys.readouterr().out


def test_demo_stream(capsys) -> None:
    assert main(["assemble", str(DEMO)]) == 0
    out = capsys.readouterr().out
    assert "call 0  get_weather  call_f2a9c1d0  complete  executable" in out
    assert "call 1  get_weather  call_08be77a4  complete  executable" in out


def test_json_is_the_completion(file, capsys) -> None:
    name = file(streams.WHOLE)
    main(["assemble", "--json", name])
    told = json.loads(capsys.readouterr().out)
    assert told.pop("file") == name
    assert told == json.loads(deltafold.assemble(streams.WHOLE).to_json())


def test_json_gives_one_line_a_file(file, capsys) -> None:
    names = [file(streams.WHOLE, "a.sse"), file(streams.CUT, "b.sse"), "no-such-file"]
    assert main(["assemble", "--json", *names]) == 2
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["file"] for line in told] == names
    assert told[2]["error"]["kind"] == "unreadable"


def test_worst_exit_code_wins(file, capsys) -> None:
    whole, cut = file(streams.WHOLE, "a.sse"), file(streams.CUT, "b.sse")
    assert main(["assemble", cut, whole]) == 1
    assert main(["assemble", cut, "no-such-file", whole]) == 2
    assert "no-such-file: No such file or directory" in capsys.readouterr().err


def test_a_directory_is_unusable(tmp_path, capsys) -> None:
    assert main(["assemble", str(tmp_path)]) == 2
    assert "directory" in capsys.readouterr().err


def test_long_texts_are_shortened_unless_asked_for(file, capsys) -> None:
    name = file(streams.delta({"content": "x" * 1000}, "stop") + streams.DONE)
    main(["assemble", name])
    assert "characters ...]" in capsys.readouterr().out
    main(["assemble", "--full", name])
    assert "x" * 1000 in capsys.readouterr().out


def test_policy_and_malformed_are_passed_on(file, capsys) -> None:
    body = streams.delta(streams.call('{"q": 1}', id=None)) + b"data: nonsense\n\n"
    body += streams.delta({}, "tool_calls") + streams.DONE
    main(["assemble", "--json", "--policy", "harness", "--skip-malformed", file(body)])
    told = json.loads(capsys.readouterr().out)
    assert told["choices"][0]["tool_calls"][0]["id"] == ""
    assert "malformed-payload" in [quirk["kind"] for quirk in told["quirks"]]


def test_naming_a_wire_is_exact(file, capsys) -> None:
    main(["assemble", "--json", "--wire", "openai-chat", file(b"data: {}\n\ndata: [DONE]\n\n")])
    assert json.loads(capsys.readouterr().out)["wire"] == "openai-chat"
