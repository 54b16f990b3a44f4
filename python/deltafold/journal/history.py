"""The history as messages: what is sent with the next request.

The journal holds chat messages. `History` collects them as records come; `messages` renders them for the chat
wire, and `render_anthropic` and `render_responses` for the other two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, cast

from deltafold.journal import record, render_anthropic, render_responses

if TYPE_CHECKING:
    from deltafold.journal.record import Event

Wire = Literal["openai-chat", "anthropic-messages", "openai-responses"]

NATIVE: Final = "deltafold"
"""The member of a recorded assistant message that holds its own wire's form: `wire`, `value` (the blocks or
items that are no calls) and `before` (for each call, how many of them stand before it). It is never sent to
another wire.
"""


class History:
    """The messages so far, each as JSON bytes, so that what is handed out is always the caller's own copy."""

    def __init__(self) -> None:
        """Begin without a message."""
        self._messages: list[bytes] = []

    def add(self, event: Event) -> None:
        """Take an admitted event in."""
        data = event.data
        match event.type:
            case "user/message" | "assistant/message":
                self._messages.append(record.dump(data["message"]))
            case "tool/result":
                result = {
                    "role": "tool",
                    "tool_call_id": data["call_id"],
                    "content": data["content"],
                    "is_error": data["is_error"],
                }
                self._messages.append(record.dump(result))
            case _:
                pass

    def messages(self, wire: Wire) -> list[dict[str, Any]]:
        """Return the messages in the form of a wire."""
        recorded = cast("list[dict[str, Any]]", record.parse(b"[%b]" % b",".join(self._messages)))
        match wire:
            case "openai-chat":
                return [_chat(message) for message in recorded]
            case "anthropic-messages":
                return render_anthropic.messages(recorded)
            case "openai-responses":
                return render_responses.items(recorded)
            case _:
                raise ValueError(
                    f"wire is one of openai-chat, anthropic-messages, openai-responses, not {wire!r}"
                )


def _chat(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as every chat server takes it.

    No members of ours; an object where arguments were empty; a text, if an empty one, where there is no
    content.
    """
    message.pop(NATIVE, None)
    message.pop("is_error", None)
    calls = message.get("tool_calls", ())
    for call in calls:
        if call["type"] == "function":
            call["function"]["arguments"] = call["function"]["arguments"] or "{}"
    if not message.get("content") and not calls:
        message["content"] = ""
    elif message.get("content") == []:
        message["content"] = None
    return message
