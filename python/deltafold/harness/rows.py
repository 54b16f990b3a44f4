"""Packed rows: runs of streamed deltas stored as one line, expanded and packed again.

Section 4.3 of the specification. A row is expanded only when its shape is exactly right; anything else is
malformed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from deltafold.harness.js import JsonValue, Record, as_int, as_record, is_count, is_number, is_safe_integer

ROW_TAGS: Final = {
    "text-chunks": "text-delta",
    "reasoning-chunks": "reasoning-delta",
    "tool-call-chunks": "tool-call-delta",
}
_TAG_OF: Final = {delta: tag for tag, delta in ROW_TAGS.items()}
_MINIMUM_RUN: Final = 3
_ENVELOPE: Final = {"type", "seq0", "time0", "data"}
_COMMON: Final = {"turn", "step", "index", "dt"}


class MalformedRowError(ValueError):
    """A line that is tagged as a packed row and is none."""


def _malformed(tag: str, why: str) -> MalformedRowError:
    return MalformedRowError(f"malformed {tag} storage row: {why}")


def row_tag(value: JsonValue) -> str | None:
    """Return the tag of a packed row, None for any other value."""
    record = as_record(value)
    tag = None if record is None else record.get("type")
    return tag if isinstance(tag, str) and tag in ROW_TAGS else None


def decode_record(value: JsonValue) -> list[JsonValue]:
    """Return the events that one stored line holds.

    Many for a packed row, one for anything else, unvalidated.

    Raises MalformedRowError.
    """
    record = as_record(value)
    tag = row_tag(value)
    if record is None or tag is None:
        return [value]
    return _expand(record, tag, *_validated(record, tag))


def _validated(row: Record, tag: str) -> tuple[Record, list[str], list[int]]:
    if row.keys() != _ENVELOPE:
        raise _malformed(tag, "envelope must be exactly {type, seq0, time0, data}")
    if not is_count(row["seq0"]):
        raise _malformed(tag, "seq0 must be a non-negative safe integer")
    if not is_safe_integer(row["time0"]):
        raise _malformed(tag, "time0 must be a safe integer")
    data = as_record(row["data"])
    if data is None:
        raise _malformed(tag, "data must be an object")
    payload_key = _payload_key(data, tag)
    if not all(is_number(data[key]) for key in ("turn", "step", "index")):
        raise _malformed(tag, "turn/step/index must be numbers")
    members = _strings(data[payload_key])
    if not members:
        raise _malformed(tag, f"{payload_key} must be a non-empty string array")
    gaps = _gaps(data["dt"])
    if gaps is None:
        raise _malformed(tag, "dt must be an array of safe integers")
    if len(gaps) != len(members) - 1:
        raise _malformed(tag, f"dt length {len(gaps)} does not match {len(members)} members")
    _check_range(row, tag, members, gaps)
    return data, members, gaps


def _payload_key(data: Record, tag: str) -> str:
    if tag != "tool-call-chunks":
        if data.keys() != _COMMON | {"texts"}:
            raise _malformed(tag, "data must be exactly {turn, step, index, dt, texts}")
        return "texts"
    if data.keys() - {"name"} != _COMMON | {"id", "args"}:
        raise _malformed(tag, "data must be exactly {turn, step, index, id, name?, dt, args}")
    if not isinstance(data["id"], str) or not isinstance(data.get("name", ""), str):
        raise _malformed(tag, "id (and name when present) must be strings")
    return "args"


def _strings(value: JsonValue) -> list[str] | None:
    if not isinstance(value, list):
        return None
    strings = [member for member in value if isinstance(member, str)]
    return strings if len(strings) == len(value) else None


def _gaps(value: JsonValue) -> list[int] | None:
    if not isinstance(value, list):
        return None
    gaps = [gap for gap in map(as_int, value) if gap is not None]
    return gaps if len(gaps) == len(value) else None


def _check_range(row: Record, tag: str, members: list[str], gaps: list[int]) -> None:
    if not is_safe_integer(_sum(as_int(row["seq0"]) or 0, len(members) - 1)):
        raise _malformed(tag, "member seqs must stay safe integers")
    time = as_int(row["time0"]) or 0
    for gap in gaps:
        time += gap
        if not is_safe_integer(_sum(time, 0)):
            raise _malformed(tag, "member times must stay safe integers")


def _sum(left: int, right: int) -> int | float:
    total = left + right
    return total if -(2**53) < total < 2**53 else float(total)


def _expand(row: Record, tag: str, data: Record, members: list[str], gaps: list[int]) -> list[JsonValue]:
    seq, time = as_int(row["seq0"]) or 0, as_int(row["time0"]) or 0
    events: list[JsonValue] = []
    for position, member in enumerate(members):
        if position:
            time += gaps[position - 1]
        chunk: Record = {"type": ROW_TAGS[tag], "index": data["index"]}
        if tag == "tool-call-chunks":
            chunk["id"] = data["id"]
            if "name" in data:
                chunk["name"] = data["name"]
            chunk["argumentsDelta"] = member
        else:
            chunk["text"] = member
        event_data: Record = {"turn": data["turn"], "step": data["step"], "chunk": chunk}
        events.append({"type": "assistant/chunk", "seq": seq + position, "time": time, "data": event_data})
    return events


def pack_events(events: list[Record]) -> list[Record]:
    """Pack a batch as the writer does: runs of at least three deltas of one block become a row."""
    packed: list[Record] = []
    run: list[Record] = []

    def flush() -> None:
        packed.extend([_row(run)] if len(run) >= _MINIMUM_RUN else run)
        run.clear()

    for event in events:
        if run and not _continues(run[-1], event):
            flush()
        if _delta(event) is None:
            flush()
            packed.append(event)
        else:
            run.append(event)
    flush()
    return packed


def _delta(event: Record) -> Record | None:
    """Return the chunk when the whole event has a shape that a row can represent."""
    data = as_record(event.get("data"))
    chunk = None if data is None else as_record(data.get("chunk"))
    if data is None or chunk is None or event.get("type") != "assistant/chunk":
        return None
    exact = event.keys() == {"type", "seq", "time", "data"} and data.keys() == {"turn", "step", "chunk"}
    numbers = is_number(data.get("turn")) and is_number(data.get("step")) and is_number(chunk.get("index"))
    integers = is_count(event.get("seq")) and is_safe_integer(event.get("time"))
    return chunk if exact and numbers and integers and _whitelisted(chunk) else None


def _whitelisted(chunk: Record) -> bool:
    if chunk.get("type") in ("text-delta", "reasoning-delta"):
        return chunk.keys() == {"type", "index", "text"} and isinstance(chunk["text"], str)
    if chunk.get("type") != "tool-call-delta":
        return False
    if chunk.keys() - {"name"} != {"type", "index", "id", "argumentsDelta"}:
        return False
    texts = (chunk["id"], chunk["argumentsDelta"], chunk.get("name", ""))
    return all(isinstance(text, str) for text in texts)


def _continues(previous: Record, event: Record) -> bool:
    one, two = _delta(previous), _delta(event)
    data_one, data_two = as_record(previous["data"]), as_record(event.get("data"))
    if one is None or two is None or data_one is None or data_two is None:
        return False
    seq_one, seq_two = as_int(previous["seq"]), as_int(event["seq"])
    gap = (as_int(event["time"]) or 0) - (as_int(previous["time"]) or 0)
    if seq_one is None or seq_two != seq_one + 1 or not is_safe_integer(_sum(gap, 0)):
        return False
    same_place = all(data_one[key] == data_two[key] for key in ("turn", "step"))
    names = ("type", "index", "id", "name")
    return same_place and all((key in one) == (key in two) and one.get(key) == two.get(key) for key in names)


def _row(run: list[Record]) -> Record:
    first = run[0]
    data, chunk = as_record(first["data"]) or {}, _delta(first) or {}
    times = [as_int(event["time"]) or 0 for event in run]
    row_data: Record = {"turn": data["turn"], "step": data["step"], "index": chunk["index"]}
    row_data["dt"] = [later - earlier for earlier, later in pairwise(times)]
    members = [_delta(event) or {} for event in run]
    if chunk["type"] == "tool-call-delta":
        row_data["id"] = chunk["id"]
        if "name" in chunk:
            row_data["name"] = chunk["name"]
        row_data["args"] = [member["argumentsDelta"] for member in members]
    else:
        row_data["texts"] = [member["text"] for member in members]
    tag = _TAG_OF[str(chunk["type"])]
    return {"type": tag, "seq0": first["seq"], "time0": first["time"], "data": row_data}
