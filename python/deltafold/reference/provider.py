"""What providers say when they fail (E6), and what a body is that is no event stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold._json import is_object
from deltafold.errors import ProviderError, WireError
from deltafold.reference import json
from deltafold.reference.text import clean

if TYPE_CHECKING:
    from deltafold.errors import DeltafoldError

BODY_KEPT = 64 * 1024
"""Bytes of a body that are kept to say what it is."""

_SPACE = " \t\r\n"


def is_error(value: Any) -> bool:  # noqa: ANN401
    """Whether an `error` member says that something failed: a non-empty object or string."""
    return (isinstance(value, str) or is_object(value)) and bool(value)


def provider_error(value: Any, source: str, frame: int | None, offset: int | None) -> ProviderError:  # noqa: ANN401
    """Make the error from what was sent: a string, or an object whose source text is given."""
    if not is_object(value):
        return ProviderError(clean(str(value))[0], frame=frame, offset=offset)
    message = next(
        (value[name] for name in ("message", "detail") if isinstance(value.get(name), str)), source
    )
    numbers = (value.get(name) for name in ("status_code", "status", "code"))
    kind, code = value.get("type"), value.get("code")
    return ProviderError(
        clean(message)[0],
        frame=frame,
        offset=offset,
        type=clean(kind)[0] if isinstance(kind, str) else None,
        code=clean(code)[0] if isinstance(code, str) else code if _is_integer(code) else None,
        status=next((number for number in numbers if _is_integer(number)), None),
    )


def payload_error(document: json.Document, frame: int | None, offset: int | None) -> ProviderError:
    """Make the error of a payload: of its `error` member where that says something, else of itself."""
    payload = document.value
    error = payload.get("error")
    if is_error(error):
        source = document.source(payload, "error") if is_object(error) else ""
        return provider_error(error, source, frame, offset)
    return provider_error(payload, json.compact(document.text.strip(_SPACE)), frame, offset)


def body_error(kept: bytes, length: int, depth: int, *, is_text: bool) -> DeltafoldError:
    """Say what a body is that is no event stream; `kept` are its first bytes, `length` counts them all."""
    text = kept.decode("utf-8-sig", errors="replace").strip(_SPACE)
    document = _whole_json(text, depth) if length <= BODY_KEPT else None
    if document is not None and is_object(document.value):
        value = document.value
        if is_error(value.get("error")) or any(
            isinstance(value.get(name), str) for name in ("message", "detail")
        ):
            return payload_error(document, None, 0)
    looks = _looks_like(text, is_text=is_text, is_json=document is not None)
    return WireError(
        f"the body is no event stream, it looks like {looks}",
        kind="not-an-event-stream",
        frame=None,
        offset=0,
    )


def _is_integer(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int) and not isinstance(value, bool)


def _whole_json(text: str, depth: int) -> json.Document | None:
    try:
        return json.parse(text, depth, frozenset({"error"}))
    except (json.MalformedJsonError, json.TooDeepError):
        return None


def _looks_like(text: str, *, is_text: bool, is_json: bool) -> str:
    if is_json:
        return "JSON"
    if not is_text:
        return "binary data"
    if text[:1] == "<":
        return "HTML or XML"
    if text[:1] in {"{", "["}:
        return "NDJSON (one JSON value a line)" if "\n" in text or "\r" in text else "JSON"
    return "plain text"


_OTHER_WIRES = (
    ("candidates", "Gemini's own wire"),
    ("promptFeedback", "Gemini's own wire"),
    ("output", "DashScope's own wire"),
    ("event_type", "Cohere's own wire"),
    ("done", "Ollama's own wire"),
    ("jsonrpc", "JSON-RPC"),
)


def foreign_wire(payload: dict[str, Any], event: str) -> str:
    """Say in a word what a payload of no known wire looks like (W1)."""
    kind = payload.get("type")
    name = kind if isinstance(kind, str) else event
    if name.startswith("thread."):
        return "the Assistants API"
    if name.startswith(("message-", "content-", "tool-")):
        return "Cohere's own wire"
    for member, word in _OTHER_WIRES:
        if member in payload:
            return word
    return "none that is known here"
