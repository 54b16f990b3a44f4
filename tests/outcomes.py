"""Running an engine over chunks, and what came of it in a form that two engines can be compared by."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tests.support import public

if TYPE_CHECKING:
    from collections.abc import Iterable

EVENT_MEMBERS = {
    "TextDelta": ("choice", "text"),
    "ReasoningDelta": ("choice", "text"),
    "RefusalDelta": ("choice", "text"),
    "ToolCallStart": ("choice", "call", "id", "name"),
    "ToolCallDelta": ("choice", "call", "arguments"),
    "ToolCallEnd": ("choice", "call", "tool_call"),
    "Finish": ("choice", "reason"),
    "Usage": ("usage",),
}
CALL_MEMBERS = (
    *("choice", "position", "index", "id", "name", "arguments", "kind", "id_source"),
    *("status", "executable", "extra", "item_id"),
)
CHOICE_MEMBERS = (
    *("index", "content", "reasoning", "refusal", "tool_calls", "finish_reason", "logprobs", "extra"),
)
COMPLETION_MEMBERS = (
    *("wire", "id", "model", "created", "choices", "usage", "end", "error", "quirks", "blocks", "extra"),
)
QUIRK_MEMBERS = ("kind", "count", "frame", "choice", "call")
ERROR_MEMBERS = ("kind", "frame", "offset")
PROVIDER_ERROR_MEMBERS = (*ERROR_MEMBERS, "message", "type", "code", "status")


@dataclass(frozen=True)
class Outcome:
    """All that one run gave: the events, the completion (or the error's partial), the error."""

    events: list[Any]
    completion: Any
    error: Any

    def plain(self) -> dict[str, Any]:
        """The outcome as plain values: equal for equal outcomes, of whatever engine and cut."""
        return {
            "events": [plain(event) for event in self.events],
            "completion": plain(self.completion),
            "error": plain(self.error),
        }


def plain(value: Any) -> Any:
    """A value of ours as plain lists and dicts that keep the type of each number: 1 is not 1.0 or `True`."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return (type(value).__name__, repr(value))
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return [type(value).__name__, {name: plain(getattr(value, name, None)) for name in members_of(value)}]


def members_of(value: Any) -> tuple[str, ...]:
    """The members that count in the equality of one of our objects."""
    name = type(value).__name__
    if name in EVENT_MEMBERS:
        return EVENT_MEMBERS[name]
    known = {"ToolCall": CALL_MEMBERS, "Choice": CHOICE_MEMBERS, "Completion": COMPLETION_MEMBERS}
    if name in known:
        return known[name]
    if name == "Quirk":
        return QUIRK_MEMBERS
    if isinstance(value, Exception):
        return PROVIDER_ERROR_MEMBERS if name == "ProviderError" else ERROR_MEMBERS
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    msg = f"not a value of ours: {value!r}"
    raise TypeError(msg)


def options_of(document: dict[str, Any]) -> dict[str, Any]:
    """The `options` of a vector as keyword arguments of an assembler."""
    package = public()
    options: dict[str, Any] = dict(document.get("options", {}))
    policy = options.get("policy")
    if policy is not None:
        options["policy"] = package.Policy.harness() if policy == "harness" else package.Policy(**policy)
    if "limits" in options:
        options["limits"] = package.Limits(**options["limits"])
    return options


def run(engine: Any, chunks: Iterable[bytes], **options: Any) -> Outcome:
    """Feeds the chunks to an assembler of the engine and ends it; events one by one (`coalesce=False`)."""
    options.setdefault("coalesce", False)
    assembler = engine.Assembler(**options)
    events: list[Any] = []
    try:
        for chunk in chunks:
            events += assembler.feed(chunk)
        events += assembler.finish()
        completion = assembler.close()
    except public().DeltafoldError as error:
        return Outcome(events, error.partial, error)
    return Outcome(events, completion, None)
