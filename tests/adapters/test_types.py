"""The adapters are typed against the libraries that they stand in for, which only this environment has."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.adapters.peers import peer
from tests.support import ROOT

PROJECT = "tests/typing/adapters.json"
"""Strict, over the adapters and tests/typing/adapted_use.py."""


def test_pyright_strict_on_the_adapters_and_their_use() -> None:
    for module in ("pyright", "openai", "anthropic", "litellm", "langchain_core", "pydantic_ai", "agents"):
        peer(module)
    command = [sys.executable, "-m", "pyright", "--project", PROJECT, "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--outputjson"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] >= 10
    assert [(one["file"], one["message"]) for one in found["generalDiagnostics"]] == []
