"""What the commands work on: a root, a session's directory, a journal's file, or a database."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deltafold.journal import names
from deltafold.journal.opening import POSTGRES_SCHEMES, store_of
from deltafold.journal.stores import files
from deltafold.journal.stores.file import JOURNAL, LOCK, FileReadLog

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from deltafold.journal.stores.base import ReadLog, Store


@dataclass(frozen=True, slots=True)
class Target:
    """One session to look at.

    `session` is empty where its directory's name encodes no id: then any id in the log will do.
    """

    session: str
    label: str
    path: Path | None = None
    name: str = JOURNAL
    store: Store | None = None

    @contextlib.contextmanager
    def read(self) -> Generator[ReadLog]:
        """Open the log. Raises `OSError` or `JournalMissing`."""
        if self.store is not None:
            with self.store.read(self.session) as log:
                yield log
            return
        path = self.path or Path()
        directory = files.open_directory(str(path))
        try:
            os.close(files.open_file(directory, self.name, os.O_RDONLY))
            yield FileReadLog(self.session, path, directory, self.name)
        finally:
            os.close(directory)

    def is_live(self) -> bool:
        """Whether a writer has the session just now (files only)."""
        if self.path is None:
            return False
        try:
            directory = files.open_directory(str(self.path))
        except OSError:
            return False
        try:
            return files.is_locked(directory, LOCK)
        except OSError:
            return False
        finally:
            os.close(directory)


def targets_of(place: str, session: str | None = None) -> Iterator[Target]:
    """Yield the sessions that a path or a database address names, in the order of their names.

    With `session`, that one alone. Raises `FileNotFoundError` where the path is none of a root, a session's
    directory or a journal.
    """
    if place.startswith(POSTGRES_SCHEMES):
        store = store_of(place)
        for found in store.sessions() if session is None else [session]:
            yield Target(found, found, store=store)
        return
    path = Path(os.path.abspath(place))  # noqa: PTH100  (resolve() would follow a link)
    if session is not None:
        yield _in_directory(path / names.directory_name(session))
    elif path.is_dir() and os.path.lexists(path / JOURNAL):
        yield _in_directory(path)
    elif path.is_dir():
        yield from _in_root(path)
    elif os.path.lexists(path):
        whole = names.session_id(path.parent.name) if path.name == JOURNAL else None
        yield Target(whole or "", str(path), path.parent, path.name)
    else:
        raise FileNotFoundError(f"there is nothing at {place}")


def _in_root(root: Path) -> Iterator[Target]:
    for name in sorted(os.listdir(root)):  # noqa: PTH208  (names, not paths)
        if os.path.lexists(root / name / JOURNAL):
            yield _in_directory(root / name)


def _in_directory(path: Path) -> Target:
    session = names.session_id(path.name)
    return Target(session or "", session or str(path), path)
