"""Vectors: cases that are data files, and the comparison of an outcome with what a vector expects.

`tests/vectors/README.md` says what each member means; the Rust tests read the same files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.outcomes import EVENT_MEMBERS, Outcome, options_of
from tests.support import VECTORS, files, public

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BY_CHOICE = ("content", "reasoning", "refusal", "finish_reason", "extra", "logprobs")
"""Members of `expect` that hold a value a choice, by its index as a string."""


@dataclass(frozen=True)
class Vector:
    """One case: the bytes of a stream, how to fold it, what must come of it."""

    name: str
    body: bytes
    rules: tuple[str, ...]
    document: dict[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the assembler."""
        return options_of(self.document)

    @property
    def expect(self) -> dict[str, Any]:
        """What must come of it."""
        return self.document["expect"]


def read(path: Path) -> Vector:
    """The vector of a `.json` file and the `.sse` file beside it."""
    document = json.loads(path.read_bytes())
    name = f"{path.parent.name}/{path.stem}"
    return Vector(name, path.with_suffix(".sse").read_bytes(), tuple(document["rules"]), document)


def body_of(parts: list[dict[str, Any]]) -> bytes:
    """The input of a case that is too large for a file: texts, each repeated."""
    return b"".join(part["text"].encode() * part.get("times", 1) for part in parts)


@cache
def vectors() -> dict[str, Vector]:
    """All vectors that are files, by name."""
    found = [read(path) for path in files(VECTORS, "*/*.json")]
    return {vector.name: vector for vector in found}


@cache
def huge_vectors() -> dict[str, Vector]:
    """The vectors of `huge.json`, whose input is spelt out as repeated parts."""
    found = [
        Vector(f"huge/{document['name']}", body_of(document["parts"]), tuple(document["rules"]), document)
        for document in json.loads((VECTORS / "huge.json").read_bytes())
    ]
    return {vector.name: vector for vector in found}


def calls_of(completion: Any) -> list[Any]:
    """The calls of all choices, in order of choice and position."""
    return [call for choice in completion.choices for call in choice.tool_calls]


def choice_of(completion: Any, index: str) -> Any:
    """The choice with that index; the test fails where there is none."""
    found = [choice for choice in completion.choices if choice.index == int(index)]
    assert len(found) == 1, f"{len(found)} choices with index {index}"
    return found[0]


def check(outcome: Outcome, expect: dict[str, Any]) -> None:
    """Asserts that the outcome has everything that `expect` names."""
    has_error = bool(expect.get("error") or expect.get("error_kind"))
    assert (outcome.error is not None) == has_error, f"error: {outcome.error!r}"
    assert outcome.completion is not None
    for member, wanted in expect.items():
        if member in BY_CHOICE:
            found = {index: getattr(choice_of(outcome.completion, index), member) for index in wanted}
            assert found == wanted, member
        else:
            CHECKS[member](outcome, wanted)


def check_calls(outcome: Outcome, wanted: list[dict[str, Any]]) -> None:
    found = calls_of(outcome.completion)
    assert [(call.choice, call.name) for call in found] == [(call["choice"], call["name"]) for call in wanted]
    for call, members in zip(found, wanted, strict=True):
        assert {name: member_of_call(call, name) for name in members} == members


def member_of_call(call: Any, name: str) -> Any:
    """A member as vectors name it: `parsed` and `recovered` are what the methods give, as JSON values."""
    if name == "parsed":
        return call.parse()
    if name == "recovered":
        text = call.recovered()
        return None if text is None else json.loads(text)
    return getattr(call, name)


def check_quirks(outcome: Outcome, wanted: list[str]) -> None:
    found = [quirk.kind for quirk in outcome.completion.quirks]
    assert len(found) == len(set(found)), "a kind is reported once (Q1)"
    assert set(found) == set(wanted)


def check_quirk_reports(outcome: Outcome, wanted: list[dict[str, Any]]) -> None:
    found = {quirk.kind: quirk for quirk in outcome.completion.quirks}
    for report in wanted:
        quirk = found[report["kind"]]
        assert {name: getattr(quirk, name) for name in report} == report
    order = [kind for kind in found if any(report["kind"] == kind for report in wanted)]
    assert order == [report["kind"] for report in wanted], "the order of the reports (Q1)"


def check_error(outcome: Outcome, wanted: dict[str, Any] | None) -> None:
    if wanted is None:
        assert outcome.error is None
        assert outcome.completion.error is None
    else:
        assert {name: getattr(outcome.error, name) for name in wanted} == wanted


def check_error_kind(outcome: Outcome, wanted: str) -> None:
    assert type(outcome.error).__name__ == wanted
    assert type(outcome.completion.error).__name__ == wanted
    assert outcome.completion.error.kind == outcome.error.kind


def check_error_at(outcome: Outcome, wanted: dict[str, Any]) -> None:
    assert {name: getattr(outcome.error, name) for name in wanted} == wanted


def check_error_says(outcome: Outcome, wanted: str) -> None:
    assert wanted.lower() in str(outcome.error).lower()


def event_as_list(event: Any, wanted: list[Any]) -> list[Any]:
    """The event in the form of vectors; of a finished call only the members that the vector names."""
    name = type(event).__name__
    members = [getattr(event, member) for member in EVENT_MEMBERS[name]]
    if name == "ToolCallEnd" and wanted[0] == name:
        members[2] = {member: getattr(members[2], member) for member in wanted[3]}
    return [name, *members]


def check_events(outcome: Outcome, wanted: list[list[Any]]) -> None:
    assert [type(event).__name__ for event in outcome.events] == [event[0] for event in wanted]
    found = [event_as_list(event, form) for event, form in zip(outcome.events, wanted, strict=True)]
    assert found == wanted


def check_message(outcome: Outcome, wanted: Any) -> None:
    assert outcome.completion.to_message() == wanted


def check_message_has(outcome: Outcome, wanted: dict[str, Any]) -> None:
    message = outcome.completion.to_message()
    assert {name: message[name] for name in wanted} == wanted


def check_message_error(outcome: Outcome, wanted: str) -> None:
    with pytest.raises(public().MalformedToolCall) as raised:
        outcome.completion.to_message()
    assert raised.value.kind == wanted


def check_completion(outcome: Outcome, wanted: dict[str, Any]) -> None:
    found = {name: getattr(outcome.completion, name) for name in wanted}
    assert {name: list(x) if isinstance(x, tuple) else x for name, x in found.items()} == wanted


def check_counts(outcome: Outcome, wanted: dict[str, int]) -> None:
    completion = outcome.completion
    found = {
        "calls": len(calls_of(completion)),
        "choices": len(completion.choices),
        "content": sum(len(choice.content or "") for choice in completion.choices),
        "arguments": sum(len(call.arguments) for call in calls_of(completion)),
    }
    assert {name: found[name] for name in wanted} == wanted


CHECKS: dict[str, Callable[[Outcome, Any], None]] = {
    "calls": check_calls,
    "choices": lambda outcome, wanted: check_values([c.index for c in outcome.completion.choices], wanted),
    "completion": check_completion,
    "counts": check_counts,
    "end": lambda outcome, wanted: check_values(outcome.completion.end, wanted),
    "error": check_error,
    "error_at": check_error_at,
    "error_frame": lambda outcome, wanted: check_values(outcome.error.frame, wanted),
    "error_kind": check_error_kind,
    "error_says": check_error_says,
    "events": check_events,
    "message": check_message,
    "message_error": check_message_error,
    "message_has": check_message_has,
    "quirk_reports": check_quirk_reports,
    "quirks": check_quirks,
    "usage": lambda outcome, wanted: check_values(outcome.completion.usage, wanted),
    "skip": lambda _outcome, _wanted: None,
}
"""How each member of `expect` is checked; `skip` is a second run, which the tests make."""


def check_values(found: Any, wanted: Any) -> None:
    assert found == wanted
