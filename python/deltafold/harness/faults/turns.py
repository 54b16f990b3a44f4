"""Faults between events: results without call, calls without result, turns and steps that do not nest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import JsValue, Record, as_int, as_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltafold.harness.calls import Call, CallMap
    from deltafold.harness.faults.kinds import Fault
    from deltafold.harness.faults.stream import Stream
    from deltafold.harness.identity import Facts

_STEP_STOPS: Final = ("step/end", "turn/end", "step/start", "turn/start", "user/message", "assistant/message")


def pair_faults(stream: Stream, calls: CallMap, facts: Facts) -> Iterator[Fault]:
    """Yield results that belong to no call and calls that a closed turn left open."""
    ends = step_ends(stream.events)
    for call in calls.calls:
        if call.result is not None and call.repeats:
            yield stream.at("result-repeated", "the call that it cites has a result already", call.result)
        elif call.result is not None and call.call is None and call.message is None:
            yield stream.at("result-unpaired", "this result belongs to no call", call.result)
        elif call.result is not None and _named_elsewhere(call, facts):
            yield stream.at(
                "result-unpaired", "the id of this result is not that of the call it cites", call.result
            )
        anchor = open_anchor(call)
        if anchor is not None and ends[anchor] is not None:
            what = "recorded" if call.call is not None else "advertised, never recorded as started"
            yield stream.at("call-open", f"{what}, and its step ended without a result", anchor)


def _named_elsewhere(call: Call, facts: Facts) -> bool:
    """Tell whether a result bears an id of its own while its call is named otherwise."""
    own = facts.result_ids(call)
    others = facts.shown_ids(call)[: -len(own)] if own else []
    return bool(others) and own[0] not in others


def open_anchor(call: Call) -> int | None:
    """Return where a call without result stands, None for one that has a result or nothing to wait for."""
    if call.result is not None or call.message is None:
        return None
    return call.call if call.call is not None else call.message


def step_ends(events: Sequence[Record]) -> list[int | None]:
    """Return for each event where its step ended, so that no result can follow; None while it is open."""
    ends: list[int | None] = [None] * len(events)
    following: int | None = None
    for at in range(len(events) - 1, -1, -1):
        ends[at] = following
        if events[at].get("type") in _STEP_STOPS:
            following = at
    return ends


@dataclass(slots=True)
class _Numbers:
    turn: int | None = None
    step: int | None = None
    next_turn: int | None = None
    next_step: int = 1
    outside: tuple[int | None, int | None] | None = None
    """The turn and step last reported as not open, so that a run of records gives one fault."""


def order_faults(stream: Stream) -> Iterator[Fault]:
    """Yield turn and step boundaries that do not nest or count, as the next format version will demand."""
    numbers = _Numbers()
    for position, event in enumerate(stream.events):
        data = as_record(event.get("data")) or {}
        words = _boundary(numbers, str(event.get("type")), data)
        if words is not None:
            yield stream.at("turn-order", words, position)
    if numbers.turn is not None and stream.events:
        yield stream.at("turn-open", f"turn {numbers.turn} is open at the end", len(stream.events) - 1)


def _boundary(numbers: _Numbers, kind: str, data: Record) -> str | None:
    turn, step = _number(data.get("turn")), _number(data.get("step"))
    if kind == "turn/start":
        return _turn_start(numbers, turn)
    if kind == "turn/end":
        return _turn_end(numbers, turn)
    if kind == "step/start":
        return _step_start(numbers, turn, step)
    if kind == "step/end":
        open_step, numbers.step = numbers.step, None
        numbers.next_step = (step or 0) + 1
        return None if open_step == step and numbers.turn == turn else "step/end closes no open step"
    if kind in ("assistant/chunk", "assistant/message", "tool/call"):
        inside = numbers.turn == turn and numbers.step == step and step is not None
        known, numbers.outside = numbers.outside == (turn, step), None if inside else (turn, step)
        return None if inside or known else f"{kind} stands outside its step"
    return None


def _number(value: JsValue) -> int | None:
    return as_int(value)


def _turn_start(numbers: _Numbers, turn: int | None) -> str | None:
    fits = numbers.turn is None and (numbers.next_turn is None or turn == numbers.next_turn)
    numbers.turn, numbers.step, numbers.next_step = turn, None, 1
    return None if fits else f"turn/start {turn} does not follow the turn before it"


def _turn_end(numbers: _Numbers, turn: int | None) -> str | None:
    fits = numbers.turn == turn and turn is not None and numbers.step is None
    numbers.next_turn = (turn or 0) + 1
    numbers.turn = numbers.step = None
    return None if fits else f"turn/end {turn} closes no open turn, or a step is still open"


def _step_start(numbers: _Numbers, turn: int | None, step: int | None) -> str | None:
    fits = numbers.turn == turn and numbers.step is None and step == numbers.next_step
    numbers.step = step
    return None if fits else f"step/start {step} does not follow the step before it"
