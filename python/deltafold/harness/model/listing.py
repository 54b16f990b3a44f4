"""The rules that bind a whole root: one encoding, no flat files, each id once; and what list() answers.

Section 4.1 of the specification. A breach makes the reader refuse every session of the root, so it is found
once for the root and then given for each session.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness import zstd
from deltafold.harness.js import JsError, JsonValue, Record, stringify, to_text
from deltafold.harness.layout import opposite, suffix
from deltafold.harness.model.prefix import header_frame_line, listed_header
from deltafold.harness.model.reader import assert_identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.harness.document import Document
    from deltafold.harness.layout import Place, RootIndex


@dataclass(slots=True)
class RootRules:
    """The root-wide faults of one root, computed once for each encoding."""

    index: RootIndex
    _duplicates: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    _faults: dict[str, JsError | None] = field(default_factory=dict[str, "JsError | None"])

    def fault(self, compression: str) -> JsError | None:
        """Return what makes a reader set to `compression` refuse everything in this root."""
        if compression not in self._faults:
            self._faults[compression] = self._first_fault(compression)
        return self._faults[compression]

    def _first_fault(self, compression: str) -> JsError | None:
        """Walk as the reader does: each project's flat files, then its sessions in the other encoding."""
        found = [(_project(self.index.root, path), 0, path) for path in self.index.flat]
        found += [
            (_project(self.index.root, path), 1, path) for path in self.index.artifacts(opposite(compression))
        ]
        if not found:
            return None
        _, rank, path = min(found, key=lambda entry: (entry[0], entry[1]))
        return flat_layout(path) if rank == 0 else encoding_mismatch(path, compression)

    def duplicate(self, place: Place) -> JsError | None:
        """Return the refusal of an id that lies in more than one project directory."""
        if place.compression not in self._duplicates:
            ids = [other.session for other in self.index.places if other.compression == place.compression]
            counted = Counter(session for session in ids if session is not None)
            self._duplicates[place.compression] = {session for session, times in counted.items() if times > 1}
        session = place.session
        return duplicate_id(session) if session in self._duplicates[place.compression] and session else None


def _project(root: str, path: str) -> bytes:
    return path[len(root) + 1 :].split("/", 1)[0].encode("utf-8", "surrogateescape")


def encoding_mismatch(path: str, compression: str) -> JsError:
    """Return the refusal of a file in the encoding that the reader is not set to."""
    other = suffix(opposite(compression))
    return JsError(
        f"session artifact {stringify(path)} uses {other}, but this backend is configured for compression"
        f' "{compression}"; use a separate root or select the matching compression mode'
    )


def flat_layout(path: str) -> JsError:
    """Return the refusal of a log that lies directly in a project directory."""
    return JsError(
        f"session artifact {stringify(path)} uses the unsupported flat-file layout; use a separate root or"
        " move it into a project/session directory before loading"
    )


def duplicate_id(session: str) -> JsError:
    """Return the refusal of an id found twice."""
    return JsError(f'duplicate JSONL session id "{session}" appears in multiple project directories')


def listed(document: Document, place: Place) -> str | None:
    """Return the id under which list() shows a session, None where it skips the file.

    Raises JsError where it throws.
    """
    if document.zstd:
        raw = _listed_frame(document)
    else:
        raw = document.header.raw if document.header is not None and document.header.ended else None
    meta = None if raw is None else listed_header(raw)
    if meta is None:
        return None
    assert_identity(place, meta, None)
    return to_text(meta["id"])


def _listed_frame(document: Document) -> bytes | None:
    """Return the header line of the first frame; list() scans no further than that frame."""
    first = zstd.scan_frames(
        document.data[: document.frames[0].end] if document.frames else document.data, maximum=1
    )
    if first.error is not None:
        raise JsError(first.error)
    if not document.frames:
        return None
    if document.header_frame is None:
        raise JsError("corrupt Zstandard session log: header frame failed validation")
    if document.structure_error is not None:
        alone = document.header_frame
        if not alone or alone.find(b"\n") != len(alone) - 1:
            raise JsError("corrupt Zstandard session log: first frame is not exactly one header line")
        return alone[:-1]
    return header_frame_line(document)


def list_answer(index: RootIndex, compression: str, opened: Callable[[Place], Document]) -> Record:
    """Return what list() answers for a root: `{"ok": [ids]}` or the error that hides every session."""
    rules = RootRules(index)
    try:
        fault = rules.fault(compression)
        if fault is not None:
            raise fault
        ids: list[JsonValue] = []
        for place in index.places:
            session = listed(opened(place), place) if place.compression == compression else None
            if session is None:
                continue
            if session in ids:
                raise duplicate_id(session)
            ids.append(session)
    except JsError as error:
        return {"error": error.name, "message": error.message}
    return {"ok": ids}
