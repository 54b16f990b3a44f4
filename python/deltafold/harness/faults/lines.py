"""Faults of single lines: not ended, not JSON, no event, a packed row of the wrong shape, broken text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.harness.edit import lone_surrogates
from deltafold.harness.js import as_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.document import Line
    from deltafold.harness.faults.kinds import Fault
    from deltafold.harness.faults.stream import Stream


def line_faults(stream: Stream) -> Iterator[Fault]:
    """Yield what is wrong with each line by itself."""
    for line in stream.document.lines:
        if not line.ended:
            yield stream.fault("line-torn", f"{len(line.raw)} bytes without a line end", line)
            continue
        kind = unparsable_kind(line)
        if kind is not None:
            yield stream.fault(kind, _describe(line, kind), line)
            continue
        yield from _text_faults(stream, line)


def unparsable_kind(line: Line) -> str | None:
    """Name why a complete line holds no event, None where it holds one."""
    if not line.raw.strip(b" \t\r"):
        return "line-blank"
    if line.events is None:
        if not line.raw.strip(b"\0"):
            return "line-nul"
        return "row-malformed" if line.packed else "line-unparsable"
    return None if as_record(line.value) is not None else "line-not-event"


def _describe(line: Line, kind: str) -> str:
    size = len(line.raw)
    if kind == "row-malformed":
        return line.problem or ""
    words = {
        "line-blank": "an empty line",
        "line-nul": f"{size} NUL bytes",
        "line-not-event": "a JSON value, no event",
    }
    return words.get(kind, f"{size} bytes that are not JSON{_likely(line)}")


def _likely(line: Line) -> str:
    return ', once a "turn/end"' if looks_like_turn_end(line.raw) else ""


def looks_like_turn_end(raw: bytes) -> bool:
    """Tell whether an unreadable line still shows that it was a turn/end."""
    return b'"type":"turn/end"' in raw[:200]


def _text_faults(stream: Stream, line: Line) -> Iterator[Fault]:
    seq = None
    if b"\\u" in line.raw:
        lone = lone_surrogates(line.raw)
        if lone:
            yield stream.fault("lone-surrogate", f"{len(lone)} lone surrogate(s)", line, seq)
    try:
        line.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        yield stream.fault("not-utf8", f"ill-formed UTF-8 at byte {error.start} of the line", line, seq)
