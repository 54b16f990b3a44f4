"""Whatever a stream contains, the terminal gets no control character from it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltafold.cli import main, terminal
from tests.cli import streams

HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\x7f\x00\r\x08\u202e\u2066\u2028\u200b\ufeff\U000e0001"
UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def unsafe(text: str) -> set[str]:
    """Characters of `text`, line ends aside, that could do something to a terminal."""
    return {character for character in text.replace("\n", "") if unicodedata.category(character) in UNSAFE}


def hostile_stream() -> bytes:
    """A stream with hostile characters wherever it can hold text."""
    entry = {
        "index": 0,
        "id": f"id{HOSTILE}",
        "function": {"name": f"name{HOSTILE}", "arguments": f"arguments{HOSTILE}"},
        f"member{HOSTILE}": HOSTILE,
    }
    texts = {name: f"{name}{HOSTILE}" for name in ("content", "reasoning_content", "refusal")}
    head = {"id": f"id{HOSTILE}", "model": f"model{HOSTILE}"}
    choice = {"index": 0, "delta": {**texts, "tool_calls": [entry]}, "finish_reason": f"stop{HOSTILE}"}
    body = streams.frame({**head, "choices": [choice], "usage": {f"usage{HOSTILE}": 1}})
    return body + f"field{HOSTILE.replace(chr(13), '')}: x\n\n".encode() + streams.DONE


@pytest.mark.parametrize("command", ["assemble", "quirks"])
@pytest.mark.parametrize("words", [[], ["--json"], ["--full"]])
def test_hostile_stream(tmp_path, capsys, command, words) -> None:
    if command == "quirks" and words == ["--full"]:
        words = []
    path = tmp_path / "hostile\x1b[31m.sse"
    path.write_bytes(hostile_stream())
    main([command, *words, str(path)])
    out = capsys.readouterr().out
    assert out
    assert unsafe(out) == set()
    if words == ["--json"]:
        assert out.isascii()
        assert json.loads(out)["file"] == str(path)


def test_hostile_error(tmp_path, capsys) -> None:
    path = tmp_path / "recorded.sse"
    path.write_bytes(streams.frame({"error": {"message": f"no{HOSTILE}", "type": HOSTILE}}))
    for words in ([], ["--json"]):
        main(["assemble", *words, str(path)])
        out = capsys.readouterr().out
        assert "no" in out
        assert unsafe(out) == set()


def test_hostile_name_of_an_absent_file(tmp_path, capsys) -> None:
    main(["assemble", str(tmp_path / "absent\x1b[31m")])
    told = capsys.readouterr()
    assert unsafe(told.out + told.err) == set()
    assert "absent\\x1b[31m" in told.err


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_escape_leaves_nothing_unsafe_and_nothing_else_changed(text) -> None:
    shown = terminal.escape(text)
    assert unsafe(shown) == set()
    assert "\n" not in shown
    if unsafe(text) == set() and "\n" not in text:
        assert shown == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_ascii_json_is_the_same_json(text) -> None:
    shown = terminal.ascii_json(json.dumps([text], ensure_ascii=False))
    assert shown.isascii()
    assert unsafe(shown) == set()
    assert json.loads(shown) == [text]


@given(st.text(max_size=80), st.integers(min_value=3, max_value=40))
def test_shortened_says_how_much_is_left_out(text, width) -> None:
    shown = terminal.shortened(text, width)
    if len(text) <= width:
        assert shown == terminal.escape(text)
    else:
        kept = width * 2 // 3 + width // 3
        assert f"[... {len(text) - kept} characters ...]" in shown
