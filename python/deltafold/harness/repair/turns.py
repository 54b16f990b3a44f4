"""Calls that a closed turn left open get a result of unknown outcome, and what stands behind it moves up.

The insertion is the one repair that renumbers: every seq and every reference to a seq behind it, and nothing
else of a line. An open last turn that lost something gets the closers that a load would append.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltafold.harness import edit
from deltafold.harness.faults.messages import upgraded_events
from deltafold.harness.faults.turns import open_anchor, step_ends
from deltafold.harness.identity import Facts
from deltafold.harness.js import JsError, JsonValue, Record, as_int, as_record, as_text, parse, stringify
from deltafold.harness.model.closers import OpenCall, closers, result_event
from deltafold.harness.pairing import map_calls
from deltafold.harness.repair.draft import Change, Row
from deltafold.harness.rows import pack_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.harness.calls import Call
    from deltafold.harness.edit import Path
    from deltafold.harness.repair.draft import Draft

_LISTS: Final[dict[str, tuple[Path, ...]]] = {
    "session/title": (("data", "messageSeqs"),),
    "session/title-llm-request": (("data", "messageSeqs"),),
    "compaction/summary": (("data", "shadowedSeqs"),),
    "compaction/prune": (("data", "shadowedSeqs"),),
}
_SINGLES: Final[dict[str, tuple[Path, ...]]] = {
    "compaction/summary": (("data", "shadowedRange", "start"), ("data", "shadowedRange", "end")),
    "compaction/prune": (("data", "shadowedRange", "start"), ("data", "shadowedRange", "end")),
    "command/done": (("data", "sourceEventSeq"),),
}
_TITLE_FRAME: Final = "Generate the session title from this JSON array of human messages:\n"


@dataclass(frozen=True, slots=True)
class _Insertion:
    before: int
    call: Call
    identity: str


def mend_open_calls(draft: Draft) -> None:
    """Insert a result for every call that its closed turn left without one."""
    upgraded = upgraded_events(draft.events, draft.session)
    calls = map_calls(upgraded)
    facts = Facts(upgraded, calls)
    insertions: list[_Insertion] = []
    ends = step_ends(draft.events)
    for call in calls.calls:
        anchor, found = open_anchor(call), facts.identity(call)
        stop = None if anchor is None else ends[anchor]
        if stop is not None and found is not None:
            insertions.append(_Insertion(stop, call, found.value))
    if insertions:
        _insert(draft, sorted(insertions, key=lambda insertion: insertion.before))


def _insert(draft: Draft, insertions: list[_Insertion]) -> None:
    points = [insertion.before for insertion in insertions]

    def moved(seq: int) -> int:
        return seq + bisect_right(points, seq)

    rows: list[Row] = []
    at, index = 0, 0
    for row in draft.rows:
        while index < len(insertions) and insertions[index].before == at:
            rows.append(_result_row(draft, insertions[index], at + index, moved, row.frame))
            index += 1
        size = len(row.events)
        if index and _move(row, moved):
            draft.renumbered += 1
        rows.append(row)
        at += size
    draft.rows = rows
    _move_seed(draft, moved)
    draft.refresh()


def _result_row(
    draft: Draft, insertion: _Insertion, seq: int, moved: Callable[[int], int], frame: int
) -> Row:
    call = insertion.call
    data = as_record(draft.events[call.message or 0].get("data")) or {}
    time = draft.events[insertion.before - 1].get("time")
    started = None if call.call is None else moved(call.call)
    open_call = OpenCall(data.get("turn"), data.get("step"), insertion.identity, started)
    event = result_event(open_call, seq, time)
    why = (
        "its outcome was never recorded and stays unknown"
        if call.call is not None
        else "it was never started"
    )
    draft.note(Change("call-open", why, "derived", seq=seq, new="tool/result"))
    return Row.fresh(event, frame)


def _move(row: Row, moved: Callable[[int], int]) -> bool:
    """Set every seq in a row to its new value; True when one changed."""
    before = row.raw
    events = row.events
    _move_single(row, ("seq0",) if row.packed else ("seq",), moved)
    if row.packed or not events:
        return row.raw != before
    event = events[0]
    kind = str(event.get("type"))
    for path in (("sourceEventSeqs",), *_LISTS.get(kind, ())):
        _move_list(row, path, moved)
    for path in (("surfaceOp", "start"), ("surfaceOp", "end"), *_SINGLES.get(kind, ())):
        _move_single(row, path, moved)
    _move_identity(row, event, moved)
    _move_title(row, event, moved)
    return row.raw != before


def _member(row: Row, path: Path) -> JsonValue:
    current: JsonValue = row.parsed().value
    for key in path:
        current = current.get(key) if isinstance(current, dict) and isinstance(key, str) else None
    return current


def _move_single(row: Row, path: Path, moved: Callable[[int], int]) -> None:
    seq = as_int(_member(row, path))
    if seq is not None and moved(seq) != seq:
        row.put(path, moved(seq))


def _move_list(row: Row, path: Path, moved: Callable[[int], int]) -> None:
    listed = _member(row, path)
    if not isinstance(listed, list):
        return
    seqs = [as_int(seq) for seq in listed]
    fresh: list[JsonValue] = [
        old if seq is None else moved(seq) for old, seq in zip(listed, seqs, strict=True)
    ]
    if fresh != listed:
        row.put(path, fresh)


def _move_identity(row: Row, event: Record, moved: Callable[[int], int]) -> None:
    """Form the id of a closer again: it holds the seq."""
    seq = as_int(event.get("seq"))
    message = as_record((as_record(event.get("data")) or {}).get("message")) or {}
    call_id = as_text((as_record(message.get("source")) or {}).get("callId"))
    if (
        seq is not None
        and moved(seq) != seq
        and message.get("id") == f"interrupted-tool-result-{call_id}-{seq}"
    ):
        row.put(("data", "message", "id"), f"interrupted-tool-result-{call_id}-{moved(seq)}")


def _move_title(row: Row, event: Record, moved: Callable[[int], int]) -> None:
    """Write the text of a title request again: it quotes the seqs of the messages."""
    if event.get("type") != "session/title-llm-request":
        return
    messages = (as_record(event.get("data")) or {}).get("messages")
    message = as_record(messages[0]) if isinstance(messages, list) and messages else None
    content = None if message is None else message.get("content")
    text = (
        as_text((as_record(content[0]) or {}).get("text")) if isinstance(content, list) and content else None
    )
    if text is None or not text.startswith(_TITLE_FRAME):
        return
    try:
        quoted = parse(text.removeprefix(_TITLE_FRAME))
    except ValueError:
        return
    for entry in map(as_record, quoted if isinstance(quoted, list) else []):
        seq = None if entry is None else as_int(entry.get("seq"))
        if entry is not None and seq is not None:
            entry["seq"] = moved(seq)
    row.put(("data", "messages", 0, "content", 0, "text"), _TITLE_FRAME + stringify(quoted))


def _move_seed(draft: Draft, moved: Callable[[int], int]) -> None:
    """Let the header count the events of its seed again."""
    try:
        found = edit.locate(draft.header, ("seedLength",))
    except edit.EditError:
        return
    length = as_int(parse(draft.header[found.start : found.end].decode()))
    if length is not None and length > 0 and moved(length - 1) != length - 1:
        draft.header = edit.replace(draft.header, ("seedLength",), moved(length - 1) + 1)


def close_last_turn(draft: Draft) -> None:
    """Append the closers of a load where the open last turn lost something."""
    upgraded = upgraded_events(draft.events, draft.session)
    start = next(
        (at for at in range(len(upgraded) - 1, -1, -1) if upgraded[at].get("type") == "turn/start"), None
    )
    begun = 0 if start is None else draft.owners[start].number or 0
    if not any(line >= begun for line in draft.losses):
        return
    try:
        closing = closers(upgraded)
    except JsError as error:
        draft.blocked.append(f"the open turn cannot be closed: {error.message}")
        return
    frame = max(len(draft.document.frames), draft.rows[-1].frame) if draft.rows else 1
    for event in pack_events(closing):
        draft.rows.append(Row.fresh(event, frame))
        draft.note(
            Change(
                "turn-open", "the open turn is closed as a load would", "derived", as_int(event.get("seq"))
            )
        )
    draft.refresh()
