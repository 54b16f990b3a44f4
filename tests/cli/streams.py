"""Small chat streams for the command to fold."""

from __future__ import annotations

import json
from typing import Any

DONE = b"data: [DONE]\n\n"


def frame(payload: Any) -> bytes:
    """A frame with this JSON payload."""
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def delta(content: dict[str, Any], finish_reason: str | None = None, **members: Any) -> bytes:
    """A chunk with one choice."""
    choice = {"index": 0, "delta": content, "finish_reason": finish_reason}
    return frame({"id": "chatcmpl-1", "model": "any-model", "choices": [choice], **members})


def call(arguments: str, *, id: str | None = "call_1", name: str | None = "look_up") -> dict[str, Any]:  # noqa: A002
    """A delta with one tool entry."""
    return {"tool_calls": [{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]}


WHOLE = delta(call('{"q":')) + delta(call(' "tea"}', id="", name=None)) + delta({}, "tool_calls") + DONE
CUT = delta(call('{"q": "te'))
LENGTH = delta(call('{"q": "tea"}')) + delta({}, "length") + DONE
FAILED = delta(call('{"q": "tea"}')) + frame({"error": {"message": "overloaded", "code": 529}})
HTML = b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
