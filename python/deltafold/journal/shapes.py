"""The members of each record type's data (J1): names, which must be there, and what each may hold.

A shape is a function that says what is wrong with a value, or None. What needs more than the value itself
(ids, pairing, turns) is not here but in `rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Check = "Callable[[object], str | None]"

FORMAT: Final = 1
MAX_CALLS: Final = 4096
MAX_IDENTITY: Final = 65_536
"""Characters of a call id or a name."""
_MAX_COUNT: Final = 2**63


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: the check of its value, and whether it may be left out."""

    check: Callable[[object], str | None]
    optional: bool = False


def _string(value: object) -> str | None:
    return None if isinstance(value, str) else "is not a string"


def _filled(value: object) -> str | None:
    return None if isinstance(value, str) and value else "is not a non-empty string"


def _string_or_null(value: object) -> str | None:
    return None if value is None or isinstance(value, str) else "is neither a string nor null"


def _boolean(value: object) -> str | None:
    return None if isinstance(value, bool) else "is not true or false"


def _count(value: object) -> str | None:
    whole = type(value) is int and 0 <= value < _MAX_COUNT
    return None if whole else "is not a whole number from 0"


def _object(value: object) -> str | None:
    return None if isinstance(value, dict) else "is not an object"


def _objects(value: object) -> str | None:
    if not isinstance(value, list):
        return "is not a list"
    for position, element in enumerate(cast("list[object]", value)):
        if not isinstance(element, dict):
            return f"[{position}] is not an object"
    return None


def _content(value: object) -> str | None:
    if isinstance(value, str):
        return None
    if not isinstance(value, list):
        return "is neither a string nor a list of parts"
    for position, part in enumerate(cast("list[object]", value)):
        wrong = _PART(part)
        if wrong is not None:
            return f"[{position}]{wrong}" if wrong[0] == "." else f"[{position}] {wrong}"
    return None


def _content_or_null(value: object) -> str | None:
    return None if value is None else _content(value)


def _exactly(expected: str) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        return None if value == expected else f"is not {expected!r}"

    return check


def _hex(digits: int) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        fits = isinstance(value, str) and len(value) == digits and not value.strip("0123456789abcdef")
        return None if fits else f"is not {digits} hex digits"

    return check


def fields(members: Mapping[str, Member], *, others: bool = False) -> Callable[[object], str | None]:
    """Return the check of an object with these members; `others` lets unknown ones pass."""

    def check(value: object) -> str | None:
        if not isinstance(value, dict):
            return "is not an object"
        given = cast("dict[str, object]", value)
        for name, member in members.items():
            if name in given:
                wrong = member.check(given[name])
                if wrong is not None:
                    return f".{name} {wrong}" if wrong[0] not in ".[" else f".{name}{wrong}"
            elif not member.optional:
                return f".{name} is missing"
        unknown = None if others else next((name for name in given if name not in members), None)
        return None if unknown is None else f".{unknown[:80]!r} is not a known member"

    return check


def _counts(value: object) -> str | None:
    whole = isinstance(value, list) and all(_count(one) is None for one in cast("list[object]", value))
    return None if whole else "is not a list of whole numbers from 0"


def _format(value: object) -> str | None:
    return (
        None if type(value) is int and value == FORMAT else f"is not {FORMAT}, the format this version knows"
    )


_PART = fields({"type": Member(_filled)}, others=True)
_FUNCTION = fields({"name": Member(_string), "arguments": Member(_string)}, others=True)
_CUSTOM = fields({"name": Member(_string), "input": Member(_string)}, others=True)


def _tool_call(value: object) -> str | None:
    if not isinstance(value, dict):
        return "is not an object"
    entry = cast("dict[str, object]", value)
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in {"function", "custom"}:
        return ".type is neither 'function' nor 'custom'"
    wrong = _FUNCTION(entry.get("function")) if kind == "function" else _CUSTOM(entry.get("custom"))
    if wrong is not None:
        return f".{kind}{wrong}" if wrong[0] == "." else f".{kind} {wrong}"
    return None if isinstance(entry.get("id"), str) else ".id is not a string"


def _tool_calls(value: object) -> str | None:
    if not isinstance(value, list):
        return "is not a list"
    entries = cast("list[object]", value)
    if len(entries) > MAX_CALLS:
        return f"has more than {MAX_CALLS} calls"
    for position, entry in enumerate(entries):
        wrong = _tool_call(entry)
        if wrong is not None:
            return f"[{position}]{wrong}" if wrong[0] == "." else f"[{position}] {wrong}"
    return None


def _no_legacy_call(_value: object) -> str | None:
    return "is the legacy form of a call, which has no id; it is written as one of tool_calls"


_USER = fields({"role": Member(_exactly("user")), "content": Member(_content)}, others=True)
_NATIVE = fields({"wire": Member(_string), "value": Member(_objects), "before": Member(_counts)})
_ASSISTANT_MEMBERS = fields(
    {
        "role": Member(_exactly("assistant")),
        "content": Member(_content_or_null, optional=True),
        "tool_calls": Member(_tool_calls, optional=True),
        "function_call": Member(_no_legacy_call, optional=True),
        "deltafold": Member(_NATIVE, optional=True),
    },
    others=True,
)


def _assistant(value: object) -> str | None:
    """Check an assistant message; the form of another wire has a place for each call."""
    wrong = _ASSISTANT_MEMBERS(value)
    message = cast("dict[str, Any]", value)
    if wrong is None and "deltafold" in message:
        places, calls = message["deltafold"]["before"], message.get("tool_calls", [])
        wrong = None if len(places) == len(calls) else ".deltafold.before has not one place for each call"
    return wrong


_STREAM = fields(
    {
        "file": Member(_filled),
        "sha256": Member(_hex(64)),
        "bytes": Member(_count),
        "wire": Member(_string, optional=True),
        "policy": Member(_object, optional=True),
        "limits": Member(_object, optional=True),
        "malformed": Member(_string, optional=True),
    }
)
_SOURCE = fields({"kind": Member(_string), "call_id": Member(_string)})
_BACKUP = fields({"file": Member(_filled), "sha256": Member(_hex(64))})


def _backup_or_null(value: object) -> str | None:
    return None if value is None else _BACKUP(value)


SHAPES: Final[Mapping[str, Callable[[object], str | None]]] = {
    "session/start": fields(
        {
            "format": Member(_format),
            "session": Member(_filled),
            "writer": Member(_filled),
            "salt": Member(_hex(32)),
            "cwd": Member(_string, optional=True),
            "meta": Member(_object, optional=True),
        }
    ),
    "turn/start": fields({"turn": Member(_count)}),
    "turn/end": fields({"turn": Member(_count), "reason": Member(_filled)}),
    "user/message": fields({"message": Member(_USER)}),
    "assistant/message": fields(
        {
            "message": Member(_assistant),
            "finish_reason": Member(_string_or_null),
            "usage": Member(_object, optional=True),
            "stream": Member(_STREAM, optional=True),
            "quirks": Member(_objects, optional=True),
        }
    ),
    "tool/call": fields({"call_id": Member(_string), "name": Member(_string), "arguments": Member(_string)}),
    "tool/result": fields(
        {
            "call_id": Member(_string),
            "content": Member(_content),
            "is_error": Member(_boolean),
            "source": Member(_SOURCE),
            "error": Member(_filled, optional=True),
        }
    ),
    "session/close": fields({}),
    "session/repair": fields(
        {"tool": Member(_filled), "changes": Member(_objects), "backup": Member(_backup_or_null)}
    ),
}
"""The check of each known type's data."""


def complaint(kind: str, data: dict[str, Any]) -> str | None:
    """Say what is wrong with the data of a known type, or None."""
    wrong = SHAPES[kind](data)
    return None if wrong is None else f"data{wrong}"
