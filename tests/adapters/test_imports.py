"""Nothing of an adapter, and little else, is imported unless asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import deltafold

PEERS = (
    *("agents", "aiohttp", "anthropic", "httpx", "httpx2", "jiter", "langchain_core", "litellm", "openai"),
    *("primp", "pydantic", "pydantic_ai", "requests", "urllib3"),
)
MICROSECONDS = 1_000
FEW = 25
"""Modules of the standard library that `import deltafold` may bring beyond those of the interpreter's start
and of orjson: what costs time is how many they are, which no load of the machine changes."""


def told_by(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(deltafold.__file__).parent.parent)
    probe = f"import sys; sys.path.insert(0, {root!r}); {code}"
    return subprocess.run(
        [sys.executable, *options, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )


def test_no_adapter_and_no_peer_is_imported() -> None:
    told = told_by("import deltafold; print(*sorted(sys.modules), sep='\\n')").stdout.split()
    assert "deltafold._stream" in told
    assert [name for name in told if name.startswith("deltafold.adapters")] == []
    assert [name for name in told if name.partition(".")[0] in PEERS] == []
    assert "deltafold.cli" not in told


@pytest.mark.skipif(deltafold.IMPLEMENTATION != "native", reason="the reference brings orjson and more")
def test_importing_brings_few_modules_beyond_orjsons() -> None:
    """A time that -X importtime shows would be the machine's; `python -m benches.imports` prints it."""
    of_orjson = set(told_by("import orjson; print(*sys.modules)").stdout.split())
    ours = set(told_by("import deltafold; print(*sys.modules)").stdout.split())
    further = {name for name in ours - of_orjson if name.partition(".")[0] != "deltafold"}
    assert len(further) <= FEW, sorted(further)
