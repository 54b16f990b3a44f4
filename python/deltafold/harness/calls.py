"""Which records belong to one tool call: streamed deltas, message block, call, result.

Section 5.1 of the specification. Pairing goes by the seqs that records cite and by their order, never by id:
poisoned calls share the empty one. Identity is the first non-empty value among the deltas of the same turn,
step and block of the attempt that the message cites; several attempts can stand in one step and are not
mixed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import UNDEFINED, JsValue, Record, as_int, as_record, as_text, map_key
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from collections.abc import Sequence

_ATTEMPT_ENDS: Final = ("assistant/message", "step/start", "step/end", "turn/start", "turn/end", "llm/retry")
_STEP_ENDS: Final = ("step/start", "step/end", "turn/start", "turn/end")


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
