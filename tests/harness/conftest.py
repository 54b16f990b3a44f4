"""A session to work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltafold.harness.repair import apply, live
from tests.harness import samples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting, and no look at the processes of this machine: neither adds a moment at which to die."""
    monkeypatch.setattr(live, "_processes", list[str])
    monkeypatch.setattr(apply, "_SETTLE_SECONDS", 0)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return samples.copy("poison-empty-identity-raw", tmp_path / "root")
