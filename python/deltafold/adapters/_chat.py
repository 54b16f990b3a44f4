"""A folded chat response in the shape of a whole, unstreamed one: what several libraries build on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold._json import copied

if TYPE_CHECKING:
    from deltafold import Choice, Completion, ToolCall


def chat_completion_of(completion: Completion) -> dict[str, Any]:
    """Give the members of a `chat.completion`: everything that came, raw (E1), nothing repaired."""
    return {
        "id": completion.id or "",
        "object": "chat.completion",
        "created": completion.created or 0,
        "model": completion.model or "",
        "choices": [_choice(choice) for choice in completion.choices],
        "usage": copied(completion.usage),
        **copied(completion.extra),
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "index": choice.index,
        "finish_reason": choice.finish_reason,
        "logprobs": copied(choice.logprobs),
        "message": message_of(choice),
    }


def message_of(choice: Choice) -> dict[str, Any]:
    """Give the message of a choice as it would have come unstreamed."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": choice.content,
        "refusal": choice.refusal,
        **copied(choice.extra),
    }
    if choice.reasoning is not None and choice.reasoning_member not in {None, "content"}:
        message[str(choice.reasoning_member)] = choice.reasoning
    calls = [_call(call) for call in choice.tool_calls if call.kind != "legacy-function"]
    if calls:
        message["tool_calls"] = calls
    for call in choice.tool_calls:
        if call.kind == "legacy-function":
            message["function_call"] = {"name": call.name, "arguments": call.arguments}
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    if call.kind == "custom":
        body: dict[str, Any] = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    else:
        body = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, **body, **copied(call.extra)}
