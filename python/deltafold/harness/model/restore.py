"""The last gate of a load: header fields, event envelopes, request headers, surface.

Sections 4.2 (item 7) and 4.6, "Restore checks".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    JsValue,
    Record,
    as_record,
    is_count,
    is_safe_integer,
    to_text,
)
from deltafold.harness.model.adopt import MESSAGE_TYPES, filled, has_provider_and_model, message_problem
from deltafold.harness.model.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Sequence

ENVELOPE_KEYS: Final = frozenset({"type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"})
_DEFAULTED: Final = ("reasoningEffort", "maxTokens")


def header_problem(meta: Record) -> str | None:
    """Return the words of the first header rule that is broken, after the shape of the line was accepted."""
    cwd = meta.get("cwd", UNDEFINED)
    if cwd is not UNDEFINED and not isinstance(cwd, str):
        return "session header cwd must be a string"
    if isinstance(cwd, str) and not cwd.startswith("/"):
        return f'session header cwd must be an absolute path, got "{cwd}"'
    if not isinstance(meta.get("parentSession", ""), str):
        return "session header parentSession must be a string"
    if not is_count(meta.get("seedLength", 0)):
        return "session header seedLength must be a non-negative safe integer"
    return None


def envelope_sound(event: Record) -> bool:
    """Tell whether the envelope of an event has only known members, each of its type."""
    if not event.keys() <= ENVELOPE_KEYS:
        return False
    return (
        isinstance(event.get("type"), str)
        and is_count(event.get("seq", UNDEFINED))
        and is_safe_integer(event.get("time", UNDEFINED))
        and "data" in event
        and event.get("ignorable", True) is True
    )


def request_problem(event: Record) -> str | None:
    """Return what is wrong with a request/header, None where nothing is or for another type."""
    if event.get("type") != "request/header":
        return None
    header = as_record((as_record(event.get("data")) or {}).get("header"))
    config = as_record((header or {}).get("config"))
    if config is None or not has_provider_and_model(config):
        return "lacks provider/model"
    effort = config.get("reasoningEffort", UNDEFINED)
    if effort is not UNDEFINED and not filled(effort):
        return "has an invalid reasoningEffort"
    if not _defaults_sound((header or {}).get("adapterDefaults", UNDEFINED), config):
        return "has invalid adapterDefaults"
    return None


def _defaults_sound(defaults: JsValue, config: Record) -> bool:
    if defaults is UNDEFINED:
        return True
    record = as_record(defaults)
    if record is None:
        return False
    return all(key in _DEFAULTED and marker is True and key in config for key, marker in record.items())


def restore(meta: Record, events: Sequence[Record]) -> None:
    """Check a balanced log as the Session constructor does; raises JsError."""
    problem = header_problem(meta)
    if problem is not None:
        raise JsError(problem)
    surface = Surface()
    for index, event in enumerate(events):
        _check_event(event, index)
        try:
            surface.take(event, index, events)
        except JsError as error:
            raise JsError(f"invalid seed event at index {index}: {error.message}") from error


def _check_event(event: Record, index: int) -> None:
    if not envelope_sound(event):
        raise JsError(f"seed event at index {index} has an invalid event envelope")
    problem = request_problem(event)
    if problem is not None:
        raise JsError(f"seed request/header at index {index} {problem}")
    kind = event.get("type", UNDEFINED)
    if kind in MESSAGE_TYPES:
        problem = message_problem(event)
        if problem is not None:
            raise JsError(f"seed {to_text(kind)} at index {index} {problem}")
