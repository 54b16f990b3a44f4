"""The libraries that the adapters stand in for: imported where they are, skipped with a reason where not.

What they warn of is theirs: it does not fail our tests.
"""

from __future__ import annotations

import importlib
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.support import VECTORS

# Read when they are imported: no prices, traces or telemetry are to be fetched or sent.
os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"})
os.environ.update({"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false"})

MESSAGES = [{"role": "user", "content": "any"}]
KEYS = {"api_key": "none", "max_retries": 0}

theirs = pytest.mark.filterwarnings("ignore")
"""For tests in which a peer runs: its warnings are its own."""


def peer(module: str) -> Any:
    """The module, or a skip that names it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as absent:
            pytest.skip(
                f"{absent.name} is not installed (dependency group adapters)", allow_module_level=True
            )


def vector(name: str, wire: str = "openai-chat") -> tuple[bytes, dict[str, Any]]:
    """The bytes of a vector and what is expected of it."""
    path = Path(VECTORS) / wire / f"{name}.sse"
    return path.read_bytes(), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
