"""Faults of identity: empty ids and names in every record of a call, repeated and disagreeing ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from deltafold.harness.js import UNDEFINED, JsValue, Record, as_record, as_text, parse
from deltafold.reference.identity import accept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.calls import Block, Call, CallMap
    from deltafold.harness.faults.kinds import Fault
    from deltafold.harness.faults.stream import Stream
    from deltafold.harness.identity import Facts


def identity_faults(stream: Stream, calls: CallMap, facts: Facts) -> Iterator[Fault]:
    """Yield the faults of every streamed block and of every call."""
    for attempt in calls.attempts:
        for block in attempt.tool_blocks():
            yield from _block_faults(stream, block)
    for call in calls.calls:
        yield from _call_faults(stream, call, facts)
    yield from _repeated(stream, calls, facts)


def _block_faults(stream: Stream, block: Block) -> Iterator[Fault]:
    """Yield one fault a line, however many deltas a packed row holds."""
    for kind, key in (("delta-id-empty", "id"), ("delta-name-empty", "name")):
        named = set[int]()
        for position in block.deltas:
            chunk = chunk_of(stream.events[position])
            line = stream.lines[position]
            absent = key == "name" and "name" not in chunk
            if accept(chunk.get(key, UNDEFINED)) is None and not absent and line.number not in named:
                named.add(line.number)
                yield stream.at(kind, f"{key} of a streamed delta is empty", position)
    for position in block.ends:
        closed = as_record(chunk_of(stream.events[position]).get("block"))
        if closed is None:
            continue
        for kind, key in (("end-id-empty", "id"), ("end-name-empty", "name")):
            if accept(closed.get(key, UNDEFINED)) is None:
                yield stream.at(kind, f"{key} of a closed block is empty", position)


def chunk_of(event: Record) -> Record:
    """Return the chunk of an assistant/chunk event."""
    return as_record((as_record(event.get("data")) or {}).get("chunk")) or {}


def _call_faults(stream: Stream, call: Call, facts: Facts) -> Iterator[Fault]:
    block = facts.block(call)
    if call.message is not None:
        for kind, key in (("block-id-empty", "id"), ("block-name-empty", "name")):
            if accept(block.get(key, UNDEFINED)) is None:
                yield stream.at(kind, f"{key} of tool-call block {call.content_at} is empty", call.message)
    if call.call is not None:
        data = facts.data(call.call)
        for kind, key in (("call-id-empty", "callId"), ("call-name-empty", "name")):
            if accept(data.get(key, UNDEFINED)) is None:
                yield stream.at(kind, f"{key} of a tool/call is empty", call.call)
        if call.message is None:
            yield stream.at("call-unadvertised", "no message holds this call", call.call)
        if not _is_json(data.get("arguments", UNDEFINED)):
            yield stream.at("arguments-not-json", "the arguments are not a JSON text", call.call)
    if (call.call is not None or call.message is not None) and facts.name(call) is None:
        yield stream.at("call-unnamed", "no record ever named this call", _anchor(call))
    yield from _disagreement(stream, call, facts)


def _anchor(call: Call) -> int:
    for position in (call.call, call.message, call.result):
        if position is not None:
            return position
    return 0


def _is_json(arguments: JsValue) -> bool:
    text = as_text(arguments)
    if text is None or text == "":
        return True
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _disagreement(stream: Stream, call: Call, facts: Facts) -> Iterator[Fault]:
    ids = {identity for identity in facts.shown_ids(call) if identity}
    if len(ids) > 1:
        yield stream.at(
            "id-disagrees", "message, call and result of one call differ in their id", _anchor(call)
        )
    names = {name for name in facts.shown_names(call) if name}
    if len(names) > 1:
        yield stream.at("id-disagrees", "message and call differ in their name", _anchor(call))


def _repeated(stream: Stream, calls: CallMap, facts: Facts) -> Iterator[Fault]:
    by_message: dict[int, list[str]] = {}
    for call in calls.calls:
        identity = accept(facts.block(call).get("id", UNDEFINED))
        if call.message is not None and identity is not None:
            by_message.setdefault(call.message, []).append(identity)
    for position, ids in by_message.items():
        times = max(Counter(ids).values())
        if times > 1:
            yield stream.at("id-repeated", f"{times} calls of one message share an id", position)
