"""Strategy C: one identity for all records of a call, or none of them.

Section 5.1 of the specification. Message block, call, result, source, streamed deltas, packed rows and closed
blocks get the id and the name that the evidence gives. A call that was never named is put into quarantine as
a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.harness.calls import Block, Call, cited
from deltafold.harness.edit import EditError, keep_members
from deltafold.harness.faults.messages import upgraded_events
from deltafold.harness.identity import Facts, Found, Mint, ids_in_use
from deltafold.harness.js import JsonValue, Record, as_record, stringify
from deltafold.harness.pairing import map_calls
from deltafold.harness.repair.draft import preview
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from deltafold.harness.calls import CallMap
    from deltafold.harness.edit import Path
    from deltafold.harness.repair.draft import Draft


def mend_identity(draft: Draft) -> None:
    """Give every call one identity.

    Calls that were never named leave the log, with placeholders in their seqs.
    """
    upgraded = upgraded_events(draft.events, draft.session)
    calls = map_calls(upgraded)
    _Identities(draft, calls, Facts(upgraded, calls)).run()
    draft.refresh()


def _places(calls: CallMap) -> dict[int, int]:
    """Return the place of each call among the calls of its message."""
    counted: dict[int, int] = {}
    places: dict[int, int] = {}
    for call in calls.calls:
        if call.message is not None:
            places[id(call)] = counted.get(call.message, 0)
            counted[call.message] = places[id(call)] + 1
    return places


class _Identities:
    """One pass over the calls of a draft."""

    def __init__(self, draft: Draft, calls: CallMap, facts: Facts) -> None:
        self.draft = draft
        self.calls = calls
        self.facts = facts
        self.mint = Mint(ids_in_use(calls, facts))
        self.places = _places(calls)
        self.unnamed: list[Call] = []
        self.owned: set[int] = set()

    def run(self) -> None:
        for call in self.calls.calls:
            if call.block is not None:
                self.owned.add(id(call.block))
            if call.message is not None or call.call is not None:
                self.one(call)
            elif len(set(self.facts.result_ids(call))) != 1:
                self.unnamed.append(call)
        for attempt in self.calls.attempts:
            for order, block in enumerate(attempt.tool_blocks()):
                if id(block) not in self.owned:
                    self.uncited(block, order)
        if self.unnamed:
            self.quarantine()

    def one(self, call: Call) -> None:
        name = self.facts.name(call)
        if name is None:
            self.unnamed.append(call)
            return
        if not self.poisoned(call, name):
            return
        identity = self.facts.identity(call) or Found(
            self.mint.id_for(self.places.get(id(call), 0)), "minted"
        )
        self.block(call, identity, name)
        self.streamed(call.block, identity, name)
        self.recorded(call, identity, name)
        self.answered(call, identity)
        self.linked(call, identity)

    def poisoned(self, call: Call, name: Found) -> bool:
        """Tell whether any record of a call lacks its identity or carries another one."""
        identity = self.facts.identity(call)
        if identity is None or len(set(self.facts.shown_ids(call)) | {identity.value}) > 1:
            return True
        if len(set(self.facts.shown_names(call)) | {name.value}) > 1:
            return True
        expected = (call.message is not None) + (call.call is not None)
        ids = self.facts.shown_ids(call)
        complete = len(ids) == expected + (2 if call.result is not None else 0)
        return not complete or len(self.facts.shown_names(call)) != expected or self.gaps_in(call.block)

    def gaps_in(self, block: Block | None) -> bool:
        if block is None:
            return False
        chunks = [self.chunk(position) for position in block.deltas]
        ended = [
            closed for position in block.ends if (closed := as_record(self.chunk(position).get("block")))
        ]
        lacking = any(accept(chunk.get("id")) is None for chunk in (*chunks, *ended))
        return lacking or any(
            "name" in chunk and accept(chunk["name"]) is None for chunk in (*chunks, *ended)
        )

    def chunk(self, position: int) -> Record:
        return as_record(self.facts.data(position).get("chunk")) or {}

    def write(self, position: int, path: Path, found: Found, kind: str) -> None:
        """Write one member unless it holds the value already."""
        row = self.draft.owners[position]
        current: JsonValue = row.parsed().value
        for key in path:
            if isinstance(current, dict) and isinstance(key, str):
                current = current.get(key)
            elif isinstance(current, list) and isinstance(key, int):
                current = current[key]
        if current == found.value:
            return
        try:
            row.put(path, found.value)
        except EditError:
            self.draft.blocked.append(f"seq {position}: no place for the identity of its call")
            return
        why = {
            "recorded": "as its own records have it",
            "recovered": "as its stream or its other records have it",
        }
        self.draft.changed_at(
            position,
            kind,
            why.get(found.origin, "synthesised by rule I10: no record carries one"),
            "minted" if found.origin == "minted" else "recovered",
            member=".".join(str(part) for part in path),
            old=preview(current),
            new=stringify(found.value),
        )

    def block(self, call: Call, identity: Found, name: Found) -> None:
        if call.message is not None and call.content_at is not None:
            base: Path = ("data", "message", "content", call.content_at)
            if "message" not in (as_record(self.draft.events[call.message].get("data")) or {}):
                base = ("data", "content", call.content_at)
            self.write(call.message, (*base, "id"), identity, "block-id-empty")
            self.write(call.message, (*base, "name"), name, "block-name-empty")

    def streamed(self, block: Block | None, identity: Found, name: Found | None) -> None:
        """Set the identity in deltas, packed rows and closed blocks.

        A name that was never sent is not added.
        """
        if block is None:
            return
        for position in block.deltas:
            chunk = self.chunk(position)
            base: Path = ("data",) if self.draft.owners[position].packed else ("data", "chunk")
            if accept(chunk.get("id")) is None:
                self.write(position, (*base, "id"), identity, "delta-id-empty")
            if name is not None and "name" in chunk and accept(chunk["name"]) is None:
                self.write(position, (*base, "name"), name, "delta-name-empty")
        for position in block.ends:
            closed = as_record(self.chunk(position).get("block"))
            if closed is None:
                continue
            if accept(closed.get("id")) is None:
                self.write(position, ("data", "chunk", "block", "id"), identity, "end-id-empty")
            if name is not None and accept(closed.get("name")) is None:
                self.write(position, ("data", "chunk", "block", "name"), name, "end-name-empty")

    def recorded(self, call: Call, identity: Found, name: Found) -> None:
        if call.call is not None:
            self.write(call.call, ("data", "callId"), identity, "call-id-empty")
            self.write(call.call, ("data", "name"), name, "call-name-empty")

    def answered(self, call: Call, identity: Found) -> None:
        results = [] if call.result is None else [call.result, *call.rewrites]
        for position in results:
            if "message" in (as_record(self.draft.events[position].get("data")) or {}):
                self.write(position, ("data", "message", "source", "callId"), identity, "result-id-empty")
                self.write(
                    position, ("data", "message", "content", 0, "toolCallId"), identity, "result-id-empty"
                )
            else:
                self.write(position, ("data", "callId"), identity, "result-id-empty")

    def linked(self, call: Call, identity: Found) -> None:
        """Complete the records that name the call only by its empty id."""
        for position in call.linked:
            data = as_record(self.draft.events[position].get("data")) or {}
            for key in ("callId", "rootCallId", "parentCallId", "subCallId"):
                value = data.get(key)
                if value == "":
                    self.write(position, ("data", key), identity, "call-id-empty")
                elif isinstance(value, str) and value.startswith(":code:"):
                    whole = Found(identity.value + value, identity.origin)
                    self.write(position, ("data", key), whole, "call-id-empty")

    def uncited(self, block: Block, order: int) -> None:
        """Complete the deltas of an attempt that no message cites.

        Its id by evidence or minted, its name by evidence.
        """
        if not self.gaps_in(block):
            return
        identity = Found(block.ids[0], "recovered") if block.ids else Found(self.mint.id_for(order), "minted")
        self.streamed(block, identity, Found(block.names[0], "recovered") if block.names else None)

    def quarantine(self) -> None:
        """Take calls that were never named out of message, stream and log, as a whole."""
        gone: set[int] = set()
        blocks: dict[int, list[int]] = {}
        for call in self.unnamed:
            members = [call.call, call.result, *call.rewrites, *call.linked]
            gone.update(position for position in members if position is not None)
            if call.block is not None:
                gone.update((*call.block.starts, *call.block.deltas, *call.block.ends))
            if call.message is not None and call.content_at is not None:
                blocks.setdefault(call.message, []).append(call.content_at)
            self.draft.losses.append(1 << 62)
        for position, places in blocks.items():
            self.empty_message(position, places, gone)
        self.draft.replace_events(gone, "call-unnamed", "what was never named is not kept in the history")
        self.draft.lost.append(
            f"{len(self.unnamed)} call(s) or result(s) that no record names, kept in quarantine"
        )

    def empty_message(self, position: int, places: list[int], gone: set[int]) -> None:
        """Take the blocks out of a message, and their seqs out of what it cites."""
        row = self.draft.owners[position]
        self.draft.take_out(row.raw, "the message that held a call without name", row.number, position)
        message = as_record(self.facts.data(position).get("message")) or {}
        content = message.get("content")
        kept = [at for at in range(len(content) if isinstance(content, list) else 0) if at not in places]
        row.write(keep_members(row.raw, ("data", "message", "content"), kept))
        sources = cited(self.draft.events[position])
        left: list[JsonValue] = [seq for seq in sources if seq not in gone]
        if len(left) != len(sources):
            row.put(("sourceEventSeqs",), left)
        why = "its unnamed tool call is taken out"
        self.draft.changed_at(position, "call-unnamed", why, "removed", member="data.message.content")
