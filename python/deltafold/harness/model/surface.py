"""The surface: the ordered events that make up the history a provider is shown, and the rules of joining it.

Section 4.6 of the specification, "Surface errors".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    JsonValue,
    Record,
    as_int,
    as_record,
    deep_equal,
    is_count,
)
from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.model.adopt import MESSAGE_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True)
class Surface:
    """The surface of a growing log; `nodes` are seqs in the order a provider would see them."""

    nodes: list[int] = field(default_factory=list[int])
    searched: int = 0
    """Nodes that replacements searched; each one may search them all."""

    def take(self, event: Record, seq: int, events: Sequence[Record]) -> None:
        """Add one event; raises JsError in the reader's words and order where it may not join."""
        operation = surface_operation(event)
        if operation is None:
            return
        if operation == "append":
            _check_sources(event, seq, [])
            self.nodes.append(seq)
            return
        start, end = self._range(as_record(operation) or {})
        shadowed = self.nodes[start : end + 1]
        _check_sources(event, seq, shadowed)
        if event.get("type") == "tool/result":
            _check_rewrite(event, shadowed, events)
        self.nodes[start : end + 1] = [seq]

    def _range(self, operation: Record) -> tuple[int, int]:
        start, end = as_int(operation["start"]) or 0, as_int(operation["end"]) or 0
        self.searched += len(self.nodes)
        if self.searched > DEFAULT_LIMITS.work:
            raise RefusedError("file-too-complex", "too many replacements in too long a history")
        for name, seq in (("start", start), ("end", end)):
            if seq not in self.nodes:
                raise JsError(f"surface replace: {name} seq {seq} not found in surface")
        first, last = self.nodes.index(start), self.nodes.index(end)
        if first > last:
            raise JsError(
                f"surface replace: start seq {start} (index {first}) is after end seq {end} (index {last})"
            )
        return first, last


def surface_operation(event: Record) -> JsonValue:
    """Return the operation of an event, None for one that stays off the surface; raises JsError."""
    kind = event.get("type")
    if kind not in MESSAGE_TYPES:
        for key in ("surfaceOp", "sourceEventSeqs"):
            if key in event:
                raise JsError(f'session event "{kind}" is not surface-eligible and cannot carry {key}')
        return None
    if "surfaceOp" not in event:
        raise JsError(f'session event "{kind}" is surface-eligible and requires a surfaceOp marker')
    operation = event["surfaceOp"]
    if operation == "append":
        return operation
    record = as_record(operation)
    if record is None:
        raise JsError(f'session event "{kind}" carries an invalid surfaceOp')
    seqs = is_count(record.get("start", UNDEFINED)) and is_count(record.get("end", UNDEFINED))
    if record.keys() != {"op", "start", "end"} or record["op"] != "replace" or not seqs:
        raise JsError(f'session event "{kind}" carries an invalid replace surfaceOp')
    return record


def _check_sources(event: Record, seq: int, shadowed: list[int]) -> None:
    sources = cited_sources(event, seq)
    missing = [str(node) for node in shadowed if node not in sources]
    if missing:
        raise JsError(
            "surface replace: sourceEventSeqs must include every shadowed surface node;"
            f" missing {', '.join(missing)}"
        )


def cited_sources(event: Record, seq: int) -> set[int]:
    """Return the seqs that an event cites; raises JsError in the order of the reader's own checks."""
    if "sourceEventSeqs" not in event:
        return set()
    kind, raw = event.get("type"), event["sourceEventSeqs"]
    if not isinstance(raw, list):
        raise JsError(f"sourceEventSeqs on event at seq {seq} must be an array when present")
    if not raw and kind != "assistant/message":
        raise JsError("sourceEventSeqs must not be empty except on assistant/message")
    sources: list[int] = []
    for source in raw:
        number = as_int(source)
        if number is None or number < 0:
            raise JsError(
                f'session event "{kind}" sourceEventSeqs must densely contain non-negative safe integers'
            )
        sources.append(number)
    if len(set(sources)) != len(sources):
        raise JsError("sourceEventSeqs must not contain duplicates")
    later = next((source for source in sources if source >= seq), None)
    if later is not None:
        raise JsError(f"sourceEventSeqs must reference earlier events: {later} >= current seq {seq}")
    return set(sources)


def _check_rewrite(event: Record, shadowed: list[int], events: Sequence[Record]) -> None:
    """Hold a rewritten tool result to its original: only the content inside its block may differ."""
    if len(shadowed) != 1:
        raise JsError("tool/result surface replacement must rewrite exactly one current node")
    original = events[shadowed[0]]
    if original.get("type") != "tool/result":
        raise JsError("tool/result surface replacement must target a current tool/result")
    if not deep_equal(_without_content(original), _without_content(event)):
        raise JsError("tool/result surface replacement may change only content")


def _without_content(event: Record) -> Record:
    data = as_record(event.get("data")) or {}
    message = as_record(data.get("message")) or {}
    content = message.get("content")
    block = as_record(content[0]) if isinstance(content, list) and content else None
    blank: Record = {**(block or {}), "content": None}
    blocks: list[JsonValue] = [blank]
    return {**data, "message": {**message, "content": blocks}}
