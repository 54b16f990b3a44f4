"""The diff of a plan: lines taken out, changed and added, as text of a bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.harness.js import JsonValue, Record, decode_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.repair.draft import Draft

_CONTEXT: Final = 48
_WIDTH: Final = 400
_ENTRIES: Final = 1000


def _pairs(draft: Draft) -> Iterator[tuple[int | None, bytes | None, bytes | None]]:
    """Yield (file line, bytes before, bytes after) for every line that differs, in file order."""
    header = draft.document.header
    old = None if header is None else header.raw
    if old != draft.header:
        yield 1, old, draft.header
    kept = {row.line.number for row in draft.rows if row.line is not None}
    gone = [line for line in draft.document.lines if line.number not in kept]
    at = 0
    for row in draft.rows:
        while row.line is not None and at < len(gone) and gone[at].number < row.line.number:
            yield gone[at].number, gone[at].raw, None
            at += 1
        if row.changed:
            yield row.number, None if row.line is None else row.line.raw, row.raw
    for line in gone[at:]:
        yield line.number, line.raw, None


def _window(before: bytes, after: bytes) -> tuple[str, str]:
    """Cut two versions of a line to the part in which they differ, with some context."""
    limit = min(len(before), len(after))
    start = next((at for at in range(limit) if before[at] != after[at]), limit)
    tail = 0
    while tail < limit - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return _cut(before, start, len(before) - tail), _cut(after, start, len(after) - tail)


def _cut(line: bytes, start: int, end: int) -> str:
    begin, stop = max(0, start - _CONTEXT), min(len(line), end + _CONTEXT, start + _WIDTH)
    head, tail = "…" if begin else "", "…" if stop < len(line) else ""
    return head + decode_utf8(line[begin:stop]) + tail


def diff(draft: Draft) -> list[Record]:
    """Return the changed lines of a draft, each as `line`, `before` and `after`, at most a thousand."""
    entries: list[Record] = []
    for line, before, after in _pairs(draft):
        if len(entries) == _ENTRIES:
            entries.append({"omitted": True})
            break
        entry: Record = {}
        if line is not None:
            entry["line"] = line
        if before is not None and after is not None:
            entry["before"], entry["after"] = _window(before, after)
        elif before is not None:
            entry["before"] = _cut(before, 0, len(before))
        elif after is not None:
            entry["after"] = _cut(after, 0, len(after))
        entries.append(entry)
    return entries


def diff_lines(entries: list[Record]) -> Iterator[str]:
    """Yield a diff as text, one sign, line number and content a line; nothing in it is escaped yet."""
    for entry in entries:
        if "omitted" in entry:
            yield "  … more lines differ"
            continue
        number: JsonValue = entry.get("line", "new")
        for sign, key in (("-", "before"), ("+", "after")):
            if key in entry:
                yield f"{sign} {number}: {entry[key]}"
