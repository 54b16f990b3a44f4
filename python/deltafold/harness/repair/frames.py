"""From rows back to a file.

Untouched frames keep their bytes, touched ones are compressed again, one a batch.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from deltafold.harness import zstd

if TYPE_CHECKING:
    from deltafold.harness.repair.draft import Draft, Row


def assemble(draft: Draft) -> bytes:
    """Return the bytes of the mended file."""
    if not draft.document.zstd:
        return b"".join(text + b"\n" for text in (draft.header, *(row.raw for row in draft.rows)))
    return b"".join(_frames(draft))


def _frames(draft: Draft) -> list[bytes]:
    """Return the frames: the header alone, then the rows by the frame they came from, then what is new."""
    frames = [_kept(draft, 0, draft.header + b"\n")]
    batches = {frame: list(rows) for frame, rows in groupby(draft.rows, key=lambda row: row.frame)}
    for frame in range(max(len(draft.document.frames), *(batch + 1 for batch in batches), 1)):
        rows = batches.get(frame, [])
        if rows or (frame and _empty(draft, frame)):
            frames.append(_kept(draft, frame, _text(rows)))
    return frames


def _empty(draft: Draft, frame: int) -> bool:
    known = draft.document.frames
    return frame < len(known) and known[frame].plain == b"" and known[frame].sound


def _text(rows: list[Row]) -> bytes:
    return b"".join(row.raw + b"\n" for row in rows)


def _kept(draft: Draft, frame: int, text: bytes) -> bytes:
    """Return a frame with its old bytes where its text is the same, else compressed anew."""
    known = draft.document.frames
    if frame < len(known) and known[frame].sound and known[frame].plain == text:
        return draft.document.data[known[frame].start : known[frame].end]
    return zstd.encode_frame(text)
