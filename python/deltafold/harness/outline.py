"""Show and export: what a session holds, for people and for programs, damaged or not. Nothing is written."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from deltafold.harness.faults.messages import upgraded_events
from deltafold.harness.faults.stream import build_stream
from deltafold.harness.js import UNDEFINED, JsonValue, JsValue, Record, as_int, as_record, as_text
from deltafold.harness.model.adopt import MESSAGE_TYPES, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.document import Document, Line
    from deltafold.harness.faults import Fault

_SNIPPET = 200


def _text_of(content: JsValue) -> str:
    parts: list[str] = []
    for block in content if isinstance(content, list) else []:
        record = as_record(block) or {}
        if record.get("type") == "text":
            parts.append(as_text(record.get("text")) or "")
        elif record.get("type") == "tool-result":
            parts.append(_text_of(record.get("content", UNDEFINED)))
    return " ".join(parts)


def _calls_of(content: JsValue) -> list[JsonValue]:
    blocks = [as_record(block) or {} for block in content] if isinstance(content, list) else []
    return [
        {"id": block.get("id"), "name": block.get("name"), "arguments": block.get("arguments")}
        for block in blocks
        if block.get("type") == "tool-call"
    ]


def _message_entry(event: Record) -> Record:
    message = as_record(message_of(event)) or {}
    content = message.get("content", UNDEFINED)
    entry: Record = {"text": _text_of(content)[:_SNIPPET]}
    calls = _calls_of(content)
    if calls:
        entry["calls"] = calls
    if event.get("type") == "tool/result":
        entry["call_id"] = (as_record(message.get("source")) or {}).get("callId")
    return entry


def _boundary_entry(event: Record) -> Record:
    data = as_record(event.get("data")) or {}
    entry: Record = {key: data[key] for key in ("turn", "step") if key in data}
    reason = as_record(data.get("reason"))
    if reason is not None:
        entry["reason"] = reason.get("kind")
    if event.get("type") == "tool/call":
        entry.update({key: data.get(key) for key in ("callId", "name", "arguments")})
    return entry


def outline(document: Document, session: str) -> Iterator[Record]:
    """Yield the events that make up a conversation, without the streamed chunks."""
    stream = build_stream(document)
    for event in upgraded_events(stream.events, session):
        kind = as_text(event.get("type")) or ""
        entry: Record = {"seq": event.get("seq"), "time": event.get("time"), "type": kind}
        if kind in MESSAGE_TYPES:
            yield {**entry, **_message_entry(event)}
        elif kind in ("turn/start", "turn/end", "step/start", "step/end", "tool/call"):
            yield {**entry, **_boundary_entry(event)}


def export(document: Document, faults: list[Fault]) -> Iterator[Record]:
    """Yield every decoded record with its place and its faults, and the bytes of every other line."""
    by_line: dict[int, list[Fault]] = {}
    for fault in faults:
        by_line.setdefault(fault.line or 0, []).append(fault)
    container: list[JsonValue] = [fault.to_dict() for fault in by_line.get(0, [])]
    if container:
        yield {"faults": container}
    if document.header is not None:
        yield from _exported(document.header, document.header.value, by_line)
    for line in document.lines:
        records = line.records
        if not records:
            raw: Record = {
                "line": line.number,
                "offset": line.offset,
                "base64": base64.b64encode(line.raw).decode(),
            }
            yield {**raw, **_faults_of(line, None, by_line)}
        for record in records:
            place: Record = {"line": line.number, "offset": line.offset, "event": record}
            yield {**place, **_faults_of(line, as_int(record.get("seq", UNDEFINED)), by_line)}


def _exported(line: Line, value: JsonValue, by_line: dict[int, list[Fault]]) -> Iterator[Record]:
    shown: Record = {"line": line.number, "offset": line.offset, "header": value}
    if value is None:
        shown["base64"] = base64.b64encode(line.raw).decode()
    yield {**shown, **_faults_of(line, None, by_line)}


def _faults_of(line: Line, seq: int | None, by_line: dict[int, list[Fault]]) -> Record:
    own = [
        fault
        for fault in by_line.get(line.number, [])
        if fault.seq is None or seq is None or fault.seq == seq
    ]
    faults: list[JsonValue] = [fault.to_dict() for fault in own]
    return {"faults": faults} if faults else {}
