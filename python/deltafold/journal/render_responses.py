"""The history in the form of the Responses wire: a list of input items.

Its rules: every `function_call` has one `function_call_output` with its `call_id` behind it; a `reasoning`
item is followed by the item that it led to.
"""

from __future__ import annotations

from typing import Any, Final

from deltafold.journal.render_parts import EMPTY, Names, fit_name, image_url_of, own_form, texts_of

_CLIENT_CALLS: Final = frozenset({"apply_patch_call", "computer_call", "local_shell_call", "shell_call"})
"""Calls of built-in tools that the client runs. Their outputs are no records of a journal, so they are sent
back only where the stream itself held the output."""


def items(recorded: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return recorded messages as the wire's `input`."""
    names = Names()
    kinds: dict[str, str] = {}
    found: list[dict[str, Any]] = []
    for message in recorded:
        match message["role"]:
            case "assistant":
                names.begin()
                kinds = {entry["id"]: entry["type"] for entry in message.get("tool_calls", ())}
                found.extend(_assistant_items(message, names))
            case "tool":
                found.append(_output(message, kinds[message["tool_call_id"]], names))
            case _:
                found.append({"type": "message", "role": "user", "content": _input_parts(message["content"])})
    return found


def _input_parts(content: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if isinstance(content, str):
        return [{"type": "input_text", "text": content if content.strip() else EMPTY}]
    parts: list[dict[str, Any]] = []
    for part in content:
        url = image_url_of(part)
        if url is not None:
            parts.append({"type": "input_image", "image_url": url})
        elif part.get("type") == "text":
            parts.extend({"type": "input_text", "text": text} for text in texts_of([part]))
        else:
            parts.append(part)  # a part in the wire's own form
    return parts or [{"type": "input_text", "text": EMPTY}]


def _assistant_items(message: dict[str, Any], names: Names) -> list[dict[str, Any]]:
    calls = [_call(entry, names) for entry in message.get("tool_calls", ())]
    own = own_form(message, "openai-responses", calls)
    if own is None:
        said = [{"type": "output_text", "text": text} for text in texts_of(message.get("content"))]
        said_items = [{"type": "message", "role": "assistant", "content": said}] if said else []
        return [*said_items, *calls]
    return _led_somewhere([item for item in own if _may_be_sent(item, own)])


def _may_be_sent(item: dict[str, Any], items: list[dict[str, Any]]) -> bool:
    """Whether the wire takes an item back: a message says something; calls and outputs stand together."""
    kind = str(item.get("type"))
    if kind == "message":
        return bool(item.get("content"))
    if kind in _CLIENT_CALLS:
        return _are_there(f"{kind}_output", item.get("call_id"), items)
    if kind.endswith("_call_output"):
        return _are_there(kind.removesuffix("_output"), _call_of(item), items)
    return True


def _are_there(kind: str, call_id: object, items: list[dict[str, Any]]) -> bool:
    return any(other.get("type") == kind and _call_of(other) == call_id for other in items)


def _call_of(item: dict[str, Any]) -> object:
    """The id of an item's call; the output of a local shell call has it as its own."""
    return item.get("call_id", item.get("id"))


def _led_somewhere(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out reasoning that nothing follows: what it led to was left out, or never came."""
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _call(entry: dict[str, Any], names: Names) -> dict[str, Any]:
    body = entry[entry["type"]]
    call = {"call_id": names.give(entry["id"]), "name": fit_name(body["name"])}
    if entry["type"] == "custom":
        return {"type": "custom_tool_call", **call, "input": body["input"]}
    return {"type": "function_call", **call, "arguments": body["arguments"] or "{}"}


def _output(message: dict[str, Any], kind: str, names: Names) -> dict[str, Any]:
    content = message["content"]
    output = content if isinstance(content, str) else _input_parts(content)
    name = "custom_tool_call_output" if kind == "custom" else "function_call_output"
    return {"type": name, "call_id": names.of_result(message["tool_call_id"]), "output": output}
