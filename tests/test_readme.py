"""The README's example runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 (the README's own words)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "call call_7 remove",
        "run remove {'path': '/tmp/x'}",
        "the gateway: empty-identity first in frame 1",
        "the gateway: null-identity first in frame 2",
    ]


def test_links_and_tests_named_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    named = re.findall(r"`((?:tests|rust|docs)/[\w./*-]+)`", text)
    assert links
    assert named
    for path in (*links, *named):
        assert list(ROOT.glob(path.rstrip("/"))), path
