"""From bytes to the contiguous prefix of events: header line, scanner, torn tail.

Sections 4.2, 4.4 and 4.5 of the specification, in the reader's own order, since the first error met is the
one shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    JsonValue,
    JsValue,
    Record,
    as_record,
    decode_utf8,
    equal,
    get,
    is_count,
    is_negative_zero,
    is_number,
    parse,
    to_text,
)
from deltafold.harness.model.errors import UnsupportedError

if TYPE_CHECKING:
    from deltafold.harness.document import Document, Line

FORMAT_VERSION: Final = 0
_EMPTY_RAW: Final = "empty or header-less session log"
_EMPTY_ZSTD: Final = "empty or header-less Zstandard session log"
_NOT_ONE_LINE: Final = "corrupt Zstandard session log: first frame is not exactly one header line"
_TORN_RECORD: Final = "corrupt Zstandard session log: complete frame contains a torn JSONL record"
_HEADER_KEYS: Final = (
    "version",
    "id",
    "createdAt",
    "cwd",
    "parentSession",
    "seedLength",
    "origin",
    "delegationDepth",
    "agentPreset",
)


@dataclass(slots=True)
class Prefix:
    """What a backend read gives: header and the contiguous events, before any of them is validated."""

    meta: Record
    events: list[Record] = field(default_factory=list[Record])
    committed: int = 0
    """End in the text of the last line taken."""
    torn: bool = False
    """Whether a load would cut the file behind `committed`."""


def version_refusal(session: JsValue, version: float) -> str:
    """Return the refusal of a foreign format version, by direction."""
    head = f'session "{to_text(session)}" uses log format v{to_text(version)}, '
    if version > FORMAT_VERSION:
        return head + (
            f"but this harness reads only v{FORMAT_VERSION}: the log was written by a newer harness"
            " — upgrade the harness to open it"
        )
    return head + (f"older than the supported v{FORMAT_VERSION}, and this build ships no upgrade path for it")


def is_header(value: JsonValue) -> bool:
    """Tell whether a parsed first line has the shape of a session header."""
    record = as_record(value)
    if record is None or record.get("type") != "session" or not is_number(record.get("version", UNDEFINED)):
        return False
    counts = [record.get(key, UNDEFINED) for key in ("createdAt", "delegationDepth")]
    return (
        isinstance(record.get("id"), str)
        and all(is_count(count) and not is_negative_zero(count) for count in counts)
        and record.get("origin", UNDEFINED) in (UNDEFINED, "subagent")
        and isinstance(record.get("agentPreset", ""), str)
    )


def header_meta(record: Record) -> Record:
    """Take the known members of a header; raises JsError for the retired policy fields."""
    if "sandboxMode" in record or "approvalPolicy" in record:
        raise JsError("session header uses retired policy baseline fields")
    return {key: record[key] for key in _HEADER_KEYS if key in record}


def parse_header(raw: bytes) -> Record:
    """Parse the header line without its newline, as a full read does; raises JsError."""
    try:
        value = parse(decode_utf8(raw))
    except ValueError:
        raise JsError("corrupt session log: header line is not valid JSON") from None
    record = as_record(value)
    version = None if record is None else record.get("version")
    if (
        record is not None
        and isinstance(version, (int, float))
        and not isinstance(version, bool)
        and version != 0
    ):
        raise UnsupportedError(version_refusal(record.get("id", UNDEFINED), version))
    if record is None or not is_header(record):
        raise JsError("corrupt session log: first line is not a session header")
    return header_meta(record)


def listed_header(raw: bytes) -> Record | None:
    """Parse the header line as list() does: None makes it skip the file without a word."""
    try:
        value = parse(decode_utf8(raw))
    except ValueError:
        return None
    record = as_record(value)
    return header_meta(record) if record is not None and is_header(record) else None


class _Scanner:
    """The rule of the torn tail: damage counts only when a turn ends at or behind it."""

    def __init__(self, prefix: Prefix) -> None:
        self.prefix = prefix
        self.issue: JsError | None = None
        self.line = 0

    def take(self, line: Line) -> None:
        self.line += 1
        rows = line.events
        if rows is None:
            self.issue = self.issue or JsError(
                f"corrupt session log: unparsable committed event at line {self.line}"
            )
            return
        if self.issue is not None:
            self._raise_if_turn_ended(rows, self.issue)
            return
        if self._extend(rows):
            self.prefix.committed = line.end

    def _extend(self, rows: list[JsonValue]) -> bool:
        events = self.prefix.events
        begin = len(events)
        for row in rows:
            seq = get(row, "seq")
            record = as_record(row)
            if record is None or not equal(seq, len(events)):
                expected = len(events)
                del events[begin:]
                self.issue = JsError(
                    f"corrupt session log: seq gap in committed region at line {self.line}"
                    f" (expected {expected}, got {to_text(seq)})"
                )
                self._raise_if_turn_ended(rows, self.issue)
                return False
            events.append(record)
        return True

    @staticmethod
    def _raise_if_turn_ended(rows: list[JsonValue], issue: JsError) -> None:
        for row in rows:
            if get(row, "type") == "turn/end":
                raise issue


def read_prefix(document: Document) -> Prefix:
    """Read the stored prefix of a document; raises JsError with the reader's words."""
    return _read_zstd(document) if document.zstd else _read_raw(document)


def _read_raw(document: Document) -> Prefix:
    header = document.header
    if header is None or not header.ended:
        raise JsError(_EMPTY_RAW)
    prefix = Prefix(parse_header(header.raw), committed=header.end)
    scanner = _Scanner(prefix)
    for line in document.lines:
        if line.ended:
            scanner.take(line)
    prefix.torn = prefix.committed < len(document.data)
    return prefix


def header_frame_line(document: Document) -> bytes:
    """Return the header line of a compressed file without its newline; raises JsError."""
    if document.structure_error is not None:
        raise JsError(document.structure_error)
    if not document.frames:
        raise JsError(_EMPTY_ZSTD)
    plain = document.header_frame
    if plain is None:
        raise _frame_failed(document, 0)
    if not plain or plain.find(b"\n") != len(plain) - 1:
        raise JsError(_NOT_ONE_LINE)
    return plain[:-1]


def _frame_failed(document: Document, index: int) -> JsError:
    start = document.frames[index].start
    return JsError(f"corrupt Zstandard session log: frame at byte {start} failed validation")


def _read_zstd(document: Document) -> Prefix:
    header = header_frame_line(document)
    prefix = Prefix(parse_header(header), committed=len(header) + 1)
    scanner = _Scanner(prefix)
    failed = document.failed_frame()
    torn_at = len(document.lines) if document.first_torn_line is None else document.first_torn_line
    for line in document.lines[:torn_at]:
        if failed is not None and line.last_frame >= failed:
            break
        if line.ended:
            scanner.take(line)
    if failed is not None:
        raise _frame_failed(document, failed)
    if prefix.committed != document.complete_bytes:
        raise JsError(_TORN_RECORD)
    for line in document.lines[torn_at:]:
        if line.ended:
            scanner.take(line)
    prefix.torn = document.torn_start is not None
    return prefix
