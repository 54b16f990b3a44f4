"""Where session logs lie: path segments, project keys, and the walk over a root that trusts no entry.

Section 4.1 of the specification. Node lists a directory in byte order of its names; the same order here makes
the first fault found the one that the reader names.
"""

# Paths stay the strings that the reader forms and quotes.
# ruff: noqa: PTH100, PTH118

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import UNDEFINED, JsValue, number

if TYPE_CHECKING:
    from collections.abc import Iterator

RAW_NAME: Final = "session.jsonl"
ZSTD_NAME: Final = "session.jsonl.zstd"
NO_CWD: Final = "_no-cwd"
TEMPORARY: Final = re.compile(r"session\.jsonl(?:\.zstd)?\.[0-9a-f]{12}\.tmp")
_SAFE: Final = re.compile(r"[A-Za-z0-9._-]")
_ESCAPE: Final = re.compile(r"~([0-9A-F]{4})")
_KEY_UNITS: Final = 251
_BASIC_PLANE: Final = 0xFFFF


class UnencodableError(Exception):
    """A header whose id or cwd cannot name a storage path."""


def suffix(compression: str) -> str:
    """Return the file suffix of an encoding, `zstd` or `none`."""
    return ".jsonl.zstd" if compression == "zstd" else ".jsonl"


def artifact_name(compression: str) -> str:
    """Return the file name of an encoding."""
    return ZSTD_NAME if compression == "zstd" else RAW_NAME


def opposite(compression: str) -> str:
    """Return the other encoding."""
    return "none" if compression == "zstd" else "zstd"


def compression_of(name: str) -> str:
    """Tell the encoding from a file name."""
    return "zstd" if name.endswith(".zstd") else "none"


def _escape(character: str) -> str:
    code = ord(character)
    if code > _BASIC_PLANE:
        high, low = 0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)
        return f"~{high:04X}~{low:04X}"
    return f"~{code:04X}"


def encode_segment(raw: str) -> str:
    """Encode a session id as one path segment; injective. Raises UnencodableError for the empty id."""
    if not raw:
        raise UnencodableError("cannot encode an empty path segment")
    if raw in (".", ".."):
        return "~002E" * len(raw)
    return "".join(character if _SAFE.match(character) else _escape(character) for character in raw)


def decode_segment(name: str) -> str | None:
    """Return the session id that a directory name encodes, None when no id encodes to it."""
    units = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), name)
    try:
        raw = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return raw if encode_segment(raw) == name else None
    except (UnicodeError, UnencodableError):
        return None


def project_key(cwd: JsValue) -> str:
    """Return the project directory name of a cwd.

    The reader does not check the type of cwd before it forms the path, so any JSON value is taken as it takes
    it.
    """
    if not isinstance(cwd, str):
        return _untyped_project_key(cwd)
    if not cwd:
        raise UnencodableError("cannot encode an empty project path")
    joined = re.sub(r"[/\\:]+", "-", cwd)
    readable = "".join(c if _SAFE.match(c) else _escape(c) for c in joined).lstrip("-")
    return f"--{(readable or 'root')[:_KEY_UNITS]}--"


def _untyped_project_key(cwd: JsValue) -> str:
    """Follow JavaScript where cwd is no string: only a positive `length` makes it fail."""
    length: JsValue = UNDEFINED
    if isinstance(cwd, list):
        length = len(cwd) or -1
        if not cwd:
            raise UnencodableError("cannot encode an empty project path")
    elif isinstance(cwd, dict):
        length = cwd.get("length", UNDEFINED)
    elif cwd is None:
        raise UnencodableError("cannot read a length of null")
    if type(length) in (int, float) and length == 0:
        raise UnencodableError("cannot encode an empty project path")
    if _is_positive(length):
        raise UnencodableError("cwd has no character codes")
    return "--root--"


def _is_positive(length: JsValue) -> bool:
    if isinstance(length, str):
        try:
            return number(length.strip()) > 0
        except ValueError:
            return False
    return isinstance(length, (bool, int, float)) and length > 0


def log_path(root: str, cwd: JsValue, session: str, compression: str) -> str:
    """Return the path that a header names below its root; raises UnencodableError."""
    project = NO_CWD if cwd is UNDEFINED else project_key(cwd)
    return os.path.join(root, project, encode_segment(session), artifact_name(compression))


@dataclass(frozen=True, slots=True)
class Place:
    """Where one session file lies. `root` is None for a file outside the layout."""

    path: str
    root: str | None
    compression: str
    session: str | None
    """The id that the directory name encodes; the reader would be asked for it."""


def is_project(name: str) -> bool:
    """Tell whether a directory name is one that the Harness gives a project."""
    return name == NO_CWD or (name.startswith("--") and name.endswith("--"))


def place_of(path: str) -> Place:
    """Place a file given by path.

    Inside the layout when its name and its project directory say so, else alone.
    """
    path = os.path.abspath(path)
    directory, name = os.path.split(path)
    project, segment = os.path.split(directory)
    root, project_name = os.path.split(project)
    if name not in (RAW_NAME, ZSTD_NAME) or not is_project(project_name):
        return Place(path, None, compression_of(name), None)
    return Place(path, root, compression_of(name), decode_segment(segment))


@dataclass(slots=True)
class RootIndex:
    """One pass over a root: what the root-wide rules need, and where the sessions are."""

    root: str
    places: list[Place] = field(default_factory=list["Place"])
    flat: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    leftovers: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    """Temporary files by session directory."""
    unreadable: list[tuple[str, OSError]] = field(default_factory=list["tuple[str, OSError]"])
    listings: int = 0
    """Directories listed; at most one for each directory, whatever the number of sessions."""

    def leftover_in(self, folder: str) -> list[str]:
        """Return the temporary files of a session directory."""
        return self.leftovers.get(folder, [])

    def artifacts(self, compression: str) -> list[str]:
        """Return the files of one encoding, in the reader's order."""
        return [place.path for place in self.places if place.compression == compression]


def _entries(index: RootIndex, directory: str) -> Iterator[os.DirEntry[str]]:
    index.listings += 1
    try:
        with os.scandir(directory) as found:
            yield from sorted(found, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        index.unreadable.append((directory, error))


def _directories(index: RootIndex, parent: str) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(index, parent):
        if entry.is_symlink():
            index.links.append(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            yield entry
        elif entry.name.endswith((".jsonl", ".jsonl.zstd")) and entry.is_file(follow_symlinks=False):
            index.flat.append(entry.path)


def index_root(root: str) -> RootIndex:
    """Walk a root once, three levels deep, following no link below it."""
    index = RootIndex(os.path.abspath(root))
    for project in _entries(index, index.root):
        if project.is_symlink():
            index.links.append(project.path)
        elif project.is_dir(follow_symlinks=False):
            for session in _directories(index, project.path):
                _index_session(index, session)
    return index


def _index_session(index: RootIndex, session: os.DirEntry[str]) -> None:
    for entry in _entries(index, session.path):
        if entry.name in (RAW_NAME, ZSTD_NAME):
            name = decode_segment(session.name)
            index.places.append(Place(entry.path, index.root, compression_of(entry.name), name))
        elif TEMPORARY.fullmatch(entry.name):
            index.leftovers.setdefault(session.path, []).append(entry.path)
