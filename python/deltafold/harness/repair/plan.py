"""The plan of a repair.

What is wrong, what would change and why, what is lost, what the operator has to decide.

A plan touches nothing. It holds the new bytes, already read by the exact model of the real reader.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from deltafold.harness.document import open_document
from deltafold.harness.edit import EditError
from deltafold.harness.faults import Severity, find_faults
from deltafold.harness.faults.find import session_of
from deltafold.harness.model.reader import answer
from deltafold.harness.repair import events as event_repair
from deltafold.harness.repair import header, identity, messages, sequence, turns
from deltafold.harness.repair.checkpoint import Checkpoint, cut_to_checkpoint, find_checkpoint
from deltafold.harness.repair.draft import Change, Draft, Options, TooMuchWorkError
from deltafold.harness.repair.frames import assemble

if TYPE_CHECKING:
    from deltafold.harness.document import Document
    from deltafold.harness.faults import Fault
    from deltafold.harness.js import JsonValue, Record
    from deltafold.harness.layout import Place
    from deltafold.harness.limits import Limits

HEALTHY: Final = "healthy"
REPAIRABLE: Final = "repairable"
DECISION: Final = "needs-decision"
UNREPAIRABLE: Final = "not-repairable"
UNDAMAGED: Final = "not-damaged"
LEFT_ALONE: Final = "left-alone"
"""It opens; what is wrong with it no repair may touch."""

_NOT_DAMAGE: Final = ("header-version", "type-unknown", "type-retired", "header-retired")

_BRANCHES: Final = {
    "first": "what was written before the fork line",
    "last": "what was written from the fork line on",
}


@dataclass(slots=True)
class Plan:
    """What a repair of one session would do."""

    place: Place
    session: str
    status: str
    sha256: str
    size: int
    before: Record
    after: Record | None = None
    data: bytes | None = None
    """The new bytes; None where nothing is to be written."""
    faults: list[Fault] = field(default_factory=list["Fault"])
    remaining: list[Fault] = field(default_factory=list["Fault"])
    draft: Draft | None = None
    reasons: list[str] = field(default_factory=list[str])
    checkpoint: Checkpoint | None = None
    branches: Record = field(default_factory=dict[str, "JsonValue"])
    """What each branch of an undecided fork would open as, by the option that keeps it."""

    @property
    def changes(self) -> list[Change]:
        """The changes, in the order they are made."""
        return self.draft.changes if self.draft is not None else []

    @property
    def lost(self) -> list[str]:
        """What is lost, in words."""
        return self.draft.lost if self.draft is not None else []

    def choices(self) -> list[Record]:
        """Return what the operator may choose instead of the plan."""
        found: list[Record] = []
        for seq in self.draft.forks[:1] if self.draft is not None else []:
            for branch, keeps in _BRANCHES.items():
                choice: Record = {"option": f"--fork {branch}", "seq": seq, "keeps": keeps}
                then = self.branches.get(branch)
                found.append(choice if then is None else {**choice, "then": then})
        if self.checkpoint is not None:
            found.append(self.checkpoint.to_dict())
        return found

    def to_dict(self) -> Record:
        """Return the plan as `repair --json` shows it, without the lines themselves."""
        shown: Record = {
            "path": self.place.path,
            "session": self.session,
            "status": self.status,
            "sha256": self.sha256,
            "bytes": self.size,
            "before": self.before,
        }
        optional: list[tuple[str, JsonValue]] = [
            ("after", self.after),
            ("changes", [change.to_dict() for change in self.changes]),
            ("renumbered", self.draft.renumbered if self.draft is not None else 0),
            ("lost", [*self.lost]),
            ("quarantined", len(self.draft.removed) if self.draft is not None else 0),
            ("reasons", [*self.reasons]),
            ("remaining", [fault.to_dict() for fault in self.remaining]),
            ("choices", [*self.choices()]),
        ]
        shown.update({key: value for key, value in optional if value})
        if self.data is not None:
            shown["new_sha256"] = hashlib.sha256(self.data).hexdigest()
            shown["new_bytes"] = len(self.data)
        return shown


def make_plan(data: bytes, place: Place, options: Options, limits: Limits) -> Plan:
    """Plan the repair of one session; raises RefusedError where the file may not be read."""
    document = open_document(data, place.compression, limits)
    before = answer(document, place)
    faults = find_faults(document, place, before)
    session = session_of(document, place)
    digest = hashlib.sha256(data).hexdigest()
    plan = Plan(place, session, HEALTHY, digest, len(data), before, faults=faults)
    if not any(fault.severity is not Severity.NOTE for fault in faults):
        return plan
    undamaged = [fault for fault in faults if fault.kind in _NOT_DAMAGE]
    if undamaged:
        plan.status = UNDAMAGED
        plan.reasons = [f"{fault.kind}: {fault.detail}; nothing is touched" for fault in undamaged]
        return plan
    plan.draft = _mended(data, place, session, options, limits)
    plan.checkpoint = find_checkpoint(document, faults)
    _judge(plan, document, limits)
    if plan.draft.forks and options.fork is None:
        for branch in _BRANCHES:
            chosen = make_plan(data, place, replace(options, fork=branch), limits)
            plan.branches[branch] = {"status": chosen.status, **(chosen.after or {})}
    return plan


def _judge(plan: Plan, document: Document, limits: Limits) -> None:
    """Read the mended file with the model and set the status."""
    draft = plan.draft
    if draft is None:
        return
    if draft.blocked:
        plan.status, plan.reasons = DECISION, [*draft.blocked]
        return
    if not draft.changes:
        plan.status = UNREPAIRABLE if "error" in plan.before else LEFT_ALONE
        plan.reasons = [
            f"{fault.kind}: {fault.detail}" for fault in plan.faults if fault.severity is not Severity.NOTE
        ]
        return
    fresh = assemble(draft)
    mended = open_document(fresh, document.compression, limits)
    plan.after = answer(mended, plan.place)
    plan.remaining = find_faults(mended, plan.place, plan.after)
    if "ok" not in plan.after:
        plan.status, plan.reasons = UNREPAIRABLE, [str(plan.after.get("message"))]
        return
    plan.status, plan.data = REPAIRABLE, fresh


def _mended(data: bytes, place: Place, session: str, options: Options, limits: Limits) -> Draft:
    document = open_document(data, place.compression, limits, lenient=True)
    draft = Draft(document, place, session, options, limits)
    _note_container(draft)
    if options.checkpoint:
        strict = open_document(data, place.compression, limits)
        cut_to_checkpoint(draft, find_faults(strict, place, answer(strict, place)))
        header.mend_header(draft)
        return draft
    try:
        _mend(draft)
    except (EditError, TooMuchWorkError) as error:
        draft.blocked.append(str(error))
    return draft


def _mend(draft: Draft) -> None:
    """Mend everything, in the order in which one repair needs the one before it."""
    draft.rows = sequence.rows_in_sequence(draft)
    draft.refresh()
    header.mend_header(draft)
    event_repair.mend_text(draft)
    event_repair.mend_envelopes(draft)
    event_repair.mend_boundaries(draft)
    event_repair.mend_requests(draft)
    messages.mend_messages(draft)
    identity.mend_identity(draft)
    event_repair.mend_surface(draft)
    turns.mend_open_calls(draft)
    turns.close_last_turn(draft)


def _note_container(draft: Draft) -> None:
    """Record what a lenient reading did to the frames of a compressed file."""
    document = draft.document
    for offset, raw in document.skipped:
        why = f"{len(raw)} bytes at byte {offset} that are no frame"
        draft.take_out(raw, why)
        draft.note(Change("frame-structure", why, "removed"))
    for frame in document.frames:
        if not frame.sound:
            raw = document.data[frame.start : frame.end]
            draft.take_out(raw, f"the frame at byte {frame.start} that fails its check")
            size = len(frame.plain or b"")
            why = f"the frame at byte {frame.start} fails its check; {size} bytes of it were read unverified"
            draft.note(Change("frame-failed", why, "recovered"))
            draft.lost.append(f"frame at byte {frame.start}: its text could not be verified")
    if document.torn_start is not None:
        size = len(document.data) - document.torn_start
        draft.take_out(document.data[document.torn_start :], "the unfinished last frame")
        draft.note(Change("frame-torn", f"the last {size} bytes are an unfinished frame", "removed"))
        draft.losses.append(1 << 62)
    plain = document.header_frame
    if plain is not None and plain.find(b"\n") != len(plain) - 1:
        draft.note(Change("frame-header", "the header gets a frame of its own", "derived", line=1))
