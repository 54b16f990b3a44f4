"""The rules of the Anthropic wire's `messages`."""

from __future__ import annotations

import re
from typing import Any

from tests.journal.checkers import require

ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
USER_BLOCKS = {"text", "image", "document", "tool_result", "search_result"}
ASSISTANT_BLOCKS = re.compile(
    "text|thinking|redacted_thinking|tool_use|server_tool_use|mcp_tool_use|mcp_tool_listing|compaction|fallback|container_upload|.*_tool_result"
)


def check(messages: list[dict[str, Any]]) -> None:
    """Raise `Rejected` for a history that Anthropic refuses."""
    require(messages, "there is no message")
    require(messages[0]["role"] == "user", "the first message is the user's")
    seen: set[str] = set()
    waiting: list[str] = []
    for position, message in enumerate(messages):
        where = f"messages[{position}]"
        require(set(message) == {"role", "content"}, f"{where}: members {sorted(message)}")
        require(message["role"] == ("user", "assistant")[position % 2], f"{where}: roles alternate")
        blocks = message["content"]
        require(isinstance(blocks, list) and blocks, f"{where}: content is {blocks!r}")
        if message["role"] == "user":
            _user(blocks, waiting, where)
            waiting = []
        else:
            waiting = _assistant(blocks, seen, where)
    require(not waiting, f"the history ends with tool_use {waiting} without tool_result")


def _user(blocks: list[dict[str, Any]], waiting: list[str], where: str) -> None:
    answered: list[str] = []
    others = False
    for block in blocks:
        require(block.get("type") in USER_BLOCKS, f"{where}: block {block!r}")
        if block["type"] == "tool_result":
            require(not others, f"{where}: tool_result blocks stand first")
            answered.append(block["tool_use_id"])
            for inner in block.get("content", []):
                _text(inner, where)
            require(block.get("content") or not block.get("is_error"), f"{where}: an error says something")
        else:
            others = True
            _text(block, where)
    require(sorted(answered) == sorted(waiting), f"{where}: results {answered} for calls {waiting}")


def _assistant(blocks: list[dict[str, Any]], seen: set[str], where: str) -> list[str]:
    waiting: list[str] = []
    for block in blocks:
        require(ASSISTANT_BLOCKS.fullmatch(str(block.get("type"))), f"{where}: block {block!r}")
        _text(block, where)
        if block["type"] == "thinking":
            require(
                isinstance(block.get("signature"), str) and block["signature"], f"{where}: unsigned thinking"
            )
        if block["type"] == "tool_use":
            require(set(block) == {"type", "id", "name", "input"}, f"{where}: members {sorted(block)}")
            require(ID.fullmatch(block["id"]), f"{where}: id {block['id']!r}")
            require(NAME.fullmatch(block["name"]), f"{where}: name {block['name']!r}")
            require(isinstance(block["input"], dict), f"{where}: input is no object")
            require(block["id"] not in seen, f"{where}: tool_use ids are unique: {block['id']!r}")
            seen.add(block["id"])
            waiting.append(block["id"])
    return waiting


def _text(block: dict[str, Any], where: str) -> None:
    if block.get("type") == "text":
        require(isinstance(block.get("text"), str) and block["text"].strip(), f"{where}: blank text")
