"""What comes out can be sent back (X6): checked with the vendors' own typed models, over every recording."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import pytest

import deltafold
from tests.adapters.peers import peer, theirs
from tests.support import SHARED, VECTORS, needs_shared

if TYPE_CHECKING:
    from pathlib import Path

pydantic = peer("pydantic")

pytestmark = theirs

WIRES = ("openai-chat", "anthropic-messages", "openai-responses")
FURTHER = {
    "openai-chat": ("reasoning_content", "reasoning", "reasoning_text", "reasoning_details"),
    "anthropic-messages": (),
    "openai-responses": (),
}
"""Members of a message that are a gateway's own and that the vendor's model does not have."""


@cache
def adapter_of(wire: str) -> Any:
    """The vendor's type of what is sent back, strict about what its members may be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if wire == "openai-chat":
            module = peer("openai.types.chat")
            return pydantic.TypeAdapter(module.ChatCompletionAssistantMessageParam)
        if wire == "anthropic-messages":
            return pydantic.TypeAdapter(peer("anthropic.types.beta").BetaMessageParam)
        return pydantic.TypeAdapter(list[peer("openai.types.responses").ResponseInputItemParam])


def whole(body: bytes, wire: str) -> Any:
    """The response, or None where it cannot be sent back: it failed, or has nothing in it."""
    try:
        completion = deltafold.assemble(body, wire=wire)
    except deltafold.DeltafoldError:
        return None
    return completion if completion.choices and completion.choices[0].index == 0 else None


def recordings(wire: str) -> list[Path]:
    return sorted((SHARED / "captures" / wire).glob("*"))


def vendors_own(message: Any, wire: str) -> Any:
    """The message without what only a gateway takes: members of its own, and Mistral's thinking parts."""
    if not isinstance(message, dict):
        return message
    kept = {name: value for name, value in message.items() if name not in FURTHER[wire]}
    if wire == "openai-chat" and isinstance(kept["content"], list):
        kept["content"] = [part for part in kept["content"] if part["type"] != "thinking"]
    return kept


def consumed(value: Any) -> Any:
    """A validated value with what pydantic left lazy read, so that it is validated too."""
    if isinstance(value, dict):
        return {name: consumed(member) for name, member in value.items()}
    if isinstance(value, str | bytes | int | float | bool | None):
        return value
    return [consumed(member) for member in value]


@needs_shared
@pytest.mark.parametrize("wire", WIRES)
def test_every_recording_goes_back_as_the_vendor_types_it(wire: str) -> None:
    adapter = adapter_of(wire)
    sent, failed = 0, []
    for path in recordings(wire):
        completion = whole(path.read_bytes(), wire)
        if completion is None or completion.end == "cut":
            continue
        message = completion.to_message()
        try:
            consumed(adapter.validate_python(vendors_own(message, wire)))
            sent += 1
        except pydantic.ValidationError as error:
            failed.append(f"{path.name}: {error.error_count()} {str(error)[:300]}")
    assert not failed, "\n".join(failed)
    assert sent > len(recordings(wire)) // 2


@needs_shared
@pytest.mark.parametrize("wire", WIRES)
def test_every_recording_comes_back_as_it_went(wire: str) -> None:
    """A stream that says what `to_message()` gave folds to the same message; its calls are the calls."""
    again = 0
    for path in recordings(wire):
        completion = whole(path.read_bytes(), wire)
        if completion is None or completion.end == "cut":
            continue
        message = completion.to_message()
        assert sent_calls(message) == [
            (call.id, call.name, as_sent(call, wire)) for call in completion.tool_calls
        ], path.name
        assert deltafold.assemble(said_again(message, wire), wire=wire).to_message() == message, path.name
        again += 1
    assert again > len(recordings(wire)) // 2


def said_again(message: Any, wire: str) -> bytes:
    """A stream that says a message whole."""
    if wire == "openai-chat":
        delta = {name: value for name, value in message.items() if name != "role"}
        calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls", ()))]
        said = delta | {"tool_calls": calls} if calls else delta
        return stream_of([{"choices": [{"index": 0, "delta": said, "finish_reason": "stop"}]}])
    if wire == "openai-responses":
        events: list[Any] = []
        for index, item in enumerate(message):
            events += [
                {"type": f"response.output_item.{verb}", "output_index": index, "item": item}
                for verb in ("added", "done")
            ]
        return stream_of([*events, {"type": "response.completed", "response": {"output": message}}])
    events = [{"type": "message_start", "message": {}}]
    for index, block in enumerate(message["content"]):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    return stream_of([*events, {"type": "message_stop"}])


def stream_of(payloads: list[Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(payload).encode() for payload in payloads)


def as_sent(call: Any, wire: str) -> Any:
    """The arguments, which Anthropic's wire takes as an object."""
    return call.parse() if wire == "anthropic-messages" and call.status == "complete" else call.arguments


def sent_calls(message: Any) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls in a message or list of items, in order."""
    items = (
        message if isinstance(message, list) else message.get("tool_calls") or message.get("content") or []
    )
    found: list[tuple[str, str, Any]] = []
    for item in items if isinstance(items, list) else []:
        kind = item.get("type")
        if kind == "function" and "id" in item:
            found.append((item["id"], item["function"]["name"], item["function"]["arguments"]))
        elif kind == "function_call":
            found.append((item["call_id"], item["name"], item["arguments"]))
        elif kind == "custom_tool_call":
            found.append((item["call_id"], item["name"], item["input"]))
        elif kind == "custom" and "id" in item:
            found.append((item["id"], item["custom"]["name"], item["custom"]["input"]))
        elif kind == "tool_use":
            found.append((item["id"], item["name"], item["input"]))
    return found


@pytest.mark.parametrize("wire", WIRES)
def test_every_whole_vector_goes_back_without_an_empty_id(wire: str) -> None:
    """Vectors break types on purpose; what holds for all of them is X6."""
    seen = 0
    for path in sorted((VECTORS / wire).glob("*.sse")):
        completion = whole(path.read_bytes(), wire)
        if completion is None:
            continue
        message = completion.to_message()
        assert all(identity for identity, _, _ in sent_calls(message)), path.name
        if isinstance(message, dict) and wire == "openai-chat":
            assert message.get("tool_calls") != [], path.name
            assert message["content"] is not None or "tool_calls" in message or "function_call" in message
        seen += 1
    assert seen


def test_the_vendors_types_are_unions_of_many_kinds() -> None:
    """What the recordings are checked against tells one kind of item from another."""
    assert len(get_args(peer("openai.types.responses").ResponseInputItemParam)) > 10
