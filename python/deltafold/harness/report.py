"""A report that can be attached to an issue: structure and faults, no text, no names, no paths."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from deltafold.harness.js import JsonValue, Record, as_text

if TYPE_CHECKING:
    from deltafold.harness.check import SessionCheck
    from deltafold.harness.faults import Fault
    from deltafold.harness.repair.plan import Plan

_QUOTED: Final = re.compile(r'".*"|".*', re.DOTALL)
"""From the first quote to the last: what is quoted may hold quotes itself."""
_RAW_LOG: Final = re.compile(r"\(raw log: .*\)", re.DOTALL)
_GOT: Final = re.compile(r"\bgot (?!-?\d+\)?$).*", re.DOTALL)
_SESSION: Final = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
_OWN_FAILURE: Final = re.compile(r"(the check itself failed: \w+): .*", re.DOTALL)
_MEMBERS: Final = frozenset(
    {
        *(
            "data",
            "message",
            "content",
            "source",
            "chunk",
            "block",
            "id",
            "name",
            "callId",
            "toolCallId",
            "kind",
        ),
        *(
            "role",
            "seq",
            "time",
            "turn",
            "step",
            "reason",
            "sourceEventSeqs",
            "surfaceOp",
            "provider",
            "model",
        ),
        *("createdAt", "delegationDepth", "cwd", "seedLength"),
    }
)
"""Names of members that the format defines; others could be a user's own words."""
_ERRORS: Final = (
    "Error",
    "TypeError",
    "SessionPersistenceCorruptionError",
    "SessionFormatUnsupportedError",
    "Refused",
)


def _redacted_message(message: str, session: str) -> str:
    """Keep the words that are the reader's own; what it quotes from the session goes.

    The id of the session is known and taken out first, so that the words behind it stay.
    """
    kept = _RAW_LOG.sub("(raw log: …)", message).replace(f'"{session}"', _SESSION)
    kept = _GOT.sub("got …", _QUOTED.sub('"…"', kept))
    return _OWN_FAILURE.sub(r"\1", kept).replace(_SESSION, '"…"')


def _redacted_answer(answer: Record, session: str) -> Record:
    if "ok" in answer:
        return {"ok": answer["ok"]}
    name = as_text(answer.get("error")) or ""
    message = _redacted_message(as_text(answer.get("message")) or "", session)
    return {"error": name if name in _ERRORS else "Error", "message": message}


def _redacted_fault(fault: Fault) -> Record:
    shown: Record = {"kind": fault.kind, "severity": fault.severity.value}
    for name, value in (
        ("seq", fault.seq),
        ("line", fault.line),
        ("offset", fault.offset),
        ("frame", fault.frame),
    ):
        if value is not None:
            shown[name] = value
    return shown


def _alias(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def redact_check(check: SessionCheck) -> Record:
    """Return the result of a check without anything that the session says."""
    faults: list[JsonValue] = [_redacted_fault(fault) for fault in check.faults]
    return {
        "session": _alias(check.session),
        "compression": check.place.compression,
        "bytes": check.size,
        "answer": _redacted_answer(check.answer, check.session),
        "faults": faults,
    }


def redact_plan(plan: Plan) -> Record:
    """Return a plan without anything that the session says."""
    changes: list[JsonValue] = []
    for change in plan.changes:
        shown: Record = {"kind": change.kind, "origin": change.origin}
        places = (("seq", change.seq), ("line", change.line), ("member", _member(change.member)))
        shown.update({key: value for key, value in places if value is not None})
        changes.append(shown)
    return {
        "session": _alias(plan.session),
        "compression": plan.place.compression,
        "bytes": plan.size,
        "status": plan.status,
        "before": _redacted_answer(plan.before, plan.session),
        "after": None if plan.after is None else _redacted_answer(plan.after, plan.session),
        "faults": [_redacted_fault(fault) for fault in plan.faults],
        "changes": changes,
        "quarantined": len(plan.draft.removed) if plan.draft is not None else 0,
    }


def _member(member: str | None) -> str | None:
    """Keep the name of a member only where the format defines it."""
    if member is None:
        return None
    return ".".join(part if part.isdigit() or part in _MEMBERS else "…" for part in member.split("."))
