"""What a repair is made of: the records of the log to be, and every change with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from deltafold.journal.record import Event

if TYPE_CHECKING:
    from deltafold.journal.targets import Target

TOOL: Final = "deltafold journal repair"
Keep = Literal["first", "last"]
Action = Literal["dropped", "restored", "rewritten", "inserted", "quarantined", "marked"]


@dataclass(slots=True)
class Slot:
    """One record of the log to be.

    `line` are its bytes as they stand, None when it must be written anew. `proven` is False for a record
    whose check value is wrong and for which no single flipped bit accounts. `filler` marks a placeholder that
    another record may still take the place of.
    """

    event: Event
    line: bytes | None
    offset: int | None
    proven: bool = True
    filler: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    The kind of the fault (a key of `faults.ADVICE`), the seq and offset where it stood, what is done and by
    what evidence.

    `before` are the old bytes (perhaps only their beginning), `after` the new event; None where there is
    none.
    """

    kind: str
    action: Action
    seq: int | None
    offset: int | None
    why: str
    before: bytes | None = None
    after: Event | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as a `session/repair` record and `--json` have it."""
        return {
            "kind": self.kind,
            "action": self.action,
            "seq": self.seq,
            "offset": self.offset,
            "why": self.why,
        }

    def diff(self) -> dict[str, Any]:
        """Return the old bytes as text, and the type and data of the new record; None where there is none."""
        before = None if self.before is None else self.before.decode("utf-8", "backslashreplace")
        after = None if self.after is None else {"type": self.after.type, "data": self.after.data}
        return {"before": before, "after": after}


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that goes to quarantine."""

    rule: str
    reason: str
    kind: str
    data: Any
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The end of the last turn before the first fault: how many records, how many bytes."""

    records: int
    offset: int


@dataclass(slots=True)
class Plan:
    """What a repair would do. `blocked` says why it cannot be done without a choice, or at all."""

    target: Target
    session: str
    sha256: str
    size: int
    salt: bytes = b""
    slots: list[Slot] = field(default_factory=list[Slot])
    changes: list[Change] = field(default_factory=list[Change])
    asides: list[Aside] = field(default_factory=list[Aside])
    checkpoint: Checkpoint | None = None
    blocked: str | None = None
    choices: list[str] = field(default_factory=list[str])

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes and self.blocked is None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        point = self.checkpoint
        return {
            "session": self.session,
            "sha256": self.sha256,
            "bytes": self.size,
            "healthy": self.healthy,
            "blocked": self.blocked,
            "choices": self.choices,
            "changes": [change.to_dict() for change in self.changes],
            "quarantined": len(self.asides),
            "renumbered": self.renumbered,
            "checkpoint": None if point is None else {"records": point.records, "offset": point.offset},
        }

    @property
    def renumbered(self) -> int:
        """How many records keep what they say and only get another seq."""
        return sum(slot.line is not None and slot.event.seq != seq for seq, slot in enumerate(self.slots))


def filler(seq: int, time: str, why: str, kind: str) -> Slot:
    """Return a placeholder: it keeps the seqs of all behind it, so that their bytes stay as they are."""
    data = {"tool": TOOL, "changes": [{"kind": kind, "why": why}], "backup": None}
    return Slot(Event(seq, time, "session/repair", data), None, None, filler=True)
