"""What a Completion of either engine can be turned into: a message, a dict, JSON (X6, E5)."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from deltafold._json import copied, is_object
from deltafold.errors import IncompleteStream, MalformedToolCall, ProviderError

_TOOL_CALL = (
    "choice",
    "position",
    "index",
    "id",
    "name",
    "arguments",
    "kind",
    "id_source",
    "status",
    "executable",
    "extra",
    "item_id",
    "blocks_before",
)
_CHOICE = (
    "index",
    "content",
    "reasoning",
    "refusal",
    "tool_calls",
    "finish_reason",
    "logprobs",
    "extra",
    "reasoning_member",
)
_QUIRK = ("kind", "count", "frame", "choice", "call", "detail")
_COMPLETION = (
    "wire",
    "id",
    "model",
    "created",
    "choices",
    "usage",
    "end",
    "error",
    "quirks",
    "blocks",
    "extra",
)


def check(completion: Any) -> None:  # noqa: ANN401
    """Raise the completion's error, or IncompleteStream when it did not come to its end (E5)."""
    if completion.error is not None:
        raise completion.error
    if completion.end in {"cut", "open"}:
        state = "was cut" if completion.end == "cut" else "is still open"
        raise IncompleteStream(
            f"the stream {state} before the response ended", kind="cut", partial=completion
        )


def to_dict(completion: Any) -> dict[str, Any]:  # noqa: ANN401
    """Give everything as plain values, freshly copied."""
    result = {name: getattr(completion, name) for name in _COMPLETION}
    result["choices"] = [_choice_dict(choice) for choice in completion.choices]
    result["error"] = _error_dict(completion.error)
    result["quirks"] = [_members(quirk, _QUIRK) for quirk in completion.quirks]
    result["blocks"] = [copied(block) for block in completion.blocks]
    result["usage"] = copied(completion.usage)
    result["extra"] = copied(completion.extra)
    return result


def to_json(completion: Any) -> bytes:  # noqa: ANN401
    """Give `to_dict()` as JSON in UTF-8; integers keep every digit."""
    import orjson  # noqa: PLC0415

    value = to_dict(completion)
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def to_message(completion: Any, choice: int = 0) -> dict[str, Any] | list[dict[str, Any]]:  # noqa: ANN401
    """Give the assistant message to send back (X6).

    Chat: the message. Anthropic: the message with its content blocks. Responses: the list of input items.
    MalformedToolCall(kind="missing-id") for a call without id; ValueError when there is no such choice. A
    response without any choice is an empty answer.
    """
    chosen = next((entry for entry in completion.choices if entry.index == choice), None)
    if chosen is None and (choice or completion.choices):
        raise ValueError(f"the response has no choice {choice}")
    for call in () if chosen is None else chosen.tool_calls:
        if not call.id and call.kind != "legacy-function":
            text = f"call {call.position} of choice {choice} has no id, it cannot be sent back"
            raise MalformedToolCall(text, kind="missing-id", partial=completion)
    if completion.wire == "anthropic-messages":
        return {
            "role": "assistant",
            "content": [copied(block) for block in completion.blocks if _says(block)],
        }
    if completion.wire == "openai-responses":
        return _input_items(completion, chosen)
    return {"role": "assistant", "content": ""} if chosen is None else _chat_message(chosen)


def _says(block: Any) -> bool:  # noqa: ANN401
    """Whether a content block may be sent back: an empty text is refused by the provider."""
    return block.get("type") != "text" or bool(block.get("text"))


def _chat_message(choice: Any) -> dict[str, Any]:  # noqa: ANN401
    calls = [call for call in choice.tool_calls if call.kind != "legacy-function"]
    legacy = next((call for call in choice.tool_calls if call.kind == "legacy-function"), None)
    content = choice.content
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if content is None and not choice.tool_calls:
        message["content"] = ""
    if choice.reasoning is not None and choice.reasoning_member == "content":
        message["content"] = _content_parts(choice.reasoning, content)
    elif choice.reasoning is not None and choice.reasoning_member is not None:
        message[choice.reasoning_member] = choice.reasoning
    if "reasoning_details" in choice.extra:
        message["reasoning_details"] = copied(choice.extra["reasoning_details"])
    if choice.refusal is not None:
        message["refusal"] = choice.refusal
    audio = choice.extra.get("audio")
    if is_object(audio) and isinstance(audio.get("id"), str):
        message["audio"] = {"id": audio["id"]}
    if calls:
        message["tool_calls"] = [_chat_call(call) for call in calls]
    if legacy is not None:
        message["function_call"] = {"name": legacy.name, "arguments": legacy.arguments}
    return message


def _content_parts(reasoning: str, content: str | None) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "thinking", "thinking": [{"type": "text", "text": reasoning}]}]
    if content is not None:
        parts.append({"type": "text", "text": content})
    return parts


def _chat_call(call: Any) -> dict[str, Any]:  # noqa: ANN401
    if call.kind == "custom":
        body = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    else:
        body = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, **body, **copied(call.extra)}


def _input_items(completion: Any, choice: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give blocks and calls in their order on the wire."""
    items: list[dict[str, Any]] = []
    calls = deque(() if choice is None else choice.tool_calls)
    for place, block in enumerate(completion.blocks):
        while calls and calls[0].blocks_before <= place:
            items.append(_call_item(calls.popleft()))
        items.append(copied(block))
    return items + [_call_item(call) for call in calls]


def _call_item(call: Any) -> dict[str, Any]:  # noqa: ANN401
    if call.kind == "custom":
        item = {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments}
    else:
        item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
    if call.item_id:
        item["id"] = call.item_id
    return {**item, **copied(call.extra)}


def _choice_dict(choice: Any) -> dict[str, Any]:  # noqa: ANN401
    result = _members(choice, _CHOICE)
    result["tool_calls"] = [_members(call, _TOOL_CALL) for call in choice.tool_calls]
    return result


def _error_dict(error: Any) -> dict[str, Any] | None:  # noqa: ANN401
    if error is None:
        return None
    result = {"class": type(error).__name__, **_members(error, ("kind", "message", "frame", "offset"))}
    if isinstance(error, ProviderError):
        result |= _members(error, ("type", "code", "status"))
    return result


def _members(value: Any, names: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
    return {name: copied(getattr(value, name)) for name in names}
