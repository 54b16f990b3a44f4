"""The kinds of fault, in one table: how grave, what it means, what helps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from deltafold.harness.js import Record


class Severity(Enum):
    """What a fault does.

    `refused` keeps the session from opening, `silent` opens and harms later or loses data, `note` is handled
    by the reader itself or harms nobody.
    """

    REFUSED = "refused"
    SILENT = "silent"
    NOTE = "note"


class Kind(NamedTuple):
    """One row of the table."""

    severity: Severity
    meaning: str
    advice: str


_R, _S, _N = Severity.REFUSED, Severity.SILENT, Severity.NOTE
_REPAIR = "deltafold harness repair"
_MOVE = "move the file; its bytes are not at fault"

KINDS: Final[dict[str, Kind]] = {
    # The file and its place.
    "file-link": Kind(_R, "a link stands in place of a session", "put the real file there"),
    "file-not-regular": Kind(_R, "not a regular file", "put the real file there"),
    "file-too-large": Kind(_R, "larger than the limit", "raise --max-bytes if the file is trusted"),
    "file-changing": Kind(_R, "the file changes while it is read", "close the harness and try again"),
    "file-too-many-frames": Kind(_R, "more frames than the limit", "not a session log"),
    "file-too-many-values": Kind(_R, "more JSON values than the limit", "not a session log"),
    "file-too-many-events": Kind(_R, "more events than the limit", "not a session log"),
    "file-too-complex": Kind(_R, "more work than the limit", "not a session log"),
    "file-unreadable": Kind(_R, "the system refuses to read the file", "see the message"),
    "plain-too-large": Kind(_R, "unpacks to more than the limit", "raise --max-bytes if the file is trusted"),
    "line-too-long": Kind(_R, "a line longer than the limit", "raise --max-bytes if the file is trusted"),
    "zstd-missing": Kind(_R, "compressed, and no zstd library is at hand", "install deltafold[zstd]"),
    "layout-flat": Kind(_R, "a log directly in a project directory hides every session of the root", _MOVE),
    "layout-encoding": Kind(_R, "both encodings in one root hide every session of the root", _MOVE),
    "layout-duplicate": Kind(_R, "the same id in two project directories", _MOVE),
    "layout-identity": Kind(_R, "the header names another path", _MOVE),
    "layout-leftover": Kind(_N, "a temporary file of an interrupted write", "may be deleted"),
    # Header.
    "header-missing": Kind(_R, "no header line", "nothing is stored, or the header is lost"),
    "header-bom": Kind(_R, "a byte order mark before the header", _REPAIR),
    "header-not-json": Kind(_R, "the header line is not JSON", _REPAIR),
    "header-shape": Kind(_R, "the first line is not a session header", _REPAIR),
    "header-version": Kind(_R, "another format version", "use the matching harness; nothing is damaged"),
    "header-retired": Kind(_R, "fields of a retired policy", "not ours to decide"),
    "header-field": Kind(_R, "a header field that restore refuses", _REPAIR),
    # Container.
    "frame-structure": Kind(_R, "bytes that are no frame of this format", _REPAIR),
    "frame-failed": Kind(_R, "a frame that does not decode or fails its checksum", _REPAIR),
    "frame-torn": Kind(_S, "the last frame is cut", "the harness cuts it off at the next load"),
    "frame-header": Kind(_R, "the first frame is not exactly the header line", _REPAIR),
    # Lines.
    "line-torn": Kind(_S, "the last line has no end", "the harness cuts it off at the next load"),
    "line-unparsable": Kind(_R, "a line that is not JSON", _REPAIR),
    "line-blank": Kind(_R, "an empty line", _REPAIR),
    "line-nul": Kind(_R, "a run of NUL bytes", _REPAIR),
    "line-not-event": Kind(_R, "a JSON value that is no event", _REPAIR),
    "row-malformed": Kind(_R, "a packed row of the wrong shape", _REPAIR),
    "lone-surrogate": Kind(_S, "half of a surrogate pair: providers refuse the history", _REPAIR),
    "not-utf8": Kind(_S, "bytes that are not UTF-8", "the reader shows U+FFFD for them"),
    # Sequence.
    "seq-gap": Kind(_R, "records are missing", _REPAIR),
    "seq-duplicate": Kind(_R, "a record stands twice, identical", _REPAIR),
    "seq-fork": Kind(_R, "a seq is used again for other content", f"{_REPAIR} --fork first|last"),
    "seq-invalid": Kind(_R, "no usable seq", _REPAIR),
    # Envelope.
    "envelope-key": Kind(_R, "an unknown member of the envelope", _REPAIR),
    "envelope-time": Kind(_R, "no usable time", _REPAIR),
    "envelope-data": Kind(_R, "no data", _REPAIR),
    "envelope-ignorable": Kind(_R, "ignorable is not true", _REPAIR),
    "type-missing": Kind(_R, "an event without type", _REPAIR),
    "type-unknown": Kind(
        _R, "an event type this harness does not know", "use the matching harness; nothing is damaged"
    ),
    "type-retired": Kind(_R, "an event of an early vocabulary", "no reader replays it"),
    "turn-malformed": Kind(_R, "a turn boundary of the wrong shape", _REPAIR),
    "request-header": Kind(_R, "a request header of the wrong shape", _REPAIR),
    # Messages.
    "message-id": Kind(_R, "a message without id", _REPAIR),
    "message-role": Kind(_R, "a message with the wrong role", _REPAIR),
    "message-source": Kind(_R, "a message without usable source", _REPAIR),
    "message-content": Kind(_R, "a message whose content is no array", _REPAIR),
    "result-source": Kind(_R, "a tool result whose source names no call", _REPAIR),
    "result-blocks": Kind(_R, "a tool result that is not exactly one block", _REPAIR),
    "result-mismatch": Kind(_R, "a tool result with two different ids", _REPAIR),
    "surface-op": Kind(_R, "an event that cannot join the surface as it says", _REPAIR),
    "source-seqs": Kind(_R, "cited seqs that the reader refuses", _REPAIR),
    # Identity.
    "block-id-empty": Kind(_S, "a tool-call block without id", _REPAIR),
    "block-name-empty": Kind(_S, "a tool-call block without name", _REPAIR),
    "call-id-empty": Kind(_S, "a recorded call without id", _REPAIR),
    "call-name-empty": Kind(_S, "a recorded call without name", _REPAIR),
    "result-id-empty": Kind(_R, "a tool result without id", _REPAIR),
    "delta-id-empty": Kind(_S, "streamed deltas whose id is empty", _REPAIR),
    "delta-name-empty": Kind(_S, "streamed deltas whose name is empty", _REPAIR),
    "end-id-empty": Kind(_S, "a closed block without id", _REPAIR),
    "end-name-empty": Kind(_S, "a closed block without name", _REPAIR),
    "call-unnamed": Kind(_S, "a call that was never named", f"{_REPAIR} puts it into quarantine"),
    "id-repeated": Kind(_S, "two calls of one step share an id", _REPAIR),
    "id-disagrees": Kind(_S, "records of one call carry different ids or names", _REPAIR),
    "arguments-not-json": Kind(_S, "call arguments that are not JSON", "kept as they are"),
    # Pairs and turns.
    "result-unpaired": Kind(_S, "a result that belongs to no call", _REPAIR),
    "result-repeated": Kind(_S, "a second result of one call", "kept as it is"),
    "call-unadvertised": Kind(_S, "a recorded call that no message holds", "kept as it is"),
    "call-open": Kind(_S, "a call without result in a closed turn: providers refuse the history", _REPAIR),
    "turn-order": Kind(_S, "turns or steps that do not nest or count", "kept as they are"),
    "turn-open": Kind(_N, "the last turn is open", "the harness closes it at the next load"),
    "turn-end-lost": Kind(_S, "the last turn end cannot be read: it will be closed as interrupted", _REPAIR),
    "reader-refuses": Kind(_R, "the reader refuses and no other rule names why", "see the answer"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and its place.

    `line` counts from 1 with the header; `offset` is in bytes of the text, for a compressed file after
    decompression, where `frame` is the byte offset of its frame in the file.
    """

    kind: str
    detail: str
    seq: int | None = None
    line: int | None = None
    offset: int | None = None
    frame: int | None = None
    opens: bool = False
    """Whether the session opens all the same; what would be refused elsewhere then only harms in silence."""

    @property
    def severity(self) -> Severity:
        """How grave the fault is in this session."""
        severity = KINDS[self.kind].severity
        return Severity.SILENT if self.opens and severity is Severity.REFUSED else severity

    def to_dict(self) -> Record:
        """Return the fault as `check --json` shows it."""
        shown: Record = {"kind": self.kind, "severity": self.severity.value, "detail": self.detail}
        for name, value in (
            ("seq", self.seq),
            ("line", self.line),
            ("offset", self.offset),
            ("frame", self.frame),
        ):
            if value is not None:
                shown[name] = value
        shown["advice"] = KINDS[self.kind].advice
        return shown
