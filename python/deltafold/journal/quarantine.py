"""Quarantine: what was refused, with the rule and the reason, kept as durably as the history itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from deltafold.journal import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.journal.stores.base import ReadLog

MAX_EVENT: Final = 64 * 1024 * 1024
"""Bytes of an event that are kept whole; of a larger one its first million characters."""
_MAX_TEXT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """One entry. `event` is what was given, or `text` how Python shows it where JSON cannot hold it."""

    time: str
    rule: str
    reason: str
    type: str
    event: dict[str, Any] | None
    text: str | None
    stream: str | None
    offset: int
    intact: bool


def encode(  # noqa: PLR0913  (one argument for each member)
    *, rule: str, reason: str, kind: object, data: object, stream: str | None, salt: bytes
) -> bytes:
    """Return the line of one refused event."""
    event, text = _kept(data)
    entry = {
        "time": record.now(),
        "rule": rule,
        "reason": _clean(reason),
        "type": _clean(kind if isinstance(kind, str) else repr(kind)),
        "stream": stream,
    }
    front = record.dump(entry)[:-1] + (
        b',"text":' + record.dump(text) if event is None else b',"event":' + event
    )
    return record.seal(front, salt)


def _kept(data: object) -> tuple[bytes | None, str]:
    """Return the event as JSON, or how Python shows it."""
    try:
        whole = record.dump(data)
    except (TypeError, ValueError, RecursionError):
        try:
            whole = json.dumps(data, allow_nan=False).encode("ascii")  # lone surrogates as escapes
        except (TypeError, ValueError, RecursionError):
            whole = None
    if whole is not None and len(whole) <= MAX_EVENT:
        return whole, ""
    try:
        return None, _clean(repr(data)[:_MAX_TEXT])
    except RecursionError:
        return None, f"a {type(data).__name__} nested too deep to be shown"


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def entries(log: ReadLog, salt: bytes | None) -> Iterator[RefusedEvent]:
    """Yield the entries of a session's quarantine; one whose check value is wrong has `intact` False."""
    for line in log.refused_lines():
        intact = salt is not None and record.verified(line.data, salt)
        try:
            value = record.parse_leniently(line.data)
        except (ValueError, RecursionError):
            value = None
        members = cast("dict[str, Any]", value if isinstance(value, dict) else {})
        yield RefusedEvent(
            time=str(members.get("time", "")),
            rule=str(members.get("rule", "")),
            reason=str(members.get("reason", "unreadable line")),
            type=str(members.get("type", "")),
            event=members.get("event"),
            text=members.get("text"),
            stream=members.get("stream"),
            offset=line.offset,
            intact=intact,
        )
