"""Each adapter has an extra, a page of at most a screen, and in it where it departs from its original."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support import ROOT

ADAPTERS = sorted(
    path.stem for path in (ROOT / "python/deltafold/adapters").glob("*.py") if not path.stem.startswith("_")
)
SCREEN = 40
"""Lines."""


def test_these_are_the_adapters() -> None:
    assert ADAPTERS == ["anthropic", "langchain", "litellm", "openai", "openai_agents", "pydantic_ai"]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_page_and_extra(adapter: str) -> None:
    name = adapter.replace("_", "-")
    page = (ROOT / f"docs/adapters/{name}.md").read_text("utf-8")
    assert len(page.splitlines()) <= SCREEN
    assert f"deltafold.adapters.{adapter}" in page
    assert "Deliberate there:" in page
    assert "the [table](../benchmarks.md) is the measure" in page
    (tests,) = set(re.findall(r"`(tests/adapters/\w+\.py)`", page))
    assert (ROOT / tests).is_file()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert name in extras


def test_the_peers_table_measures_each_adapter_beside_its_original() -> None:
    source = (ROOT / "benches/peers/adapters.py").read_text("utf-8")
    measured = {label.replace("-", "_") for label in re.findall(r'"deltafold\.adapters\.(\w+)', source)}
    assert measured == set(ADAPTERS)
