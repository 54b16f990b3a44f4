"""Every event, item, block and reason that the two vendors' newest packages document has a vector."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any, get_args, get_origin

import pytest

import deltafold
from tests.adapters.peers import peer, theirs
from tests.support import VECTORS

responses = peer("openai.types.responses")
messages = peer("anthropic.types")
beta = peer("anthropic.types.beta")
pydantic = peer("pydantic")

pytestmark = theirs

DOCUMENTED = {
    "events of responses": ("openai-responses", responses.ResponseStreamEvent),
    "items of responses": ("openai-responses", responses.ResponseOutputItem),
    "events of messages": ("anthropic-messages", messages.RawMessageStreamEvent),
    "deltas of messages": ("anthropic-messages", messages.RawContentBlockDelta),
    "blocks of messages": ("anthropic-messages", messages.ContentBlock),
    "events of the beta": ("anthropic-messages", beta.BetaRawMessageStreamEvent),
    "deltas of the beta": ("anthropic-messages", beta.BetaRawContentBlockDelta),
    "blocks of the beta": ("anthropic-messages", beta.BetaContentBlock),
}
NEW = (
    *("audio", "background-queued-and-cut", "code-interpreter", "further-items"),
    *("image-generation", "mcp", "reasoning-with-all-its-events", "refusal-with-all-its-events"),
    *("searches", "shell"),
)
"""Vectors made by the documented types to the letter; others break them on purpose."""


def models(union: Any) -> list[Any]:
    """The classes of a union, of unions within it too."""
    found: list[Any] = []
    for member in get_args(union):
        if isinstance(member, type) and issubclass(member, pydantic.BaseModel):
            found.append(member)
        elif get_origin(member) is not None:
            found += models(member)
    return found


def documented(union: Any) -> set[str]:
    return {kind for model in models(union) for kind in get_args(model.model_fields["type"].annotation)}


def payloads(wire: str, name: str = "*") -> list[Any]:
    found: list[Any] = []
    for path in sorted((VECTORS / wire).glob(f"{name}.sse")):
        for event in deltafold.SSEDecoder().feed(path.read_bytes()):
            try:
                found.append(json.loads(event.data))
            except ValueError:
                continue
    return found


@cache
def said(wire: str, member: str) -> frozenset[str]:
    """Every string that a member of that name has anywhere in a wire's vectors."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            given = value.get(member)
            if isinstance(given, str):
                found.add(given)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            look(inner)

    for payload in payloads(wire):
        look(payload)
    return frozenset(found)


@pytest.mark.parametrize("what", DOCUMENTED)
def test_every_documented_type_has_a_vector(what: str) -> None:
    wire, union = DOCUMENTED[what]
    types = documented(union)
    assert len(types) >= 5
    assert types - said(wire, "type") == set()


def test_every_documented_reason_has_a_vector() -> None:
    stops = {*get_args(messages.StopReason), *get_args(beta.BetaStopReason)}
    assert stops - said("anthropic-messages", "stop_reason") == set()
    incomplete = peer("openai.types.responses.response").IncompleteDetails.model_fields["reason"].annotation
    reasons = {reason for kind in get_args(incomplete) for reason in get_args(kind)}
    assert {"max_output_tokens", "content_filter"} <= reasons
    assert reasons - said("openai-responses", "reason") == set()


@pytest.mark.parametrize("name", NEW)
def test_a_vector_of_documented_events_is_what_the_vendor_types(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adapter = pydantic.TypeAdapter(responses.ResponseStreamEvent)
    wrong: list[str] = []
    for payload in payloads("openai-responses", name):
        if "response" in payload:  # its many required members are not what these vectors are about
            continue
        try:
            adapter.validate_python(payload)
        except pydantic.ValidationError as error:
            wrong.append(f"{payload['type']}: {str(error)[:400]}")
    assert not wrong, "\n".join(wrong)
