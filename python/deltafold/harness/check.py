"""Check: for each session what the real reader would answer, and our own list of faults.

A root is walked once and each file read once, so a scan is linear in the sessions; a file that cannot be read
becomes a result like any other.
"""

# Paths stay the strings that the reader forms and quotes.
# ruff: noqa: PTH100, PTH112, PTH114, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness.document import open_document
from deltafold.harness.faults import Fault, Severity, find_faults
from deltafold.harness.faults.find import session_of
from deltafold.harness.js import JsError, Record, stringify
from deltafold.harness.layout import RAW_NAME, ZSTD_NAME, Place, RootIndex, index_root, is_project, place_of
from deltafold.harness.limits import DEFAULT_LIMITS, Limits, RefusedError
from deltafold.harness.model import errors, listing, reader
from deltafold.harness.source import read_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from deltafold.harness.document import Document

_TAIL_KINDS: Final = ("line-torn", "frame-torn")
CLEAN, TORN, DAMAGED, UNREADABLE = range(4)
"""Exit codes of `check`: clean, a torn tail only, damage, cannot be read."""


@dataclass(slots=True)
class SessionCheck:
    """The result for one session file."""

    place: Place
    answer: Record
    faults: list[Fault] = field(default_factory=list[Fault])
    session: str = ""
    size: int = 0
    alone: Record | None = None
    """What the reader would answer were the root around the file in order; None where that is the answer."""
    readable: bool = True
    listed: bool = True
    """Whether list() of the reader would show it; False where the file is passed over in silence."""

    @property
    def code(self) -> int:
        """Return the exit code that this session alone would give."""
        if not self.readable:
            return UNREADABLE
        grave = [fault for fault in self.faults if fault.severity is not Severity.NOTE]
        if "error" in self.answer or any(fault.kind not in _TAIL_KINDS for fault in grave):
            return DAMAGED
        return TORN if grave else CLEAN

    def to_dict(self) -> Record:
        """Return the result as one line of `check --json` shows it.

        Paths in messages are relative to `<ROOT>`.
        """
        shown: Record = {
            "path": self.place.path,
            "session": self.session,
            "compression": self.place.compression,
        }
        shown["bytes"] = self.size
        shown.update(self.answer)
        if self.alone is not None:
            shown["alone"] = self.alone
        if not self.listed:
            shown["listed"] = False
        shown["faults"] = [fault.to_dict() for fault in self.faults]
        return shown


def relative(answer: Record, root: str | None) -> Record:
    """Write `<ROOT>` for the root in the message of an answer, plain or as it stands inside a JSON string."""
    message = answer.get("message")
    if root is None or not isinstance(message, str):
        return answer
    for form in (root, stringify(root)[1:-1]):
        message = message.replace(form + "/", "<ROOT>/")
    return {**answer, "message": message}


def _localised(fault: Fault, root: str | None) -> Fault:
    if root is None or root not in fault.detail:
        return fault
    detail = fault.detail.replace(root + "/", "<ROOT>/")
    return Fault(fault.kind, detail, fault.seq, fault.line, fault.offset, fault.frame, fault.opens)


def examine(document: Document, place: Place, rules: listing.RootRules | None) -> SessionCheck:
    """Judge a document that was read already."""
    alone = relative(reader.answer(document, place), place.root)
    faults = [_localised(fault, place.root) for fault in find_faults(document, place, alone)]
    result = SessionCheck(place, alone, faults, session_of(document, place), len(document.data))
    result.listed = _listed(document, place)
    around = None if rules is None else rules.fault(place.compression) or rules.duplicate(place)
    if around is not None:
        result.alone, result.answer = alone, relative(errors.answer(around), place.root)
        result.faults.insert(0, Fault(_layout_kind(around), str(result.answer.get("message"))))
    return result


def _listed(document: Document, place: Place) -> bool:
    try:
        return listing.listed(document, place) is not None
    except JsError:
        return True


def _layout_kind(error: JsError) -> str:
    if error.message.startswith("duplicate"):
        return "layout-duplicate"
    return "layout-flat" if "flat-file" in error.message else "layout-encoding"


def _refused(place: Place, kind: str, message: str, name: str = "Refused") -> SessionCheck:
    answer: Record = {"error": name, "message": message}
    return SessionCheck(place, answer, [Fault(kind, message)], place.session or "", readable=False)


def check_place(
    place: Place, rules: listing.RootRules | None = None, limits: Limits = DEFAULT_LIMITS
) -> SessionCheck:
    """Check one session file. Never raises for what the file is or holds."""
    try:
        content = read_place(place, limits)
        return examine(open_document(content.data, place.compression, limits), place, rules)
    except Exception as error:  # noqa: BLE001  # one bad file never hides the others
        return unreadable(place, error)


def unreadable(place: Place, error: Exception) -> SessionCheck:
    """Return the result for a file that may not or cannot be read, or at which this program itself fails."""
    if isinstance(error, RefusedError):
        return _refused(place, error.kind, error.message)
    if isinstance(error, OSError):
        return _refused(place, "file-unreadable", error.strerror or str(error), "OSError")
    return _refused(place, "file-unreadable", f"the check itself failed: {type(error).__name__}: {error}")


@dataclass(slots=True)
class Scan:
    """Checks paths of any kind: a file, a session directory, a project, a root. Each root is walked once."""

    limits: Limits = DEFAULT_LIMITS
    progress: Callable[[int, int], None] | None = None
    """Called with the sessions done and the sessions known, after each."""
    roots: dict[str, listing.RootRules] = field(default_factory=dict[str, listing.RootRules])
    empty: list[str] = field(default_factory=list[str])
    """Paths at which no session was found."""
    done: int = 0
    known: int = 0

    def rules(self, root: str) -> listing.RootRules:
        """Return the rules of a root."""
        if root not in self.roots:
            self.roots[root] = listing.RootRules(index_root(root))
        return self.roots[root]

    def run(self, paths: Iterable[str]) -> Iterator[SessionCheck]:
        """Yield a result for every session below the paths, in their order."""
        for path in paths:
            found = False
            for result in self._path(path):
                found = True
                self.done += 1
                if self.progress is not None:
                    self.progress(self.done, max(self.known, self.done))
                yield result
            if not found:
                self.empty.append(path)

    def _path(self, path: str) -> Iterator[SessionCheck]:
        places, index = self.places(path)
        self.known += len(places)
        for place in places:
            rules = None if place.root is None else self.rules(place.root)
            result = check_place(place, rules, self.limits)
            if index is not None:
                result.faults.extend(_leftovers(index, place))
            yield result
        if index is not None:
            yield from _strays(index)

    def places(self, path: str) -> tuple[list[Place], RootIndex | None]:
        """Return the session files at a path, and the index when the path is a whole root."""
        path = os.path.abspath(path)
        try:
            status = os.stat(path, follow_symlinks=False)
        except OSError:
            return [], None
        if not stat.S_ISDIR(status.st_mode) and not (stat.S_ISLNK(status.st_mode) and os.path.isdir(path)):
            return [place_of(path)], None
        own = [os.path.join(path, name) for name in (RAW_NAME, ZSTD_NAME)]
        own = [file for file in own if os.path.lexists(file)]
        if own:
            return [place_of(file) for file in own], None
        if is_project(os.path.basename(path)):
            inside = self.rules(os.path.dirname(path)).index.places
            return [place for place in inside if place.path.startswith(path + os.sep)], None
        index = self.rules(_sessions_folder(path)).index
        return index.places, index


def _sessions_folder(path: str) -> str:
    """Return the sessions folder of a Harness home, or the path itself."""
    inside = os.path.join(path, "sessions")
    return inside if os.path.isdir(inside) and not os.path.islink(inside) else path


def _leftovers(index: RootIndex, place: Place) -> Iterator[Fault]:
    folder = os.path.dirname(place.path)
    for path in index.leftover_in(folder):
        yield Fault("layout-leftover", f"{os.path.basename(path)} is left over from an interrupted write")


def _strays(index: RootIndex) -> Iterator[SessionCheck]:
    """Yield what lies in a root and is no session: links, flat files, unreadable directories."""
    for path in index.flat:
        error = listing.flat_layout(path)
        yield _refused(Place(path, index.root, "none", None), "layout-flat", error.message, "Error")
    for path in index.links:
        yield _refused(Place(path, index.root, "none", None), "file-link", "a link, not followed")
    for path, failure in index.unreadable:
        words = failure.strerror or str(failure)
        yield _refused(Place(path, index.root, "none", None), "file-unreadable", words, "OSError")
