"""What the records of one call say about its identity, and what follows from it.

An id or a name is taken from evidence only. An id may be synthesised, by rule I10 of the fold; a name never.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness.js import UNDEFINED, Record, as_record
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltafold.harness.calls import Call, CallMap


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it comes from: `recorded`, `recovered` or `minted`."""

    value: str
    origin: str


@dataclass(slots=True)
class Facts:
    """Reads the records of calls out of an event list (upgraded, so results have their message)."""

    events: Sequence[Record]
    calls: CallMap
    _repeated: set[tuple[int, str]] = field(default_factory=set["tuple[int, str]"])

    def __post_init__(self) -> None:
        """Note which ids stand more than once in one message: they identify nothing."""
        seen: set[tuple[int, str]] = set()
        for call in self.calls.calls:
            identity = accept(self.block(call).get("id", UNDEFINED))
            if call.message is None or identity is None:
                continue
            key = (call.message, identity)
            (self._repeated if key in seen else seen).add(key)

    def data(self, position: int) -> Record:
        """Return the data of an event, empty where it has none."""
        return as_record(self.events[position].get("data")) or {}

    def message(self, position: int) -> Record:
        """Return the message of an event, empty where it has none."""
        return as_record(self.data(position).get("message")) or {}

    def block(self, call: Call) -> Record:
        """Return the message block of a call, empty where there is none."""
        if call.message is None or call.content_at is None:
            return {}
        content = self.message(call.message).get("content")
        return (as_record(content[call.content_at]) or {}) if isinstance(content, list) else {}

    def ended_block(self, call: Call) -> Record:
        """Return the block as the stream closed it, empty where it did not."""
        for position in call.block.ends if call.block is not None else []:
            chunk = as_record(self.data(position).get("chunk")) or {}
            return as_record(chunk.get("block")) or {}
        return {}

    def result_ids(self, call: Call) -> list[str]:
        """Return the ids that a result carries, source first."""
        if call.result is None:
            return []
        message = self.message(call.result)
        content = message.get("content")
        block = as_record(content[0]) if isinstance(content, list) and content else None
        source = as_record(message.get("source")) or {}
        ids = (source.get("callId"), (block or {}).get("toolCallId"))
        return [identity for identity in map(accept, ids) if identity is not None]

    def shown_ids(self, call: Call) -> list[str]:
        """Return the ids that message, call and result carry."""
        call_id = accept(self.data(call.call).get("callId")) if call.call is not None else None
        ids = [accept(self.block(call).get("id")), call_id, *self.result_ids(call)]
        return [identity for identity in ids if identity is not None]

    def shown_names(self, call: Call) -> list[str]:
        """Return the names that message and call carry."""
        call_name = accept(self.data(call.call).get("name")) if call.call is not None else None
        names = [accept(self.block(call).get("name")), call_name]
        return [name for name in names if name is not None]

    def identity(self, call: Call) -> Found | None:
        """Return the id of a call by evidence: its block, its deltas, its closed block, its other records."""
        own = accept(self.block(call).get("id"))
        if own is not None and (call.message, own) not in self._repeated:
            return Found(own, "recorded")
        if call.block is not None and call.block.ids:
            return Found(call.block.ids[0], "recovered")
        others = [accept(self.ended_block(call).get("id")), *self.shown_ids(call)]
        for identity in others:
            if identity is not None and (call.message, identity) not in self._repeated:
                return Found(identity, "recovered")
        return None if own is None else Found(own, "recorded")

    def name(self, call: Call) -> Found | None:
        """Return the name of a call by evidence, None where it was never named."""
        own = accept(self.block(call).get("name"))
        if own is not None:
            return Found(own, "recorded")
        if call.block is not None and call.block.names:
            return Found(call.block.names[0], "recovered")
        for name in (accept(self.ended_block(call).get("name")), *self.shown_names(call)):
            if name is not None:
                return Found(name, "recovered")
        return None


def ids_in_use(calls: CallMap, facts: Facts) -> set[str]:
    """Return every call id that the log shows, so that a synthesised one differs from all."""
    used = {identity for call in calls.calls for identity in facts.shown_ids(call)}
    for attempt in calls.attempts:
        for block in attempt.blocks.values():
            used.update(block.ids)
    return used


@dataclass(slots=True)
class Mint:
    """Synthesises ids by rule I10: `call-{position}`, with a number behind it where that is taken."""

    used: set[str]
    turns: dict[int, int] = field(default_factory=dict[int, int])

    def id_for(self, position: int) -> str:
        """Return an id that no record of the session shows."""
        while True:
            turn = self.turns.get(position, 0) + 1
            self.turns[position] = turn
            candidate = f"call-{position}" if turn == 1 else f"call-{position}-{turn}"
            if candidate not in self.used:
                self.used.add(candidate)
                return candidate
