"""Faults of single events: envelope, vocabulary, turn boundaries, message rules, surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.harness.js import UNDEFINED, JsError, Record, as_record, as_text, is_safe_integer
from deltafold.harness.model import legacy
from deltafold.harness.model.adopt import KNOWN_TYPES, MESSAGE_TYPES, message_of, message_problem, upgrade
from deltafold.harness.model.restore import ENVELOPE_KEYS, request_problem
from deltafold.harness.model.surface import Surface, cited_sources, surface_operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.faults.kinds import Fault
    from deltafold.harness.faults.stream import Stream

KNOWN_NAMES: Final = tuple(KNOWN_TYPES)
RETIRED_TYPES: Final = ("request/header-delta", "mode/set")
_KIND_OF: Final = {
    "lacks an identified message": "message-id",
    "message has invalid source": "message-source",
    "message has invalid content": "message-content",
    "message must have model source": "message-source",
    "message must contain one tool-result block": "result-blocks",
    "message has mismatched tool call ids": "result-mismatch",
}


def upgraded_events(events: list[Record], session: str) -> list[Record]:
    """Return the events as the reader holds them after its upgrades; one that it refuses stays as it is."""
    ids: dict[int, str] = {}
    upgraded: list[Record] = []
    for seq, event in enumerate(events):
        try:
            current = upgrade(event, session, ids)
        except JsError:
            current = event
        identity = (as_record(message_of(current)) or {}).get("id")
        if isinstance(identity, str):
            ids[seq] = identity
        upgraded.append(current)
    return upgraded


def message_faults(stream: Stream, upgraded: list[Record], session: str) -> Iterator[Fault]:
    """Yield the faults of each event by itself."""
    for position, event in enumerate(stream.events):
        yield from _envelope_faults(stream, position, event)
        yield from _vocabulary_faults(stream, position, event)
        yield from _boundary_faults(stream, position, event, session)
        problem = request_problem(event)
        usable = "data" in event and _data_fits(event)
        if problem is not None and usable:
            yield stream.at("request-header", f"request/header {problem}", position)
        words = message_problem(upgraded[position])
        if words is not None and usable:
            yield stream.at(_message_kind(words, upgraded[position]), words, position)


def _message_kind(words: str, event: Record) -> str:
    if words.startswith("message must have role"):
        return "message-role"
    if words != "message must have tool source":
        return _KIND_OF[words]
    source = as_record((as_record(message_of(event)) or {}).get("source")) or {}
    return "result-id-empty" if source.get("kind") == "tool" else "result-source"


def _envelope_faults(stream: Stream, position: int, event: Record) -> Iterator[Fault]:
    extra = [key for key in event if key not in ENVELOPE_KEYS]
    if extra:
        yield stream.at("envelope-key", f"unknown member {extra[0]!r} of the envelope", position)
    if not is_safe_integer(event.get("time", UNDEFINED)):
        yield stream.at("envelope-time", "time is not a whole number of milliseconds", position)
    if "data" not in event or not _data_fits(event):
        yield stream.at("envelope-data", f"{to_event_name(event)} without usable data", position)
    if event.get("ignorable", True) is not True:
        yield stream.at("envelope-ignorable", "ignorable may only be true", position)


def _data_fits(event: Record) -> bool:
    """Tell whether the data of a known type is an object, as every known type has it."""
    return event.get("type") not in KNOWN_NAMES or as_record(event["data"]) is not None


def to_event_name(event: Record) -> str:
    """Return the type of an event for a sentence."""
    return as_text(event.get("type")) or "an event without type"


def _vocabulary_faults(stream: Stream, position: int, event: Record) -> Iterator[Fault]:
    kind = as_text(event.get("type"))
    retired = kind in RETIRED_TYPES
    if kind == "request/header":
        data = as_record(event.get("data"))
        retired = data is not None and data.get("reason") == "fallback"
    if retired:
        yield stream.at("type-retired", f"{kind} of an early vocabulary", position)
    elif kind is None:
        yield stream.at("type-missing", "no type", position)
    elif kind not in KNOWN_TYPES and kind != "steering/message" and event.get("ignorable") is not True:
        yield stream.at("type-unknown", f"type {to_event_name(event)}", position)


def _boundary_faults(stream: Stream, position: int, event: Record, session: str) -> Iterator[Fault]:
    try:
        legacy.upgrade_turn_start(event, session)
        legacy.upgrade_turn_end(event, session)
        legacy.upgrade_steering(event, session)
    except JsError:
        yield stream.at(
            "turn-malformed", f"{to_event_name(event)} has a shape that no reader takes", position
        )


def surface_faults(stream: Stream, upgraded: list[Record]) -> Iterator[Fault]:
    """Yield the events that may not join the surface as they say.

    Where seqs are missing, positions are not seqs, so the fold runs over the seqs themselves.
    """
    surface = Surface()
    by_seq: list[Record] = []
    whole = not stream.faults
    for position, event in enumerate(upgraded):
        by_seq.append(event)
        seq = position if whole else _seq(event, position)
        try:
            if whole:
                surface.take(event, seq, by_seq)
            elif surface_operation(event) is not None:
                cited_sources(event, seq)
        except JsError as error:
            kind = (
                "source-seqs"
                if error.message.startswith(("sourceEventSeqs", "session event"))
                else "surface-op"
            )
            if "surfaceOp" in error.message or "surface-eligible" in error.message:
                kind = "surface-op"
            yield stream.at(kind, error.message, position)
            if event.get("type") in MESSAGE_TYPES:
                surface.nodes.append(seq)


def _seq(event: Record, position: int) -> int:
    seq = event.get("seq")
    return seq if isinstance(seq, int) else position
