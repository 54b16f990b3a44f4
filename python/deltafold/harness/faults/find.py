"""All fault finders over one document, in the order of the file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deltafold.harness.faults import container, identity, lines, messages, turns
from deltafold.harness.faults.kinds import Fault, Severity
from deltafold.harness.faults.stream import build_stream
from deltafold.harness.identity import Facts
from deltafold.harness.js import as_record
from deltafold.harness.pairing import map_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.document import Document
    from deltafold.harness.faults.stream import Stream
    from deltafold.harness.js import Record
    from deltafold.harness.layout import Place


def session_of(document: Document, place: Place) -> str:
    """Return the id of a session: its header's, else its directory's."""
    header = as_record(document.header.value) if document.header is not None else None
    identity_in_header = None if header is None else header.get("id")
    return identity_in_header if isinstance(identity_in_header, str) else place.session or ""


def find_faults(document: Document, place: Place, answer: Record) -> list[Fault]:
    """Return every fault of a session, by place.

    `answer` is what the reader says, so that no refusal stays unnamed.
    """
    stream = build_stream(document)
    found = [
        *container.container_faults(document),
        *container.header_faults(document, place),
        *lines.line_faults(stream),
        *stream.faults,
        *_event_faults(stream, session_of(document, place)),
    ]
    found.extend(_lost_turn_end(document, stream))
    if "error" in answer and not any(fault.severity is Severity.REFUSED for fault in found):
        silent = any(fault.severity is Severity.SILENT for fault in found)
        if not silent:
            found.append(Fault("reader-refuses", str(answer.get("message"))))
    opens = "ok" in answer
    return sorted((replace(fault, opens=opens) for fault in found), key=_order)


def _order(fault: Fault) -> tuple[int, int]:
    far = 1 << 62
    return (fault.line if fault.line is not None else (0 if fault.frame is None else far), fault.seq or 0)


def _event_faults(stream: Stream, session: str) -> Iterator[Fault]:
    upgraded = messages.upgraded_events(stream.events, session)
    calls = map_calls(upgraded)
    facts = Facts(upgraded, calls)
    yield from messages.message_faults(stream, upgraded, session)
    yield from messages.surface_faults(stream, upgraded)
    yield from identity.identity_faults(stream, calls, facts)
    yield from turns.pair_faults(stream, calls, facts)
    yield from turns.order_faults(stream)


def _lost_turn_end(document: Document, stream: Stream) -> Iterator[Fault]:
    """Name an unreadable line that still shows it was the last turn/end.

    The reader would end that turn again.
    """
    for line in reversed(document.lines):
        if lines.unparsable_kind(line) is None and line.ended:
            return
        if lines.looks_like_turn_end(line.raw):
            yield stream.fault(
                "turn-end-lost", "the last turn/end cannot be read; how the turn ended is lost", line
            )
            return
