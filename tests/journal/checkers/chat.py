"""The rules of the chat wire's `messages`, as the strictest of its servers have them."""

from __future__ import annotations

from typing import Any

from tests.journal.checkers import require, strict_object

PART_TYPES = {"text", "image_url", "input_audio", "file", "refusal", "thinking"}
ASSISTANT_MEMBERS = {
    "role",
    "content",
    "tool_calls",
    "refusal",
    "audio",
    "reasoning",
    "reasoning_content",
    "reasoning_text",
    "reasoning_details",
}


def check(messages: list[dict[str, Any]]) -> None:
    """Raise `Rejected` for a history that a chat provider refuses."""
    require(messages, "there is no message")
    waiting: list[str] = []
    for position, message in enumerate(messages):
        where = f"messages[{position}]"
        role = message.get("role")
        require(role in {"system", "developer", "user", "assistant", "tool"}, f"{where}: role {role!r}")
        if role == "tool":
            waiting = _result(message, waiting, where)
            continue
        require(not waiting, f"{where}: calls {waiting} of the assistant message before it have no result")
        if role == "assistant":
            waiting = _assistant(message, where)
        else:
            require(set(message) <= {"role", "content", "name"}, f"{where}: members {sorted(message)}")
            _content(message.get("content"), where)
    require(not waiting, f"the history ends with calls {waiting} that have no result")


def _result(message: dict[str, Any], waiting: list[str], where: str) -> list[str]:
    require(set(message) == {"role", "content", "tool_call_id"}, f"{where}: members {sorted(message)}")
    call_id = message["tool_call_id"]
    require(call_id in waiting, f"{where}: no call {call_id!r} of the last assistant message is open")
    _content(message["content"], where)
    return [waited for waited in waiting if waited != call_id]


def _assistant(message: dict[str, Any], where: str) -> list[str]:
    require(set(message) <= ASSISTANT_MEMBERS, f"{where}: members {sorted(set(message) - ASSISTANT_MEMBERS)}")
    calls = message.get("tool_calls")
    if "tool_calls" in message:
        require(isinstance(calls, list) and calls, f"{where}: tool_calls is empty")
    require(message.get("content") is not None or calls, f"{where}: neither content nor calls")
    if message.get("content") is not None:
        _content(message["content"], where)
    ids = [_call(call, f"{where}.tool_calls[{number}]") for number, call in enumerate(calls or [])]
    require(len(ids) == len(set(ids)), f"{where}: ids repeat: {ids}")
    return ids


def _call(call: dict[str, Any], where: str) -> str:
    require(isinstance(call.get("id"), str) and call["id"], f"{where}: the id is {call.get('id')!r}")
    kind = call.get("type")
    require(kind in {"function", "custom"}, f"{where}: type {kind!r}")
    body = call.get(kind)
    require(isinstance(body, dict), f"{where}: no {kind}")
    require(isinstance(body.get("name"), str) and body["name"], f"{where}: the name is {body.get('name')!r}")
    if kind == "function":
        strict_object(body.get("arguments"), where)
    else:
        require(isinstance(body.get("input"), str), f"{where}: the input is no string")
    return str(call["id"])


def _content(content: Any, where: str) -> None:
    if isinstance(content, str):
        content.encode("utf-8")
        return
    require(isinstance(content, list) and content, f"{where}: content is {content!r}")
    for part in content:
        require(isinstance(part, dict) and part.get("type") in PART_TYPES, f"{where}: part {part!r}")
