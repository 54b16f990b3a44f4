"""The recorded streams of the shared folder as test parameters; a skipped one where it is not there."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import SHARED, SHARED_ABSENT, files

if TYPE_CHECKING:
    from pathlib import Path

CAPTURES = SHARED / "captures"


def recordings(folder: str, pattern: str = "*.sse") -> list[Any]:
    """Every recording of a folder as a parameter with its name as id."""
    found = files(CAPTURES / folder, pattern)
    if not found:
        return [pytest.param(None, marks=pytest.mark.skip(reason=SHARED_ABSENT), id=f"{folder} absent")]
    return [pytest.param(path, id=path.stem) for path in found]


@cache
def index() -> dict[str, dict[str, Any]]:
    """What `index.jsonl` says of each recording, by `wire/name.sse`."""
    path = CAPTURES / "index.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {entry["file"]: entry for entry in map(json.loads, lines)}


def expected_of(path: Path) -> dict[str, Any] | None:
    """The assembled result that is given for a recording, if one is."""
    found = CAPTURES / "expected" / path.parent.name / f"{path.stem}.json"
    return json.loads(found.read_bytes()) if found.is_file() else None


def network_sizes(path: Path) -> list[int] | None:
    """The sizes of the network chunks that the recording came in, if they were kept."""
    found = CAPTURES / "chunks" / path.parent.name / f"{path.stem}.json"
    return json.loads(found.read_bytes()) if found.is_file() else None
