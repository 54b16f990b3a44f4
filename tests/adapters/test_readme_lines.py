"""The lines that the README tells to change: both sides are run against the real libraries."""

from __future__ import annotations

import importlib
import re
import textwrap
from typing import Any

import pytest

import deltafold
from tests.adapters.gateway import Gateway
from tests.adapters.peers import KEYS, MESSAGES, peer, theirs, vector
from tests.support import ROOT

pytestmark = theirs

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
SDKS = {
    "openai": ("OpenAI", "openai-chat", "shared-index"),
    "anthropic": ("Anthropic", "anthropic-messages", "eager-input"),
}


def lines_of(sdk: str) -> tuple[str, str]:
    """The line before and the line after of the README's diff for that SDK."""
    text = (ROOT / "README.md").read_text("utf-8")
    diffs = re.findall(r"```diff\n-(.*)\n\+(.*)\n```", text)
    (found,) = [pair for pair in diffs if f"deltafold.adapters.{sdk}." in pair[1]]
    return found


def run(line: str, client: Any) -> Any:
    """What the line names `stream`, and its events."""
    reading = "seen = list(stream)"
    code = f"{line}\n{textwrap.indent(reading, '    ')}" if line.endswith(":") else f"{line}\n{reading}"
    names = {"client": client, "deltafold": deltafold, "model": "any", "messages": MESSAGES, "tools": TOOLS}
    exec(code, names)  # noqa: S102 (the README's own line)
    return names["stream"], names["seen"]


@pytest.mark.parametrize("sdk", SDKS)
def test_both_lines_run_and_ours_gives_our_events_and_the_sdks_object(gateway: Gateway, sdk: str) -> None:
    client_class, wire, name = SDKS[sdk]
    module = peer(sdk)
    importlib.import_module(f"deltafold.adapters.{sdk}")
    body, _ = vector(name, wire)
    before, after = lines_of(sdk)
    with getattr(module, client_class)(base_url=gateway.play(body).url, **KEYS) as client:
        assert run(before, client)[1]
        stream, seen = run(after, client)
    assert list(seen) == list(deltafold.stream([body]))
    if sdk == "openai":
        assert isinstance(stream.get_final_completion(), module.types.chat.ChatCompletion)
    else:
        assert isinstance(stream.get_final_message(), module.types.Message)


def test_the_readme_names_the_import_of_each() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for sdk in SDKS:
        assert f"`import deltafold.adapters.{sdk}`" in text
