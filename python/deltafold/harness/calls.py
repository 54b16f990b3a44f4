"""Which records belong to one tool call: streamed deltas, message block, call, result.

Section 5.1 of the specification. Pairing goes by the seqs that records cite and by their order, never by id:
poisoned calls share the empty one. Identity is the first non-empty value among the deltas of the same turn,
step and block of the attempt that the message cites; several attempts can stand in one step and are not
mixed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import UNDEFINED, JsonValue, JsValue, Record, as_int, as_record, as_text, map_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_ATTEMPT_ENDS: Final = ("assistant/message", "step/start", "step/end", "turn/start", "turn/end", "llm/retry")
_STEP_ENDS: Final = ("step/start", "step/end", "turn/start", "turn/end")


def accept(value: JsValue) -> str | None:
    """Accept an id or a name only from a non-empty string (I1)."""
    return value if isinstance(value, str) and value else None


@dataclass(slots=True, eq=False)
class Block:
    """One tool-call block of one attempt, as it was streamed.

    `deltas` and `ends` are positions in the event list.
    """

    index: JsValue
    deltas: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])
    ids: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])
    tool: bool = False

    @property
    def whole_arguments(self) -> str:
        """The argument text as it was streamed."""
        return "".join(self.arguments)


@dataclass(slots=True, eq=False)
class Attempt:
    """One request to the model: what it streamed, up to its finish."""

    turn: JsValue = UNDEFINED
    step: JsValue = UNDEFINED
    positions: list[int] = field(default_factory=list[int])
    blocks: dict[tuple[str, object], Block] = field(default_factory=dict["tuple[str, object]", Block])
    message: int | None = None

    def tool_blocks(self) -> list[Block]:
        """Return the tool-call blocks by ascending index."""
        tools = [block for block in self.blocks.values() if block.tool]
        return sorted(tools, key=lambda block: block.index if isinstance(block.index, (int, float)) else 0)

    def take(self, position: int, event: Record) -> None:
        """Add one chunk event."""
        data = as_record(event.get("data")) or {}
        self.turn, self.step = data.get("turn", UNDEFINED), data.get("step", UNDEFINED)
        self.positions.append(position)
        chunk = as_record(data.get("chunk"))
        if chunk is None or "index" not in chunk:
            return
        block = self.blocks.setdefault(map_key(chunk["index"]), Block(chunk["index"]))
        _take_chunk(block, position, chunk)


def _take_chunk(block: Block, position: int, chunk: Record) -> None:
    kind = chunk.get("type")
    if kind == "block-start":
        block.starts.append(position)
        block.tool = block.tool or chunk.get("blockType") == "tool-call"
    elif kind == "tool-call-delta":
        block.tool = True
        block.deltas.append(position)
        _note(block, chunk)
        block.arguments.append(as_text(chunk.get("argumentsDelta")) or "")
    elif kind == "block-end":
        closed = as_record(chunk.get("block")) or {}
        block.tool = block.tool or closed.get("type") == "tool-call"
        block.ends.append(position)


def _note(block: Block, source: Record) -> None:
    identity, name = accept(source.get("id")), accept(source.get("name"))
    if identity is not None:
        block.ids.append(identity)
    if name is not None:
        block.names.append(name)


@dataclass(slots=True, eq=False)
class Call:
    """All records of one tool call, as positions in the event list; None for what is not there."""

    message: int | None = None
    content_at: int | None = None
    """Place of the block in the content of the message."""
    block: Block | None = None
    call: int | None = None
    result: int | None = None
    rewrites: list[int] = field(default_factory=list[int])
    """Later surface replacements of the result."""
    linked: list[int] = field(default_factory=list[int])
    """Records between call and result that cite the call's id."""
    repeats: bool = False
    """Whether this is only a second result of a call that has one."""


@dataclass(slots=True)
class CallMap:
    """Every attempt and every call of a log."""

    attempts: list[Attempt] = field(default_factory=list[Attempt])
    calls: list[Call] = field(default_factory=list[Call])


def attempts_of(events: Sequence[Record]) -> list[Attempt]:
    """Split the chunk events of a log into attempts."""
    attempts: list[Attempt] = []
    current: Attempt | None = None
    for position, event in enumerate(events):
        kind = event.get("type")
        if kind == "assistant/chunk":
            if current is None:
                current = Attempt()
                attempts.append(current)
            current.take(position, event)
            chunk = as_record((as_record(event.get("data")) or {}).get("chunk")) or {}
            if chunk.get("type") == "finish":
                current = None
        elif isinstance(kind, str) and kind.startswith(_ATTEMPT_ENDS):
            current = None
    return attempts


def cited(event: Record) -> list[int]:
    """Return the seqs that an event cites, those that are usable."""
    sources = event.get("sourceEventSeqs")
    numbers = map(as_int, sources) if isinstance(sources, list) else ()
    return [number for number in numbers if number is not None]


class _Mapper:
    """Builds the map in one pass over the events.

    Positions are found from seqs, which need not be contiguous.
    """

    def __init__(self, events: Sequence[Record]) -> None:
        self.events = events
        self.at: dict[int, int] = {}
        for position, event in enumerate(events):
            seq = as_int(event.get("seq", UNDEFINED))
            if seq is not None:
                self.at.setdefault(seq, position)
        self.map = CallMap(attempts_of(events))
        self.attempt_at = {
            position: attempt for attempt in self.map.attempts for position in attempt.positions
        }
        self.open: list[Call] = []
        self.by_result: dict[int, Call] = {}
        self.last_message = -1

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
            elif kind in ("tool/code-dispatch", "tool/code-dispatch-start", "approval/asked"):
                self.link(position)
            elif kind in _STEP_ENDS:
                self.open = []
        return self.map

    def message(self, position: int, event: Record) -> None:
        content = (as_record((as_record(event.get("data")) or {}).get("message")) or {}).get("content")
        attempt = self.cited_attempt(position, event)
        if attempt is not None:
            attempt.message = position
        blocks = [
            at for at, block in enumerate(content if isinstance(content, list) else []) if _is_call(block)
        ]
        streamed = attempt.tool_blocks() if attempt is not None else []
        self.open = []
        for at, block in _match(content if isinstance(content, list) else [], blocks, streamed):
            self.open.append(Call(message=position, content_at=at, block=block))
        self.map.calls.extend(self.open)
        self.last_message = position

    def cited_attempt(self, position: int, event: Record) -> Attempt | None:
        """Return the attempt that a message cites.

        Without usable citation the last one before it in its step.
        """
        chunks = [at for at in self.positions(event) if at < position and at in self.attempt_at]
        if not chunks:
            before = [
                attempt
                for attempt in self.map.attempts
                if self.last_message < attempt.positions[0] < position
            ]
            return before[-1] if before and _same_step(before[-1], event) else None
        owners = {id(self.attempt_at[at]): self.attempt_at[at] for at in chunks}
        if len(owners) == 1:
            return self.attempt_at[chunks[0]]
        joined = Attempt()
        for at in sorted(set(chunks)):
            joined.take(at, self.events[at])
        self.map.attempts = [attempt for attempt in self.map.attempts if id(attempt) not in owners]
        self.map.attempts.append(joined)
        self.attempt_at.update(dict.fromkeys(joined.positions, joined))
        return joined

    def call(self, position: int, event: Record) -> None:
        data = as_record(event.get("data")) or {}
        waiting = [call for call in self.open if call.call is None and call.message is not None]
        chosen = _by_id(waiting, data.get("callId"), self.block_of) or _by_arguments(
            waiting, data, self.block_of
        )
        if chosen is None and waiting:
            chosen = waiting[0]
        if chosen is None:
            chosen = Call()
            self.open.append(chosen)
            self.map.calls.append(chosen)
        chosen.call = position

    def block_of(self, call: Call) -> Record:
        """Return the message block of a call, empty where there is none."""
        if call.message is None or call.content_at is None:
            return {}
        message = as_record((as_record(self.events[call.message].get("data")) or {}).get("message")) or {}
        content = message.get("content")
        return (as_record(content[call.content_at]) or {}) if isinstance(content, list) else {}

    def result(self, position: int, event: Record) -> None:
        operation = as_record(event.get("surfaceOp", UNDEFINED))
        start = None if operation is None else as_int(operation.get("start", UNDEFINED))
        if start is not None:
            original = self.by_result.get(self.at.get(start, -1))
            if original is not None:
                original.rewrites.append(position)
                self.by_result[position] = original
            return
        chosen = self.result_call(position, event)
        if chosen is None:
            chosen = Call(repeats=self.answered_before(event))
            self.map.calls.append(chosen)
        chosen.result = position
        self.by_result[position] = chosen

    def answered_before(self, event: Record) -> bool:
        """Tell whether a result cites a call of this step that has its result."""
        sources = set(self.positions(event))
        return any(call.call in sources for call in self.open if call.result is not None)

    def result_call(self, position: int, event: Record) -> Call | None:
        waiting = [call for call in self.open if call.result is None]
        sources = set(self.positions(event))
        for call in waiting:
            if call.call is not None and call.call in sources and call.call < position:
                return call
        data = as_record(event.get("data")) or {}
        message = as_record(data.get("message")) or {}
        source = as_record(message.get("source")) or {}
        named = accept(source.get("callId")) or accept(data.get("callId"))
        chosen = _by_id(waiting, named, self.identity_of)
        if chosen is not None:
            return chosen
        return waiting[0] if len(waiting) == 1 and named is None else None

    def identity_of(self, call: Call) -> Record:
        """Return the id of a call as its own record has it, or its block."""
        if call.call is None:
            return self.block_of(call)
        return {"id": (as_record(self.events[call.call].get("data")) or {}).get("callId")}

    def link(self, position: int) -> None:
        started = [call for call in self.open if call.call is not None and call.result is None]
        if len(started) == 1:
            started[0].linked.append(position)


def _is_call(block: JsonValue) -> bool:
    return (as_record(block) or {}).get("type") == "tool-call"


def _same_step(attempt: Attempt, event: Record) -> bool:
    data = as_record(event.get("data")) or {}
    places = ((attempt.turn, data.get("turn", UNDEFINED)), (attempt.step, data.get("step", UNDEFINED)))
    return all(map_key(one) == map_key(two) for one, two in places)


def _match(
    content: list[JsonValue], blocks: list[int], streamed: list[Block]
) -> list[tuple[int, Block | None]]:
    """Pair message blocks with streamed blocks.

    By position, or by their arguments where the counts differ.
    """
    if len(blocks) == len(streamed):
        return list(zip(blocks, streamed, strict=True))
    left = list(streamed)
    pairs: list[tuple[int, Block | None]] = []
    for at in blocks:
        arguments = (as_record(content[at]) or {}).get("arguments")
        found = next((block for block in left if block.whole_arguments == arguments), None)
        if found is not None:
            left.remove(found)
        pairs.append((at, found))
    return pairs


def _by_id(waiting: list[Call], identity: JsValue, shown: Callable[[Call], Record]) -> Call | None:
    """Return the one waiting call of that id; an empty id and an ambiguous one name nothing."""
    wanted = accept(identity)
    named = [] if wanted is None else [call for call in waiting if shown(call).get("id") == wanted]
    return named[0] if len(named) == 1 else None


def _by_arguments(waiting: list[Call], data: Record, shown: Callable[[Call], Record]) -> Call | None:
    arguments = data.get("arguments")
    return next((call for call in waiting if shown(call).get("arguments") == arguments), None)


def map_calls(events: Iterable[Record]) -> CallMap:
    """Map all attempts and calls of a log given as its expanded events in order."""
    return _Mapper(list(events)).run()
