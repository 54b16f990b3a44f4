"""Faults of the container and of the header line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.harness.faults.kinds import Fault
from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    as_record,
    as_text,
    decode_utf8,
    is_count,
    is_negative_zero,
    is_number,
    number_text,
    parse,
)
from deltafold.harness.model.prefix import is_header
from deltafold.harness.model.reader import assert_identity
from deltafold.harness.model.restore import header_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.document import Document
    from deltafold.harness.js import JsValue, Record
    from deltafold.harness.layout import Place

_BOM = b"\xef\xbb\xbf"


def container_faults(document: Document) -> Iterator[Fault]:
    """Yield what is wrong with the frames of a compressed file."""
    if document.structure_error is not None:
        at = document.structure_at or 0
        rest = document.data[at:]
        what = "NUL bytes" if not rest.strip(b"\0") else "bytes that are no frame"
        yield Fault("frame-structure", f"{len(rest)} bytes from byte {at} on begin with {what}", frame=at)
    for frame in document.frames:
        if frame.plain is None:
            size = frame.end - frame.start
            detail = f"the frame of {size} bytes at byte {frame.start} does not decode or verify"
            yield Fault("frame-failed", detail, frame=frame.start)
    if document.torn_start is not None:
        size = len(document.data) - document.torn_start
        yield Fault("frame-torn", f"the last {size} bytes are an unfinished frame", frame=document.torn_start)
    plain = document.header_frame
    if plain is not None and (not plain or plain.find(b"\n") != len(plain) - 1):
        lines = plain.count(b"\n")
        yield Fault("frame-header", f"the first frame holds {lines} line ends instead of one", frame=0)


def header_faults(document: Document, place: Place) -> Iterator[Fault]:
    """Yield what is wrong with the header line and with the path it names."""
    header = document.header
    if header is None or not header.ended:
        yield Fault("header-missing", "no complete first line", line=1, offset=0)
        return
    if header.raw.startswith(_BOM):
        yield Fault("header-bom", "the file begins with a byte order mark", line=1, offset=0)
    try:
        value = parse(decode_utf8(header.raw.removeprefix(_BOM)))
    except ValueError:
        yield Fault("header-not-json", "the first line is not JSON", line=1, offset=0)
        return
    record = as_record(value) or {}
    version = record.get("version", UNDEFINED)
    if isinstance(version, (int, float)) and not isinstance(version, bool) and version != 0:
        yield Fault("header-version", f"format v{number_text(version)}", line=1, offset=0)
        return
    if not is_header(value):
        yield Fault("header-shape", "; ".join(_shape_problems(record)), line=1, offset=0)
        return
    yield from _field_faults(record, place)


def _shape_problems(record: Record) -> Iterator[str]:
    if record.get("type") != "session":
        kind = as_text(record.get("type"))
        yield f"type is {kind!r}" if kind is not None else "no type"
        return
    if not is_number(record.get("version", UNDEFINED)):
        yield "version is no number"
    if not isinstance(record.get("id"), str):
        yield "id is no string"
    for key in ("createdAt", "delegationDepth"):
        if not _plain_count(record.get(key, UNDEFINED)):
            yield f"{key} is missing" if key not in record else f"{key} is not a non-negative integer"
    if record.get("origin", "subagent") != "subagent":
        yield 'origin is not "subagent"'
    if not isinstance(record.get("agentPreset", ""), str):
        yield "agentPreset is no string"


def _plain_count(value: JsValue) -> bool:
    return is_count(value) and not is_negative_zero(value)


def _field_faults(record: Record, place: Place) -> Iterator[Fault]:
    if "sandboxMode" in record or "approvalPolicy" in record:
        yield Fault("header-retired", "sandboxMode or approvalPolicy in the header", line=1, offset=0)
    problem = header_problem(record)
    if problem is not None:
        yield Fault("header-field", problem, line=1, offset=0)
    try:
        assert_identity(place, record, place.session)
    except JsError as error:
        yield Fault("layout-identity", error.message, line=1, offset=0)
