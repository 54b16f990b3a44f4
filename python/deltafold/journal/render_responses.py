"""The history in the form of the Responses wire: a list of input items.

Its rules: every `function_call` has one `function_call_output` with its `call_id` behind it; a `reasoning`
item is followed by the item that it led to.
"""

from __future__ import annotations

from typing import Any

from deltafold.journal.render_parts import EMPTY, Names, fit_name, image_url_of, own_form, texts_of


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
    while (
        own and own[-1].get("type") == "reasoning"
    ):  # it led to a call that was never named, so it leads nowhere
        own.pop()
    return own


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
