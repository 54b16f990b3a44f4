"""The rules of the Responses wire's `input`."""

from __future__ import annotations

import re
from typing import Any

from tests.journal.checkers import require, strict_object

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_ID = 64
OUTPUT_OF = {
    name: f"{name}_output"
    for name in (
        "function_call",
        "custom_tool_call",
        "apply_patch_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
    )
}
HOSTED = {
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_call",
    "mcp_approval_request",
    "mcp_approval_response",
    "additional_tools",
    "program",
    "program_output",
    "tool_search_call",
    "tool_search_output",
    "compaction",
}


def check(items: list[dict[str, Any]]) -> None:
    """Raise `Rejected` for an input that the Responses wire refuses."""
    require(items, "there is no item")
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for position, item in enumerate(items):
        where = f"input[{position}]"
        kind = item.get("type")
        if kind == "message":
            _message(item, where)
        elif kind in OUTPUT_OF:
            _call(item, where)
            require(item["call_id"] not in calls, f"{where}: call_id {item['call_id']!r} came before")
            calls[item["call_id"]] = kind
        elif kind in OUTPUT_OF.values():
            # A local shell call's output has its id; the others name their call.
            call_id = item.get("id" if kind == "local_shell_call_output" else "call_id", "")
            call = calls.get(call_id)
            require(call is not None, f"{where}: no call {call_id!r} stands before it")
            require(OUTPUT_OF[str(call)] == kind, f"{where}: an output of the wrong kind")
            require(call_id not in answered, f"{where}: a second output")
            of = dict if kind == "computer_call_output" else (str, list)
            require(isinstance(item.get("output"), of), f"{where}: output {item.get('output')!r}")
            answered.add(call_id)
        elif kind == "reasoning":
            following = items[position + 1].get("type") if position + 1 < len(items) else None
            ours = following in {"reasoning", *OUTPUT_OF, *HOSTED} or (
                following == "message" and items[position + 1].get("role") == "assistant"
            )
            require(ours, f"{where}: a reasoning item without the item that it led to")
        else:
            require(kind in HOSTED, f"{where}: type {kind!r}")
    require(answered == set(calls), f"calls without output: {sorted(set(calls) - answered)}")


def _message(item: dict[str, Any], where: str) -> None:
    role = item.get("role")
    require(role in {"user", "system", "developer", "assistant"}, f"{where}: role {role!r}")
    wanted = (
        {"output_text", "refusal"} if role == "assistant" else {"input_text", "input_image", "input_file"}
    )
    require(isinstance(item.get("content"), list) and item["content"], f"{where}: no content")
    for part in item["content"]:
        require(part.get("type") in wanted, f"{where}: part {part!r}")


def _call(item: dict[str, Any], where: str) -> None:
    require(isinstance(item.get("call_id"), str) and 0 < len(item["call_id"]) <= MAX_ID, f"{where}: call_id")
    if item["type"] not in {"function_call", "custom_tool_call"}:
        return
    require(isinstance(item.get("name"), str) and NAME.fullmatch(item["name"]), f"{where}: name")
    if item["type"] == "function_call":
        strict_object(item.get("arguments"), where)
    else:
        require(isinstance(item.get("input"), str), f"{where}: input")
