"""A session to work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness import samples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return samples.copy("poison-empty-identity-raw", tmp_path / "root")
