"""The last consistent checkpoint: the end of the last turn before the first fault.

Always offered, taken when asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltafold.harness.faults.kinds import Severity
from deltafold.harness.js import UNDEFINED, equal
from deltafold.harness.repair.draft import Change, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltafold.harness.document import Document, Line
    from deltafold.harness.faults.kinds import Fault
    from deltafold.harness.js import Record
    from deltafold.harness.repair.draft import Draft


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where the log would be cut.

    `lines` event lines with `events` events stay, `given_up` lines go to quarantine.
    """

    lines: int
    events: int
    given_up: int

    def to_dict(self) -> Record:
        """Return the choice as `repair --json` shows it."""
        last = self.events - 1 if self.events else None
        return {
            "option": "--checkpoint",
            "seq": last,
            "keeps": f"{self.events} events",
            "gives_up_lines": self.given_up,
        }


def _first_fault_line(faults: Sequence[Fault]) -> int:
    """Return the line of the first fault that counts; the header is mended and does not."""
    lines = [fault.line or 0 for fault in faults if fault.severity is not Severity.NOTE]
    return min((line for line in lines if line > 1), default=1 << 62)


def _clean_lines(document: Document, limit: int) -> list[Line]:
    """Return the event lines before the first fault that stand in sequence."""
    kept: list[Line] = []
    events = 0
    for line in document.lines:
        rows = line.records
        in_order = all(equal(row.get("seq", UNDEFINED), events + at) for at, row in enumerate(rows))
        if line.number >= limit or not line.ended or not rows or not in_order:
            break
        kept.append(line)
        events += len(rows)
    while kept and all(row.get("type") != "turn/end" for row in kept[-1].records):
        kept.pop()
    return kept


def find_checkpoint(document: Document, faults: Sequence[Fault]) -> Checkpoint | None:
    """Return the checkpoint of a damaged log, None where no turn ended before the first fault."""
    kept = _clean_lines(document, _first_fault_line(faults))
    if not kept:
        return None
    return Checkpoint(len(kept), sum(len(line.records) for line in kept), len(document.lines) - len(kept))


def cut_to_checkpoint(draft: Draft, faults: Sequence[Fault]) -> None:
    """Keep the lines up to the checkpoint and put everything behind it into quarantine."""
    kept = _clean_lines(draft.document, _first_fault_line(faults))
    draft.rows = [Row.of(line) for line in kept]
    draft.refresh()
    given_up = draft.document.lines[len(kept) :]
    for line in given_up:
        draft.take_out(line.raw, "behind the checkpoint", line.number)
    why = f"cut behind seq {len(draft.events) - 1}; {len(given_up)} lines put aside"
    draft.note(Change("checkpoint", why, "removed", seq=len(draft.events) - 1))
    draft.lost.append(f"{len(given_up)} lines behind the checkpoint")
