"""Carrying out a plan, and taking it back: at every moment the path holds either the old file or the new one.

Order: lock, no live writer, unchanged since the plan, backup with its manifest, new file beside it, read back
with the model, unchanged still, rename. A late append of a writer that nothing showed goes to the old file,
which is then put back.
"""

# Paths stay the strings that the reader forms and quotes.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltafold.harness.document import open_document
from deltafold.harness.layout import place_of
from deltafold.harness.limits import RefusedError
from deltafold.harness.model.reader import answer
from deltafold.harness.repair import backup
from deltafold.harness.repair.files import session_directory, temporary_name
from deltafold.harness.repair.live import assert_not_open, no_writer
from deltafold.harness.source import Stamp, read_bytes

if TYPE_CHECKING:
    from collections.abc import Generator

    from deltafold.harness.js import Record
    from deltafold.harness.limits import Limits
    from deltafold.harness.repair.files import Directory
    from deltafold.harness.repair.plan import Plan
    from deltafold.harness.source import Bytes

_SETTLE_SECONDS: Final = 0.3
_RECENT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to a session file."""

    action: str
    backup: str
    old_sha256: str
    new_sha256: str

    def to_dict(self) -> Record:
        """Return the outcome as `--json` shows it."""
        return {
            "action": self.action,
            "backup": self.backup,
            "old_sha256": self.old_sha256,
            "new_sha256": self.new_sha256,
        }


def apply_plan(plan: Plan, limits: Limits) -> Done:
    """Carry out a plan; raises RefusedError, with the file untouched, or OSError."""
    if plan.data is None or plan.draft is None:
        raise RefusedError("nothing-to-apply", f"the plan is {plan.status}")
    name = os.path.basename(plan.place.path)
    with session_directory(plan.place) as session:
        session.lock()
        with no_writer(session, name):
            old = _settled(session, name, limits)
            if old.sha256() != plan.sha256:
                raise RefusedError("file-changed", "the file changed since the plan was made")
            entry = backup.Entry(plan.data, plan.draft.removed, plan.to_dict())
            manifest = backup.store(session, name, old, entry)
            done = Done("repaired", manifest.folder, manifest.old_sha256, manifest.new_sha256)
            with _audited(session, {**done.to_dict(), "action": "repair", "changes": len(plan.changes)}):
                swap(session, name, old, plan.data, _Verdict(plan, limits))
    return done


@contextmanager
def _audited(session: Directory, entry: Record) -> Generator[None]:
    """Say in the audit trail that something begins, and then that it is done or was refused.

    A trail that ends with a beginning is one of a process that died: the hashes tell how far it came.
    """
    backup.record(session, {**entry, "state": "begun"})
    try:
        yield
    except RefusedError as error:
        backup.record(session, {**entry, "state": "refused", "kind": error.kind})
        raise
    backup.record(session, {**entry, "state": "done"})


def holds(path: str, done: str, before: str, limits: Limits) -> str:
    """Tell what stands at a path after a failed system call, by hash: `new`, `old`, or else `unknown`."""
    try:
        digest = read_bytes(path, limits).sha256()
    except (RefusedError, OSError):
        return "unknown"
    return {done: "new", before: "old"}.get(digest, "unknown")


class _Verdict:
    """Reads a written file back with the model and holds it to the plan."""

    def __init__(self, plan: Plan, limits: Limits) -> None:
        self.plan = plan
        self.limits = limits

    def __call__(self, written: bytes) -> None:
        """Raise RefusedError unless the bytes are the planned ones and the reader takes them."""
        document = open_document(written, self.plan.place.compression, self.limits)
        if written != self.plan.data or answer(document, self.plan.place) != self.plan.after:
            raise RefusedError("verification-failed", "the new file reads otherwise than planned")


def _settled(session: Directory, name: str, limits: Limits) -> Bytes:
    """Read the file, and when it was written a moment ago wait longer than the Harness gathers a batch."""
    first = read_bytes(name, limits, dir_fd=session.fd)
    if abs(time.time() - first.stamp.modified_ns / 1e9) > _RECENT_SECONDS:
        return first
    time.sleep(_SETTLE_SECONDS)
    if session.stamp(name) != first.stamp:
        raise RefusedError("writer-live", "the file is being written")
    return first


def swap(session: Directory, name: str, old: Bytes, fresh: bytes, verdict: _Verdict | None) -> None:
    """Put new bytes in place of a file whose state is known; raises RefusedError where that state is gone."""
    like = os.stat(name, dir_fd=session.fd, follow_symlinks=False)
    temporary, kept = temporary_name(name), temporary_name(name)
    try:
        session.write_new(temporary, fresh, like)
        if verdict is not None:
            verdict(read_bytes(temporary, verdict.limits, dir_fd=session.fd).data)
        assert_not_open(session, name)
        if session.stamp(name) != old.stamp:
            raise RefusedError("file-changed", "the file changed while it was being repaired")
        linked = session.link(name, kept)
        session.rename(temporary, name)
        if linked and _written_since(session, kept, old.stamp):
            session.rename(kept, name)
            raise RefusedError(
                "writer-live", "the old file was written at the last moment; it is back in place"
            )
    finally:
        session.unlink(temporary)
        session.unlink(kept)
        session.sync()


def _written_since(session: Directory, name: str, before: Stamp) -> bool:
    now = session.stamp(name)
    return (now.size, now.modified_ns) != (before.size, before.modified_ns)


def restore_file(path: str, limits: Limits) -> Done:
    """Put back the bytes that the last repair replaced.

    Raises RefusedError where the file is no longer that repair.
    """
    place = place_of(path)
    name = os.path.basename(place.path)
    with session_directory(place) as session:
        session.lock()
        with no_writer(session, name):
            current = _settled(session, name, limits)
            digest = current.sha256()
            manifest = _matching(session, name, digest, limits)
            old = backup.load(session, manifest, limits)
            done = Done("restored", manifest.folder, digest, manifest.old_sha256)
            with _audited(session, {**done.to_dict(), "action": "restore"}):
                swap(session, name, current, old, None)
                backup.set_modified(session, name, manifest.modified_ns)
    return done


def _matching(session: Directory, name: str, digest: str, limits: Limits) -> backup.Manifest:
    """Return the newest backup whose repair left the file as it is now."""
    any_backup = False
    for manifest in backup.manifests(session, name, limits):
        any_backup = True
        if manifest.new_sha256 == digest:
            return manifest
    if any_backup:
        raise RefusedError("file-changed", "the file is not what any repair left; nothing is put back")
    raise RefusedError("no-backup", "no backup of a repair lies beside this file")
