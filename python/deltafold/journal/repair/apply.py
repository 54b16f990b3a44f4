"""Carrying out a repair: lock, backup with manifest, a new file that the real reader accepts, then a rename.

Killed at any point, the journal is the old file or the new one.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from deltafold.journal import quarantine, record
from deltafold.journal.errors import JournalError, JournalLocked
from deltafold.journal.reader import Reader
from deltafold.journal.repair.model import TOOL, Plan
from deltafold.journal.repair.plan import new_log
from deltafold.journal.stores import files
from deltafold.journal.stores.file import BACKUP, JOURNAL, LOCK, QUARANTINE, FileReadLog

if TYPE_CHECKING:
    from pathlib import Path

    from deltafold.journal.targets import Target

MANIFEST: Final = "manifest.json"
PREFIX: Final = "repair-"
_NEW: Final = "journal.jsonl.repaired"
_ROW: Final = ("name", "sha256", "bytes")


class RepairRefused(JournalError):  # noqa: N818  (the repair was refused, nothing failed)
    """A repair or restore that must not be done.

    A writer is live, the file has changed, a backup does not verify.
    """

    _kind = "repair-refused"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: where the backup is, and the sha256 of the journal as it is now."""

    backup: str
    sha256: str


class _Directory:
    """A session's directory, locked as a writer would."""

    def __init__(self, target: Target) -> None:
        if target.path is None:
            message = "repair works on files; a database has its own backups"
            raise RepairRefused(message, session=target.session, location=target.label)
        self.path: Path = target.path
        self.name = target.name
        self.session = target.session
        self.location = str(self.path / self.name)
        self.descriptor = files.open_directory(str(self.path))
        self._lock = files.lock(self.descriptor, LOCK)
        if self._lock is None:
            holder = files.lock_holder(self.descriptor, LOCK)
            os.close(self.descriptor)
            raise JournalLocked(session=target.session, location=self.location, pid=holder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)
        os.close(self.descriptor)

    def copy(self, name: str, folder: int, new_name: str) -> None:
        """Copy a file into a folder, durably."""
        descriptor = files.open_file(self.descriptor, name, os.O_RDONLY)
        try:
            files.copy_range(descriptor, 0, folder, new_name)
        finally:
            os.close(descriptor)

    def refuse(self, message: str) -> RepairRefused:
        """Return the error that refuses."""
        return RepairRefused(f"{message} ({self.location})", session=self.session, location=self.location)


def apply_plan(plan: Plan) -> Done | None:
    """Carry out a plan; None when there is nothing to do, and then no byte is changed.

    Raises `JournalLocked` while a writer is live, and `RepairRefused` when the file has changed since the
    plan, when the plan is blocked, or when the real reader does not accept the outcome.
    """
    if plan.healthy:
        return None
    with _Directory(plan.target) as directory:
        if plan.blocked is not None:
            raise directory.refuse(f"the repair needs a choice: {plan.blocked}")
        if files.digest(directory.descriptor, directory.name)[0] != plan.sha256:
            raise directory.refuse("the file has changed since the plan was made; make a new one")
        backup, folder_name = _back_up(directory, plan)
        lines = new_log(plan, {"file": f"{BACKUP}/{folder_name}/{directory.name}", "sha256": plan.sha256})
        _set_asides(directory, plan)
        digest = _write_new(directory, lines)
        try:
            _verify(directory, plan, len(lines))
        except RepairRefused:
            os.unlink(_NEW, dir_fd=directory.descriptor)
            raise
        os.rename(_NEW, directory.name, src_dir_fd=directory.descriptor, dst_dir_fd=directory.descriptor)
        os.fsync(directory.descriptor)
        return Done(backup, digest)


def _back_up(directory: _Directory, plan: Plan) -> tuple[str, str]:
    """Copy byte for byte what will be changed, and say so in a manifest, before anything else."""
    name = PREFIX + record.now().replace(":", "").replace(".", "")
    folder = files.make_directory(BACKUP, within=directory.descriptor)
    try:
        inner = files.make_directory(name, within=folder)
    finally:
        os.close(folder)
    try:
        there = [directory.name, *([QUARANTINE] if _exists(directory, QUARANTINE) else [])]
        rows: list[dict[str, Any]] = []
        for file_name in there:
            directory.copy(file_name, inner, file_name)
            digest, size = files.digest(inner, file_name)
            rows.append({"name": file_name, "sha256": digest, "bytes": size})
        if rows[0]["sha256"] != plan.sha256:
            raise directory.refuse("the file has changed since the plan was made; make a new one")
        manifest = {
            "tool": TOOL,
            "session": plan.session,
            "time": record.now(),
            "files": rows,
            "plan": plan.to_dict(),
        }
        files.write_new(inner, MANIFEST, json.dumps(manifest, indent=1).encode() + b"\n")
    finally:
        os.close(inner)
    return str(directory.path / BACKUP / name), name


def _exists(directory: _Directory, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _set_asides(directory: _Directory, plan: Plan) -> None:
    """Add what leaves the history to the quarantine.

    Done twice (after a kill) it is there twice, which harms nothing.
    """
    if not plan.asides:
        return
    descriptor = files.open_file(directory.descriptor, QUARANTINE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        for aside in plan.asides:
            line = quarantine.encode(
                rule=aside.rule,
                reason=f"repair: {aside.reason}",
                kind=aside.kind,
                data=aside.data,
                stream=aside.stream,
                salt=plan.salt,
            )
            files.write_all(descriptor, line)
        files.sync_data(descriptor)
    finally:
        os.close(descriptor)
    os.fsync(directory.descriptor)


def _write_new(directory: _Directory, lines: list[bytes]) -> str:
    digest = hashlib.sha256()
    descriptor = files.open_file(directory.descriptor, _NEW, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for line in lines:
            files.write_all(descriptor, line)
            digest.update(line)
        files.sync_data(descriptor)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def _verify(directory: _Directory, plan: Plan, count: int) -> None:
    """Load the new file with the real reader; it must be clean, and all of it."""
    reader = Reader(FileReadLog(plan.session, directory.path, directory.descriptor, _NEW))
    try:
        for _event in reader.events():
            pass
    except JournalError as error:
        raise directory.refuse(f"the repaired log would not be accepted: {error}") from error
    if reader.torn or reader.state.next_seq != count:
        raise directory.refuse("the repaired log would not be read to its end")


def backups(target: Target) -> list[str]:
    """Return the names of a session's backups, the oldest first. Raises `OSError` without a session."""
    if target.path is None:
        return []
    os.close(files.open_directory(str(target.path)))
    try:
        return sorted(name for name in os.listdir(target.path / BACKUP) if name.startswith(PREFIX))  # noqa: PTH208
    except FileNotFoundError:
        return []


def restore(target: Target, name: str | None = None) -> Done:
    """Put a backup (the newest, without a name) back byte for byte.

    What is there now becomes a backup itself.

    Raises `JournalLocked` and `RepairRefused`.
    """
    with _Directory(target) as directory:
        there = backups(target)
        chosen = name or (there[-1] if there else None)
        if chosen is None or chosen not in there:
            raise directory.refuse(f"there is no backup {name or ''}".rstrip())
        folder = files.open_directory(f"{BACKUP}/{chosen}", within=directory.descriptor)
        try:
            rows = _manifest(directory, folder)
            for row in rows:
                if files.digest(folder, row["name"]) != (row["sha256"], row["bytes"]):
                    raise directory.refuse(f"the backup {chosen} does not match its manifest")
            current, size = files.digest(directory.descriptor, directory.name)
            kept, _ = _back_up(directory, Plan(target, directory.session, current, size))
            for row in rows:
                _put_back(directory, folder, row["name"])
        finally:
            os.close(folder)
        return Done(kept, rows[0]["sha256"])


def _manifest(directory: _Directory, folder: int) -> list[dict[str, Any]]:
    descriptor = files.open_file(folder, MANIFEST, os.O_RDONLY)
    try:
        listed = json.loads(b"".join(files.read_blocks(descriptor)))["files"]
        rows: list[dict[str, Any]] = [{name: row[name] for name in _ROW} for row in listed]
    except (ValueError, KeyError, TypeError) as error:
        raise directory.refuse(f"the backup's manifest cannot be read: {error}") from error
    finally:
        os.close(descriptor)
    if [row["name"] for row in rows] not in ([JOURNAL], [JOURNAL, QUARANTINE], [directory.name]):
        raise directory.refuse("the backup's manifest names other files")
    return rows


def _put_back(directory: _Directory, folder: int, name: str) -> None:
    source = files.open_file(folder, name, os.O_RDONLY)
    fresh = f"{name}.restored"
    try:
        target = files.open_file(directory.descriptor, fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            for block in files.read_blocks(source):
                files.write_all(target, block)
            files.sync_data(target)
        finally:
            os.close(target)
    finally:
        os.close(source)
    os.rename(fresh, name, src_dir_fd=directory.descriptor, dst_dir_fd=directory.descriptor)
    os.fsync(directory.descriptor)
