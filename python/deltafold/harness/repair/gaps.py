"""Filling seqs whose records are lost.

What the records around them prove is rebuilt, the rest gets placeholders.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness.js import UNDEFINED, JsonValue, Record, as_int, as_record
from deltafold.harness.model.closers import OpenCall, result_event
from deltafold.harness.repair.draft import placeholder
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class _Waiting:
    """An advertised call without result."""

    block: Record
    step: int
    call_seq: int | None = None


@dataclass(slots=True)
class Situation:
    """Where a log stands after some of its events: open turn, open step, calls that wait."""

    turn: int | None = None
    step: int | None = None
    last_turn: int = 0
    last_step: int = 0
    time: int = 0
    waiting: list[_Waiting] = field(default_factory=list["_Waiting"])

    def take(self, event: Record) -> None:
        """Move on by one event."""
        kind, data = event.get("type"), as_record(event.get("data")) or {}
        self.time = as_int(event.get("time", UNDEFINED)) or self.time
        turn, step = as_int(data.get("turn")), as_int(data.get("step"))
        if kind == "turn/start":
            self.turn, self.step, self.last_step, self.waiting = turn, None, 0, []
            self.last_turn = turn or self.last_turn
        elif kind == "turn/end":
            self.turn = self.step = None
            self.last_step, self.waiting = 0, []
        elif kind == "step/start":
            self.step = step
        elif kind == "step/end":
            self.step, self.last_step, self.waiting = None, step or self.last_step, []
        else:
            self._take_call(event, str(kind), data)

    def _take_call(self, event: Record, kind: str, data: Record) -> None:
        if kind == "assistant/message":
            content = (as_record(data.get("message")) or {}).get("content")
            blocks = [as_record(block) or {} for block in content] if isinstance(content, list) else []
            calls = [block for block in blocks if block.get("type") == "tool-call"]
            self.waiting.extend(_Waiting(block, as_int(data.get("step")) or 0) for block in calls)
        elif kind == "tool/call":
            unstarted = [call for call in self.waiting if call.call_seq is None]
            if unstarted:
                unstarted[0].call_seq = as_int(event.get("seq", UNDEFINED))
        elif kind == "tool/result":
            sources = event.get("sourceEventSeqs")
            cited = {as_int(seq) for seq in sources} if isinstance(sources, list) else set[int | None]()
            found = [call for call in self.waiting if call.call_seq is not None and call.call_seq in cited]
            for call in found[:1] or self.waiting[:1]:
                self.waiting.remove(call)


def _boundary(kind: str, seq: int, time: int, turn: int, step: int | None = None) -> Record:
    data: Record = {"turn": turn}
    if step is not None:
        data["step"] = step
    if kind == "turn/end":
        data["reason"] = {"kind": "interrupted"}
    return {"type": kind, "seq": seq, "time": time, "data": data}


def fill(before: Situation, following: Record | None, first: int, count: int) -> list[Record]:
    """Return `count` events for the seqs from `first` on.

    Boundaries, calls and results that the following event presupposes are rebuilt; a result that is lost gets
    the outcome "unknown". Where more would be needed than seqs are free, all are placeholders.
    """
    closing = list(_closing(before, following))
    opening = list(_opening(before, following, last_free=first + count - 1))
    if len(closing) + len(opening) > count:
        closing, opening = [], []
    spare = count - len(closing) - len(opening)
    needed: list[Record | None] = [*closing, *[None] * spare, *opening]
    return [
        placeholder(seq, before.time) if event is None else _numbered(event, seq)
        for seq, event in enumerate(needed, start=first)
    ]


def _numbered(event: Record, seq: int) -> Record:
    """Give a rebuilt event its seq, and a rebuilt result the id that is formed with it."""
    event["seq"] = seq
    message = as_record((as_record(event.get("data")) or {}).get("message"))
    if message is not None:
        source = as_record(message.get("source")) or {}
        message["id"] = f"interrupted-tool-result-{source.get('callId')}-{seq}"
    return event


def _closing(before: Situation, following: Record | None) -> Iterator[Record]:
    """Yield what must have ended before the following event."""
    kind = None if following is None else following.get("type")
    data = {} if following is None else as_record(following.get("data")) or {}
    turn, step = as_int(data.get("turn")), as_int(data.get("step"))
    other_turn = kind == "turn/start" or (turn is not None and turn != before.turn)
    step_over = other_turn or kind in ("step/start", "turn/end") or (step is not None and step != before.step)
    if before.turn is None:
        return
    if step_over or kind == "step/end":
        yield from _missing_results(before)
    if before.step is not None and step_over:
        yield _boundary("step/end", 0, before.time, before.turn, before.step)
    if other_turn:
        yield _boundary("turn/end", 0, before.time, before.turn)


def _missing_results(before: Situation) -> Iterator[Record]:
    for call in before.waiting:
        identity = accept(call.block.get("id"))
        if identity is not None:
            open_call = OpenCall(before.turn, call.step, identity, call.call_seq)
            yield result_event(open_call, 0, before.time)


def _opening(before: Situation, following: Record | None, *, last_free: int) -> Iterator[Record]:
    """Yield what must have begun before the following event."""
    if following is None:
        return
    kind, data = following.get("type"), as_record(following.get("data")) or {}
    turn, step = as_int(data.get("turn")), as_int(data.get("step"))
    if turn is None or kind == "turn/start":
        return
    if turn != before.turn:
        yield _boundary("turn/start", 0, before.time, turn)
    if step is not None and kind != "step/start" and (step != before.step or turn != before.turn):
        yield _boundary("step/start", 0, before.time, turn, step)
    if kind == "tool/result":
        yield from _missing_call(before, following, last_free)


def _missing_call(before: Situation, following: Record, last_free: int) -> Iterator[Record]:
    """Yield the tool/call that a result cites by its seq, as its message advertised it."""
    unstarted = [call for call in before.waiting if call.call_seq is None]
    cited: JsonValue = following.get("sourceEventSeqs")
    if not unstarted or not isinstance(cited, list) or not cited or as_int(cited[0]) != last_free:
        return
    yield {"type": "tool/call", "seq": 0, "time": before.time, "data": _call_data(before, unstarted[0])}


def rebuilt_boundary(kind: str, situation: Situation) -> Record | None:
    """Return the data of a boundary or a call as the records before it determine it, else None."""
    turn, step = situation.turn, situation.step
    if turn is None:
        return {"turn": situation.last_turn + 1} if kind == "turn/start" else None
    if kind == "turn/end":
        return {"turn": turn, "reason": {"kind": "interrupted"}}
    if kind == "step/start" and step is None:
        return {"turn": turn, "step": situation.last_step + 1}
    if kind == "step/end" and step is not None:
        return {"turn": turn, "step": step}
    unstarted = [call for call in situation.waiting if call.call_seq is None]
    if kind != "tool/call" or step is None or not unstarted:
        return None
    return _call_data(situation, unstarted[0])


def _call_data(situation: Situation, call: _Waiting) -> Record:
    """Return the data of a tool/call as its message advertised it."""
    data: Record = {"turn": situation.turn, "step": call.step, "callId": call.block.get("id")}
    data["name"], data["arguments"] = call.block.get("name"), call.block.get("arguments")
    return data
