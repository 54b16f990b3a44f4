"""Pairing: one pass over a log that puts the records of each call together.

Every lookup is by dictionary, so the pass stays linear however many calls one message holds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.calls import Attempt, Block, Call, CallMap, attempts_of, cited
from deltafold.harness.js import UNDEFINED, JsonValue, JsValue, Record, as_int, as_record, map_key
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STEP_ENDS: Final = ("step/start", "step/end", "turn/start", "turn/end")
_LINKED: Final = ("tool/code-dispatch", "tool/code-dispatch-start", "approval/asked")


def _data(event: Record) -> Record:
    return as_record(event.get("data")) or {}


def _content(event: Record) -> list[JsonValue]:
    content = (as_record(_data(event).get("message")) or {}).get("content")
    return content if isinstance(content, list) else []


@dataclass(slots=True)
class _OpenStep:
    """The calls of the last message that may still be started or answered."""

    unstarted: dict[int, Call] = field(default_factory=dict[int, Call])
    unanswered: dict[int, Call] = field(default_factory=dict[int, Call])
    started: dict[int, Call] = field(default_factory=dict[int, Call])
    """Calls by the position of their tool/call, answered ones too."""
    shown: dict[int, JsValue] = field(default_factory=dict[int, JsValue])
    """The id that a call shows: its record's, before that its block's."""
    by_id: dict[str, dict[int, Call]] = field(default_factory=dict[str, "dict[int, Call]"])
    """Unanswered calls by the id they show; an empty id names nothing."""
    by_arguments: dict[tuple[str, object], deque[Call]] = field(
        default_factory=dict["tuple[str, object]", "deque[Call]"]
    )

    def advertise(self, call: Call, block: Record) -> None:
        """Add a call that a message holds."""
        self.unstarted[id(call)] = call
        self.unanswered[id(call)] = call
        self.show(call, block.get("id"))
        self.by_arguments.setdefault(map_key(block.get("arguments")), deque()).append(call)

    def show(self, call: Call, identity: JsValue) -> None:
        """Note the id under which a call can be found."""
        old = accept(self.shown.get(id(call)))
        if old is not None:
            self.by_id[old].pop(id(call), None)
        self.shown[id(call)] = identity
        fresh = accept(identity)
        if fresh is not None:
            self.by_id.setdefault(fresh, {})[id(call)] = call

    def named(self, identity: JsValue) -> Call | None:
        """Return the one unanswered call of that id; an empty id and an ambiguous one name nothing."""
        wanted = accept(identity)
        found = {} if wanted is None else self.by_id.get(wanted, {})
        return next(iter(found.values())) if len(found) == 1 else None

    def start(self, position: int, data: Record) -> Call | None:
        """Return the advertised call that a tool/call starts: by its id, its arguments, else in order."""
        named = self.named(data.get("callId"))
        if named is None or id(named) not in self.unstarted:
            named = self._same_arguments(data.get("arguments")) or next(iter(self.unstarted.values()), None)
        if named is not None:
            del self.unstarted[id(named)]
            self.begin(named, position, data)
        return named

    def begin(self, call: Call, position: int, data: Record) -> None:
        """Note that a call has its record."""
        call.call = position
        self.started[position] = call
        self.unanswered[id(call)] = call
        self.show(call, data.get("callId"))

    def _same_arguments(self, arguments: JsValue) -> Call | None:
        waiting = self.by_arguments.get(map_key(arguments), deque())
        while waiting and id(waiting[0]) not in self.unstarted:
            waiting.popleft()
        return waiting[0] if waiting else None

    def answer(self, call: Call, position: int) -> None:
        """Note that a call has its result."""
        call.result = position
        self.unanswered.pop(id(call), None)
        self.unstarted.pop(id(call), None)
        self.show(call, None)


class _Mapper:
    """Builds the map. Positions are found from seqs, which need not be contiguous."""

    def __init__(self, events: Sequence[Record]) -> None:
        self.events = events
        self.at: dict[int, int] = {}
        for position, event in enumerate(events):
            seq = as_int(event.get("seq", UNDEFINED))
            if seq is not None:
                self.at.setdefault(seq, position)
        self.streamed = attempts_of(events)
        self.calls: list[Call] = []
        self.joined: list[Attempt] = []
        self.replaced: set[int] = set()
        self.attempt_at = {at: attempt for attempt in self.streamed for at in attempt.positions}
        self.open = _OpenStep()
        self.by_result: dict[int, Call] = {}
        self.passed = 0
        self.recent: Attempt | None = None

    def positions(self, event: Record) -> list[int]:
        return [self.at[seq] for seq in cited(event) if seq in self.at]

    def run(self) -> CallMap:
        for position, event in enumerate(self.events):
            kind = event.get("type")
            if kind == "assistant/message":
                self.message(position, event)
            elif kind == "tool/call":
                self.call(position, event)
            elif kind == "tool/result":
                self.result(position, event)
            elif kind in _LINKED:
                self.link(position)
            elif kind in _STEP_ENDS:
                self.open = _OpenStep()
        kept = [attempt for attempt in self.streamed if id(attempt) not in self.replaced]
        return CallMap([*kept, *self.joined], self.calls)

    def message(self, position: int, event: Record) -> None:
        attempt = self.cited_attempt(position, event)
        if attempt is not None:
            attempt.message = position
        content = _content(event)
        blocks = [
            at for at, block in enumerate(content) if (as_record(block) or {}).get("type") == "tool-call"
        ]
        self.open = _OpenStep()
        for at, block in _match(content, blocks, [] if attempt is None else attempt.tool_blocks()):
            call = Call(message=position, content_at=at, block=block)
            self.calls.append(call)
            self.open.advertise(call, as_record(content[at]) or {})

    def last_attempt(self, position: int) -> Attempt | None:
        """Return the last attempt that began since the message before; each is passed once."""
        self.recent = None
        while self.passed < len(self.streamed) and self.streamed[self.passed].positions[0] < position:
            self.recent = self.streamed[self.passed]
            self.passed += 1
        return self.recent

    def cited_attempt(self, position: int, event: Record) -> Attempt | None:
        """Return the attempt that a message cites; without usable citation the last one in its step."""
        last = self.last_attempt(position)
        chunks = [at for at in self.positions(event) if at < position and at in self.attempt_at]
        if not chunks:
            return last if last is not None and _same_step(last, event) else None
        owners = {id(self.attempt_at[at]) for at in chunks}
        if len(owners) == 1:
            return self.attempt_at[chunks[0]]
        joined = Attempt()
        for at in sorted(set(chunks)):
            joined.take(at, self.events[at])
        self.replaced |= owners
        self.joined.append(joined)
        self.attempt_at.update(dict.fromkeys(joined.positions, joined))
        return joined

    def call(self, position: int, event: Record) -> None:
        if self.open.start(position, _data(event)) is None:
            call = Call()
            self.calls.append(call)
            self.open.begin(call, position, _data(event))

    def result(self, position: int, event: Record) -> None:
        operation = as_record(event.get("surfaceOp", UNDEFINED))
        start = None if operation is None else as_int(operation.get("start", UNDEFINED))
        if start is not None:
            original = self.by_result.get(self.at.get(start, -1))
            if original is not None:
                original.rewrites.append(position)
                self.by_result[position] = original
            return
        chosen = self.answered_call(position, event)
        if chosen is None:
            repeats = any(at in self.open.started for at in self.positions(event))
            chosen = Call(repeats=repeats)
            self.calls.append(chosen)
        self.open.answer(chosen, position)
        self.by_result[position] = chosen

    def answered_call(self, position: int, event: Record) -> Call | None:
        """Return the call that a result answers: the one it cites, else that of its id, else the only one."""
        for at in self.positions(event):
            call = self.open.started.get(at)
            if call is not None and call.result is None and at < position:
                return call
        data = _data(event)
        source = as_record((as_record(data.get("message")) or {}).get("source")) or {}
        named = accept(source.get("callId")) or accept(data.get("callId"))
        chosen = self.open.named(named)
        if chosen is None and named is None and len(self.open.unanswered) == 1:
            chosen = next(iter(self.open.unanswered.values()))
        return chosen

    def link(self, position: int) -> None:
        """Link a record to the one call that is under way."""
        under_way = (
            [call for call in self.open.unanswered.values() if call.call is not None] if self._few() else []
        )
        if len(under_way) == 1:
            under_way[0].linked.append(position)

    def _few(self) -> bool:
        """Tell whether so few calls are open that one of them can be the only one under way."""
        return len(self.open.unanswered) - len(self.open.unstarted) == 1


def _same_step(attempt: Attempt, event: Record) -> bool:
    data = _data(event)
    places = ((attempt.turn, data.get("turn", UNDEFINED)), (attempt.step, data.get("step", UNDEFINED)))
    return all(map_key(one) == map_key(two) for one, two in places)


def _match(
    content: list[JsonValue], blocks: list[int], streamed: list[Block]
) -> list[tuple[int, Block | None]]:
    """Pair message blocks with streamed blocks: by position, or by arguments where the counts differ."""
    if len(blocks) == len(streamed):
        return list(zip(blocks, streamed, strict=True))
    left: dict[str, deque[Block]] = {}
    for block in streamed:
        left.setdefault(block.whole_arguments, deque()).append(block)
    pairs: list[tuple[int, Block | None]] = []
    for at in blocks:
        arguments = (as_record(content[at]) or {}).get("arguments")
        found = left.get(arguments) if isinstance(arguments, str) else None
        pairs.append((at, found.popleft() if found else None))
    return pairs


def map_calls(events: Iterable[Record]) -> CallMap:
    """Map all attempts and calls of a log given as its expanded events in order."""
    return _Mapper(list(events)).run()
