"""A session log while it is being mended.

Rows that can be edited, what was changed and why, what was taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deltafold.harness import edit
from deltafold.harness.document import RAW_FRAME, Line
from deltafold.harness.js import UNDEFINED, JsonValue, Record, as_int, stringify

if TYPE_CHECKING:
    from deltafold.harness.document import Document
    from deltafold.harness.edit import Path
    from deltafold.harness.layout import Place
    from deltafold.harness.limits import Limits

_ROW_WORK: Final = 1 << 28
"""Bytes that edits may write to one row: a line of a megabyte can be edited a few hundred times."""
PLACEHOLDER_TYPE: Final = "agent/inbox/spliced"


class TooMuchWorkError(Exception):
    """A line that wants more changes than a repair makes."""


def placeholder(seq: int, time: JsonValue) -> Record:
    """Return the record that fills a seq whose own record is lost: a splice of nothing into nothing.

    It is of a known type with a valid payload, so every reader generation takes it, and it changes no state.
    """
    inserted: list[JsonValue] = []
    return {
        "type": PLACEHOLDER_TYPE,
        "seq": seq,
        "time": time,
        "data": {"target": "next-turn", "start": 0, "inserted": inserted},
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a plan. `origin` says where a new value comes from.

    `recovered` from other records of the log, `derived` from the rules of the format, `minted`,
    `placeholder`, or `removed` where nothing takes the place.
    """

    kind: str
    why: str
    origin: str
    seq: int | None = None
    line: int | None = None
    member: str | None = None
    old: str | None = None
    new: str | None = None

    def to_dict(self) -> Record:
        """Return the change as `repair --json` shows it."""
        shown: Record = {"kind": self.kind, "why": self.why, "origin": self.origin}
        optional: dict[str, str | int | None] = {
            "seq": self.seq,
            "line": self.line,
            "member": self.member,
            "old": self.old,
            "new": self.new,
        }
        shown.update({key: value for key, value in optional.items() if value is not None})
        return shown


@dataclass(frozen=True, slots=True)
class Removed:
    """Bytes taken out of the log; they are kept with the backup."""

    raw: bytes
    why: str
    line: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the operator decided. Without a decision a plan names the choice and changes nothing."""

    fork: str | None = None
    """`first` or `last`: which branch of a fork is kept; forks are never merged."""
    checkpoint: bool = False
    """Cut behind the last turn that ended before the first fault."""
    cwd: str | None = None
    """The working directory for a header that has to be rebuilt."""


@dataclass(slots=True, eq=False)
class Row:
    """One line of the new file. `line` is where it comes from, None for one that is new."""

    raw: bytes
    frame: int
    line: Line | None = None
    _parsed: Line | None = field(default=None, repr=False)
    written: int = 0
    """Bytes written to the row by edits."""

    @classmethod
    def of(cls, line: Line) -> Row:
        """Take a line over unchanged."""
        return cls(line.raw, line.frame, line, line)

    @classmethod
    def fresh(cls, record: Record, frame: int) -> Row:
        """Make a new line, written as the Harness writes."""
        return cls(stringify(record).encode(), frame)

    def parsed(self) -> Line:
        """Return the row decoded, again after each edit."""
        if self._parsed is None:
            self._parsed = Line(0, 0, self.raw, ended=True, frame=RAW_FRAME, last_frame=RAW_FRAME)
        return self._parsed

    @property
    def events(self) -> list[Record]:
        """The events of the row after expansion."""
        return self.parsed().records

    @property
    def packed(self) -> bool:
        """Whether the row is a packed one."""
        return self.parsed().packed

    @property
    def number(self) -> int | None:
        """File line it comes from."""
        return None if self.line is None else self.line.number

    @property
    def changed(self) -> bool:
        """Whether the row differs from the line it comes from."""
        return self.line is None or self.raw != self.line.raw or not self.line.ended

    def write(self, raw: bytes) -> None:
        """Set other bytes."""
        if raw != self.raw:
            self.raw, self._parsed = raw, None
            self.written += len(raw)
            if self.written > _ROW_WORK:
                raise TooMuchWorkError("more changes in one line than a repair makes")

    def put(self, path: Path, value: JsonValue) -> None:
        """Replace or add the member at a path; raises EditError."""
        self.write(edit.put(self.raw, path, value))

    def remove(self, path: Path) -> None:
        """Take out the member at a path; raises EditError."""
        self.write(edit.remove(self.raw, path))


@dataclass(slots=True)
class Draft:
    """The whole log while it is being mended."""

    document: Document
    place: Place
    session: str
    options: Options
    limits: Limits
    header: bytes = b""
    rows: list[Row] = field(default_factory=list[Row])
    changes: list[Change] = field(default_factory=list[Change])
    removed: list[Removed] = field(default_factory=list[Removed])
    lost: list[str] = field(default_factory=list[str])
    blocked: list[str] = field(default_factory=list[str])
    """Why the plan cannot be carried out without a decision."""
    forks: list[int] = field(default_factory=list[int])
    """Seqs at which a fork begins."""
    losses: list[int] = field(default_factory=list[int])
    """File lines at which something was lost; an open last turn that lost something gets its closers."""
    filled: int = 0
    """Placeholders written so far."""
    renumbered: int = 0
    """Rows that only had their seqs moved."""
    events: list[Record] = field(default_factory=list[Record])
    owners: list[Row] = field(default_factory=list[Row])

    def refresh(self) -> None:
        """Flatten the rows again: event i has seq i and belongs to owners[i]."""
        self.events = [event for row in self.rows for event in row.events]
        self.owners = [row for row in self.rows for _ in row.events]

    def note(self, change: Change) -> None:
        """Record a change."""
        self.changes.append(change)

    def changed_at(self, position: int, kind: str, why: str, origin: str, **values: str | None) -> None:
        """Record a change of the event at a position."""
        row = self.owners[position]
        self.note(
            Change(
                kind,
                why,
                origin,
                seq=position,
                line=row.number,
                member=values.get("member"),
                old=values.get("old"),
                new=values.get("new"),
            )
        )

    def may_fill(self, count: int) -> bool:
        """Tell whether so many placeholders more may be written; where not, the plan is blocked."""
        self.filled += count
        if self.filled <= self.limits.fill:
            return True
        self.blocked.append(f"{self.filled} records are lost: too many to fill")
        return False

    def take_out(self, raw: bytes, why: str, line: int | None = None, seq: int | None = None) -> None:
        """Put bytes into quarantine."""
        self.removed.append(Removed(raw, why, line, seq))

    def replace_events(self, positions: set[int], kind: str, why: str) -> None:
        """Put placeholders where these events stand, the originals into quarantine.

        Call `refresh` after it.
        """
        if not self.may_fill(len(positions)):
            return
        rows: list[Row] = []
        at = 0
        for row in self.rows:
            count = len(row.events)
            wanted = [position for position in range(at, at + count) if position in positions]
            if not wanted:
                rows.append(row)
            else:
                self.take_out(row.raw, why, row.number, at)
                self.note(Change(kind, why, "placeholder", seq=at, line=row.number))
                rows.extend(self._replaced(row, at, positions))
            at += count
        self.rows = rows

    @staticmethod
    def _replaced(row: Row, first: int, positions: set[int]) -> list[Row]:
        fresh: list[Row] = []
        for at, event in enumerate(row.events):
            time = event.get("time", 0)
            safe = time if as_int(event.get("time", UNDEFINED)) is not None else 0
            kept = placeholder(first + at, safe) if first + at in positions else event
            fresh.append(Row.fresh(kept, row.frame))
        return fresh


def preview(value: JsonValue, limit: int = 80) -> str:
    """Return a value as short JSON for a change."""
    text = stringify(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
