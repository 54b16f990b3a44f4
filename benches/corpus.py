"""The recorded chat streams of the shared folder, cut as the network cut them where that is known."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benches.shapes import cut

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("DELTAFOLD_SHARED", ROOT.parent / "shared"))

PACKET = 1400
"""Feed size in bytes of a recording whose cuts nobody noted: what one network packet carries."""


def captured_feeds() -> list[list[bytes]]:
    """Every openai-chat capture as its feeds, by file name; empty without the shared folder."""
    captures = SHARED / "captures"
    return [
        feeds_of(path, captures / "chunks" / "openai-chat" / f"{path.stem}.json")
        for path in sorted((captures / "openai-chat").glob("*"))
    ]


def feeds_of(path: Path, sizes_path: Path) -> list[bytes]:
    """The body at `path`, cut at the sizes noted in `sizes_path`, else every PACKET bytes."""
    body = path.read_bytes()
    if not sizes_path.exists():
        return list(cut(body, PACKET))
    feeds: list[bytes] = []
    start = 0
    for size in json.loads(sizes_path.read_text(encoding="utf-8")):
        feeds.append(body[start : start + size])
        start += size
    if start < len(body):
        feeds.append(body[start:])
    return feeds
