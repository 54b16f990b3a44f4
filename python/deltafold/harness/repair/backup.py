"""Backups of session files: a byte-exact copy, a manifest with hashes, what was taken out, an audit trail."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import JsonValue, Record, as_int, as_record, as_text, stringify
from deltafold.harness.limits import RefusedError
from deltafold.harness.repair.files import Directory
from deltafold.harness.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltafold.harness.limits import Limits
    from deltafold.harness.repair.draft import Removed
    from deltafold.harness.source import Bytes

FOLDER: Final = "deltafold-backup"
AUDIT: Final = "audit.jsonl"
_MANIFEST: Final = "manifest.json"
_QUARANTINE: Final = "quarantine.jsonl"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself."""

    folder: str
    name: str
    old_sha256: str
    old_bytes: int
    new_sha256: str
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What a backup holds beside the old file: hash of the new bytes, what was taken out, the plan."""

    fresh: bytes
    removed: Sequence[Removed]
    plan: Record


def now() -> str:
    """Return the time for a record: RFC 3339, UTC, microseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _folder_name(digest: str) -> str:
    return f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}-{digest[:12]}"


def store(session: Directory, name: str, old: Bytes, entry: Entry) -> Manifest:
    """Write a backup and make it durable, its manifest last: without that it is none. Raises OSError."""
    old_digest, new_digest = old.sha256(), hashlib.sha256(entry.fresh).hexdigest()
    folder = _folder_name(old_digest)
    modified = old.stamp.modified_ns
    with session.subdirectory(FOLDER) as backups, backups.subdirectory(folder) as backup:
        backup.write_new(name, old.data)
        backup.write_new(_QUARANTINE, b"".join(_removed_line(removed) for removed in entry.removed))
        manifest: Record = {
            "format": _FORMAT,
            "time": now(),
            "file": name,
            "old": {"sha256": old_digest, "bytes": len(old.data), "modified_ns": str(modified)},
            "new": {"sha256": new_digest, "bytes": len(entry.fresh)},
            "plan": entry.plan,
        }
        backup.write_new(_MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
        backup.sync()
        backups.sync()
    return Manifest(folder, name, old_digest, len(old.data), new_digest, modified)


def _removed_line(entry: Removed) -> bytes:
    record: Record = {"why": entry.why, "base64": base64.b64encode(entry.raw).decode()}
    places: tuple[tuple[str, int | None], ...] = (("line", entry.line), ("seq", entry.seq))
    record.update({key: value for key, value in places if value is not None})
    return stringify(record).encode() + b"\n"


def record(session: Directory, entry: Record) -> None:
    """Append a record to the audit trail of a session."""
    with session.subdirectory(FOLDER) as backups:
        backups.append(AUDIT, stringify({"time": now(), **entry}).encode() + b"\n")


def manifests(session: Directory, name: str, limits: Limits) -> Iterator[Manifest]:
    """Yield the complete backups of a file, newest first.

    A manifest is believed only in what it says of itself.
    """
    if FOLDER not in session.names():
        return
    with Directory(FOLDER, parent=session) as backups:
        for folder in reversed(backups.names()):
            manifest = None if folder == AUDIT else _read_manifest(backups, folder, name, limits)
            if manifest is not None:
                yield manifest


def _read_manifest(backups: Directory, folder: str, name: str, limits: Limits) -> Manifest | None:
    try:
        with Directory(folder, parent=backups) as backup:
            value: JsonValue = json.loads(read_bytes(_MANIFEST, limits, dir_fd=backup.fd).data)
    except (OSError, ValueError, RefusedError, RecursionError):
        return None
    manifest = as_record(value) or {}
    old, new = as_record(manifest.get("old")) or {}, as_record(manifest.get("new")) or {}
    digests = [as_text(side.get("sha256")) for side in (old, new)]
    size, modified = as_int(old.get("bytes")), as_text(old.get("modified_ns"))
    if manifest.get("file") != name or digests[0] is None or digests[1] is None or size is None:
        return None
    return Manifest(
        folder, name, digests[0], size, digests[1], int(modified) if modified and modified.isdigit() else 0
    )


def load(session: Directory, manifest: Manifest, limits: Limits) -> bytes:
    """Return the old bytes of a backup; raises RefusedError where they are not what the manifest says."""
    with Directory(FOLDER, parent=session) as backups, Directory(manifest.folder, parent=backups) as backup:
        data = read_bytes(manifest.name, limits, dir_fd=backup.fd).data
    if hashlib.sha256(data).hexdigest() != manifest.old_sha256:
        raise RefusedError("backup-damaged", f"the copy in {manifest.folder} does not match its manifest")
    return data


def set_modified(session: Directory, name: str, modified_ns: int) -> None:
    """Give a file the time it had."""
    if modified_ns:
        os.utime(name, ns=(modified_ns, modified_ns), dir_fd=session.fd, follow_symlinks=False)
