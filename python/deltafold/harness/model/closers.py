"""The events that close an interrupted turn: what a load appends and what the reader adds in memory.

Section 4.7 of the specification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from deltafold.harness.js import (
    UNDEFINED,
    JsonValue,
    JsValue,
    Record,
    Undefined,
    as_int,
    get,
    map_key,
    to_text,
)

NOT_STARTED_TEXT: Final = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)
UNKNOWN_TEXT: Final = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is"
    " unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only or"
    " idempotent; if it may have side effects, first verify external state or ask the user. Do not retry"
    " blindly."
)


@dataclass(slots=True)
class _Pending:
    """A call that waits for its result."""

    call_id: JsValue
    step: JsValue
    seq: int | None = None


@dataclass(slots=True)
class _Turn:
    """Where the log stands: None for a turn or step that is not open, as the reader's null."""

    turn: JsValue = None
    step: JsValue = None
    pending: dict[tuple[str, object], _Pending] = field(default_factory=dict["tuple[str, object]", _Pending])

    def take(self, event: Record) -> None:
        kind = event.get("type")
        data = event.get("data", UNDEFINED)
        if kind in ("turn/start", "turn/end"):
            self.turn = get(data, "turn") if kind == "turn/start" else None
            self.step = None
            self.pending.clear()
        elif kind == "step/start":
            self.step = get(data, "step")
        elif kind == "step/end":
            self.pending.clear()
            self.step = None
        elif kind == "assistant/message":
            self._advertise(data)
        elif kind == "tool/call":
            waiting = self.pending.get(map_key(get(data, "callId")))
            if waiting is not None:
                waiting.seq = as_int(event.get("seq", UNDEFINED))
        elif kind == "tool/result":
            call_id = get(get(get(data, "message"), "source"), "callId")
            self.pending.pop(map_key(call_id), None)

    def _advertise(self, data: JsValue) -> None:
        content = get(get(data, "message"), "content")
        for block in content if isinstance(content, list) else []:
            if get(block, "type") == "tool-call":
                call_id = get(block, "id")
                key = map_key(call_id)
                waiting = _Pending(call_id, get(data, "step"))
                if key in self.pending:
                    waiting.call_id = self.pending[key].call_id
                self.pending[key] = waiting


def _set(record: Record, key: str, value: JsValue) -> None:
    """Set a member unless it is undefined, which JSON cannot carry."""
    if not isinstance(value, Undefined):
        record[key] = value


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose outcome nobody recorded; `call_seq` is the seq of its record where it was started."""

    turn: JsValue
    step: JsValue
    call_id: JsValue
    call_seq: int | None


def result_event(call: OpenCall, seq: int, time: JsValue) -> Record:
    """Build the result of a call whose outcome nobody recorded, with the members in the writer's order."""
    started = call.call_seq is not None
    block: Record = {"type": "tool-result"}
    _set(block, "toolCallId", call.call_id)
    block["isError"] = True
    text: list[JsonValue] = [{"type": "text", "text": UNKNOWN_TEXT if started else NOT_STARTED_TEXT}]
    block["content"] = text
    source: Record = {"kind": "tool"}
    _set(source, "callId", call.call_id)
    content: list[JsonValue] = [block]
    message: Record = {
        "id": f"interrupted-tool-result-{to_text(call.call_id)}-{seq}",
        "role": "user",
        "source": source,
    }
    message["content"] = content
    data: Record = {}
    _set(data, "turn", call.turn)
    _set(data, "step", call.step)
    data["message"] = message
    data["error"] = (
        {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
        if started
        else {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}
    )
    event: Record = {"type": "tool/result", "seq": seq}
    _set(event, "time", time)
    event["data"] = data
    event["surfaceOp"] = "append"
    if call.call_seq is not None:
        event["sourceEventSeqs"] = [call.call_seq]
    return event


def _boundary(kind: str, seq: int, time: JsValue, members: list[tuple[str, JsValue]]) -> Record:
    data: Record = {}
    for key, value in members:
        _set(data, key, value)
    event: Record = {"type": kind, "seq": seq}
    _set(event, "time", time)
    event["data"] = data
    return event


def closers(events: list[Record]) -> list[Record]:
    """Return the events that close the open turn at the end of a log; none for a balanced one.

    Raises JsError.
    """
    state = _Turn()
    for event in events:
        state.take(event)
    if state.turn is None or not events:
        return []
    last = events[-1]
    seq, time = (as_int(last.get("seq", UNDEFINED)) or 0) + 1, last.get("time", UNDEFINED)
    closing: list[Record] = []
    for waiting in state.pending.values():
        call = OpenCall(state.turn, waiting.step, waiting.call_id, waiting.seq)
        closing.append(result_event(call, seq + len(closing), time))
    if state.step is not None:
        members: list[tuple[str, JsValue]] = [("turn", state.turn), ("step", state.step)]
        closing.append(_boundary("step/end", seq + len(closing), time, members))
    reason: Record = {"kind": "interrupted"}
    closing.append(
        _boundary("turn/end", seq + len(closing), time, [("turn", state.turn), ("reason", reason)])
    )
    return closing
