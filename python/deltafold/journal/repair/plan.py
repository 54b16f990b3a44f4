"""The plan of a repair: what would be changed, why, and into what. Making one changes nothing."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from deltafold.journal import record
from deltafold.journal.errors import JournalCorrupt
from deltafold.journal.reader import Reader
from deltafold.journal.record import Event
from deltafold.journal.repair.evidence import Evidence
from deltafold.journal.repair.logical import Mender
from deltafold.journal.repair.model import TOOL, Change, Checkpoint, Keep, Plan, Slot
from deltafold.journal.repair.physical import Blocked, Sequencer
from deltafold.journal.stores import files
from deltafold.journal.stores.file import FileReadLog
from deltafold.journal.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.journal.stores.base import ReadLog
    from deltafold.journal.survey import Piece
    from deltafold.journal.targets import Target

MAX_LISTED = 200
"""Changes that the `session/repair` record lists; more are counted."""


def plan_repair(
    target: Target,
    *,
    keep: Keep | None = None,
    to_checkpoint: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return the plan for one session.

    `keep` chooses where two logs forked. `to_checkpoint` cuts the log at the end of the last turn before the
    first fault instead of mending what stands behind it. `progress` is called with the records and bytes that
    were read so far. Raises `OSError`, `JournalMissing`, `UnknownFormat`.
    """
    with target.read() as log:
        plan = Plan(target, log.session, *_digest(log))
        fault = _first_fault(log, plan, progress)
        if fault is None:
            return plan
        try:
            _fill(plan, log, fault, keep, to_checkpoint=to_checkpoint)
        except Blocked as blocked:
            plan.blocked = blocked.reason
            plan.choices = blocked.choices
        if plan.checkpoint is not None and not to_checkpoint:
            point = plan.checkpoint
            plan.choices.append(
                f"--checkpoint: keep the {point.records} record(s) before the fault, {point.offset} bytes"
            )
        return plan


def _digest(log: ReadLog) -> tuple[str, int]:
    """Return sha256 and size of what lies there now."""
    if isinstance(log, FileReadLog):
        return files.digest(log.directory, log.name)
    value, size = hashlib.sha256(), 0
    for line in log.lines():
        value.update(line.data)
        size += line.size
    return value.hexdigest(), size


def _first_fault(log: ReadLog, plan: Plan, progress: Callable[[int, int], None] | None) -> str | None:
    """Return what a reader says of the log, or None when it is clean; note session and checkpoint."""
    reader = Reader(log)
    fault: str | None = None
    try:
        for _event in reader.events():
            if progress is not None:
                progress(reader.state.next_seq, reader.size)
            if reader.state.turn is None:
                plan.checkpoint = Checkpoint(reader.state.next_seq, reader.size)
    except JournalCorrupt as corrupt:
        fault = corrupt.rule
    plan.session = reader.state.session or plan.session
    return fault or ("torn" if reader.torn else None)


def _fill(plan: Plan, log: ReadLog, fault: str, keep: Keep | None, *, to_checkpoint: bool) -> None:
    survey = Survey(log)
    pieces = _own(list(survey.pieces()), survey, plan)
    plan.salt = survey.salt or b""
    if fault == "torn":
        pieces = _torn(pieces)
    sequencer = Sequencer(plan.salt, plan.session, keep)
    if to_checkpoint:
        _cut(plan, pieces)
        return
    slots = sequencer.take(pieces)
    mender = Mender(plan.session, Evidence(log))
    plan.slots = mender.mend(slots)
    plan.changes = sequencer.changes + mender.changes
    plan.asides = mender.asides


def _own(pieces: list[Piece], survey: Survey, plan: Plan) -> list[Piece]:
    """Return the pieces of this session's own log where another one's stands before it in the file."""
    first = pieces[0] if pieces else None
    others = [piece for piece in pieces if piece.kind == "other-start" and piece.event is not None]
    named = survey.log.session
    if first is None or first.event is None or not others or not named:
        return pieces
    if first.kind != "record" or first.event.data.get("session") == named:
        return pieces
    own = [piece for piece in others if piece.event is not None and piece.event.data.get("session") == named]
    if len(own) != 1:
        return pieces
    survey.salt = record.salt_of(own[0].data)
    plan.session = named
    return list(survey.again(own[0].offset))


def _torn(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of a log that a reader calls torn, its tail as one piece."""
    whole = [piece for piece in pieces if piece.kind == "record" and not piece.why]
    behind = [piece for piece in pieces if piece.kind != "record" or piece.why]
    if not behind:
        return pieces
    tail = replace(
        behind[0], kind="torn", size=behind[-1].end - behind[0].offset, why="nothing valid behind it"
    )
    return [*whole, tail]


def _cut(plan: Plan, pieces: list[Piece]) -> None:
    """Keep what stands before the checkpoint."""
    point = plan.checkpoint
    if point is None:
        raise Blocked("there is no turn's end before the first fault")
    for piece in pieces:
        if piece.event is not None and piece.end <= point.offset:
            plan.slots.append(Slot(piece.event, piece.data, piece.offset))
    why = f"everything behind the end of the last turn before the fault: {plan.size - point.offset} bytes"
    plan.changes.append(Change("wrong-record", "dropped", point.records, point.offset, why))


def new_log(plan: Plan, backup: dict[str, str]) -> list[bytes]:
    """Return the lines of the repaired log.

    Those that stay keep their bytes, and the repair itself is its last record.
    """
    lines: list[bytes] = []
    for seq, slot in enumerate(plan.slots):
        if slot.line is not None and slot.event.seq == seq:
            lines.append(slot.line)
        else:
            lines.append(record.encode(slot.event._replace(seq=seq), plan.salt))
    listed = [change.to_dict() for change in plan.changes[:MAX_LISTED]]
    if len(plan.changes) > MAX_LISTED:
        listed.append({"more": len(plan.changes) - MAX_LISTED})
    data = {"tool": TOOL, "changes": listed, "backup": backup}
    lines.append(record.encode(Event(len(lines), record.now(), "session/repair", data), plan.salt))
    return lines
