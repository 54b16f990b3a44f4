"""What the real reader answers for one session: inspect, load and readFrom.

Section 4.8 of the specification: faults of the backend read come as they are, everything behind it is
wrapped.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness.js import UNDEFINED, JsError, Record, as_text, to_text
from deltafold.harness.layout import UnencodableError, log_path
from deltafold.harness.model import errors
from deltafold.harness.model.adopt import adopt, assert_known, assert_message
from deltafold.harness.model.closers import closers
from deltafold.harness.model.errors import UnsupportedError
from deltafold.harness.model.prefix import Prefix, read_prefix
from deltafold.harness.model.restore import restore

if TYPE_CHECKING:
    from deltafold.harness.document import Document
    from deltafold.harness.layout import Place


@dataclass(slots=True)
class Inspection:
    """A session as the reader accepts it: stored events and the closers it adds."""

    meta: Record
    events: list[Record] = field(default_factory=list[Record])
    closing: list[Record] = field(default_factory=list[Record])
    torn: bool = False

    @property
    def balanced(self) -> list[Record]:
        """Stored events and closers together, what inspect and load return."""
        return [*self.events, *self.closing]

    def outcome(self) -> Record:
        """Return the object that `check --json` shows for an accepted session."""
        balanced = self.balanced
        ok: Record = {"events": len(balanced)}
        if balanced:
            ok["last"] = as_text(balanced[-1].get("type"))
        return {"ok": ok}


def assert_identity(place: Place, meta: Record, requested: str | None) -> None:
    """Hold the header to the path it was found at; raises JsError.

    A file outside the layout is not held to any.
    """
    if place.root is None:
        return
    session = to_text(meta["id"])
    if requested is not None and session != requested:
        raise JsError(
            f'corrupt session log "{place.path}": requested id "{requested}" does not match header id'
            f' "{session}"'
        )
    try:
        expected = log_path(place.root, meta.get("cwd", UNDEFINED), session, place.compression)
    except UnencodableError:
        raise JsError(f'corrupt session log "{place.path}": header id cannot name a storage path') from None
    if place.path != expected and not _same_file(place.path, expected):
        raise JsError(
            f'corrupt session log "{place.path}": header id "{session}" and cwd identify "{expected}"'
        )


def _same_file(path: str, expected: str) -> bool:
    try:
        return os.path.realpath(path, strict=True) == os.path.realpath(expected, strict=True)
    except (OSError, ValueError):
        return False


def _backend_read(document: Document, place: Place) -> Prefix:
    try:
        prefix = read_prefix(document)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error.message} (raw log: {place.path})") from error
    assert_identity(place, prefix.meta, place.session)
    return prefix


def inspect(document: Document, place: Place) -> Inspection:
    """Read, upgrade, close and validate a session; raises JsError with the class and words of the reader."""
    prefix = _backend_read(document, place)
    session = to_text(prefix.meta["id"])
    try:
        return _prepared(prefix, session, place.path)
    except UnsupportedError:
        raise
    except JsError as error:
        raise errors.corruption(session, error) from error


def _prepared(prefix: Prefix, session: str, path: str) -> Inspection:
    events = adopt(prefix.events, session)
    assert_known(events, session, path)
    closing = closers(events)
    for event in closing:
        assert_message(event)
    inspection = Inspection(prefix.meta, events, closing, prefix.torn)
    restore(prefix.meta, inspection.balanced)
    return inspection


def read_from_start(document: Document, place: Place) -> int:
    """Return how many events `readFrom(id, 0)` gives: adoption only, errors unwrapped. Raises JsError."""
    prefix = _backend_read(document, place)
    session = to_text(prefix.meta["id"])
    events = adopt(prefix.events, session)
    assert_known(events, session, place.path)
    return len(events)


def answer(document: Document, place: Place) -> Record:
    """Return `{"ok": ...}` or `{"error": ..., "message".

    ...}` for the file alone, whatever lies around it.
    """
    try:
        return inspect(document, place).outcome()
    except JsError as error:
        return errors.answer(error)
