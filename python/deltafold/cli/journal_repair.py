"""x."""

from __future__ import annotations

from typing import Any


def register(verbs: Any) -> None:
    """x."""
