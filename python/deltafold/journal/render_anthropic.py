"""The history in the form of the Anthropic messages wire.

Its rules: roles alternate and begin with the user; every `tool_use` is answered in the very next user
message, whose `tool_result` blocks stand first; ids are unique over the whole history; no text is blank.
"""

from __future__ import annotations

import re
from typing import Any

from deltafold.journal import record
from deltafold.journal.render_parts import EMPTY, Names, fit_name, image_url_of, own_form, texts_of

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.+)", re.DOTALL)


def messages(recorded: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return recorded messages as the wire's `messages`."""
    names = Names()
    turns: list[dict[str, Any]] = []
    for message in recorded:
        match message["role"]:
            case "assistant":
                names.begin()
                _add(turns, "assistant", _assistant_blocks(message, names))
            case "tool":
                _add(turns, "user", [_result(message, names)])
            case _:
                _add(turns, "user", _user_blocks(message["content"]))
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": EMPTY}]})
    return turns


def _add(turns: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    if not blocks:
        return
    if turns and turns[-1]["role"] == role:
        turns[-1]["content"].extend(blocks)
    else:
        turns.append({"role": role, "content": blocks})


def _user_blocks(content: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if isinstance(content, str):
        return [_text(text) for text in texts_of(content) or [EMPTY]]
    blocks: list[dict[str, Any]] = []
    for part in content:
        url = image_url_of(part)
        if url is not None:
            blocks.append({"type": "image", "source": _source(url)})
        elif part.get("type") == "text":
            blocks.extend(_text(text) for text in texts_of([part]))
        else:
            blocks.append(part)  # a block in the wire's own form
    return blocks or [_text(EMPTY)]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _source(url: str) -> dict[str, str]:
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return {"type": "base64", "media_type": inline[1], "data": inline[2]}
    return {"type": "url", "url": url}


def _assistant_blocks(message: dict[str, Any], names: Names) -> list[dict[str, Any]]:
    calls = [_tool_use(entry, names) for entry in message.get("tool_calls", ())]
    own = own_form(message, "anthropic-messages", calls)
    if own is None:
        return [*map(_text, texts_of(message.get("content"))), *calls]
    return [block for block in own if _may_be_sent(block)]


def _may_be_sent(block: dict[str, Any]) -> bool:
    """Whether the wire takes a block back: blank text and unsigned thinking it refuses."""
    if block.get("type") == "text":
        return bool(texts_of([block]))
    return block.get("type") != "thinking" or bool(block.get("signature"))


def _tool_use(entry: dict[str, Any], names: Names) -> dict[str, Any]:
    body = entry[entry["type"]]
    if entry["type"] == "custom":
        arguments: object = {"input": body["input"]}
    else:
        arguments = record.parse((body["arguments"] or "{}").encode())
    return {
        "type": "tool_use",
        "id": names.give(entry["id"]),
        "name": fit_name(body["name"]),
        "input": arguments,
    }


def _result(message: dict[str, Any], names: Names) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": names.of_result(message["tool_call_id"])}
    content = message["content"]
    block["content"] = _user_blocks(content)
    if message["is_error"]:
        block["is_error"] = True
    return block
