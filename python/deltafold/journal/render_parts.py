"""What the Anthropic and Responses forms of a history share.

Parts of content, and ids that are unique over all turns.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

EMPTY: Final = "(no content)"
"""Stands where a wire wants text and the history has none."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_ID: Final = 64


class Names:
    """Gives every call an id that no other call of the history has, by position.

    The newest call of an id is meant by its results.

    Providers send constants (llama.cpp), or ids with characters that another wire refuses.
    """

    def __init__(self) -> None:
        """Begin without a call."""
        self._used: set[str] = set()
        self._current: dict[str, str] = {}

    def begin(self) -> None:
        """A new assistant message: results from here on mean its calls."""
        self._current = {}

    def give(self, call_id: str) -> str:
        """Return the id of a new call."""
        base = _UNFIT.sub("_", call_id)[:_MAX_ID]
        unique, number = base, 1
        while unique in self._used:
            number += 1
            unique = f"{base[: _MAX_ID - 8]}-{number}"
        self._used.add(unique)
        self._current[call_id] = unique
        return unique

    def of_result(self, call_id: str) -> str:
        """Return the id of the call of the last assistant message that this result answers."""
        return self._current[call_id]


def fit_name(name: str) -> str:
    """Return a tool's name in the letters that the Anthropic and Responses wires take."""
    return _UNFIT.sub("_", name)


def texts_of(content: Any) -> list[str]:  # noqa: ANN401  (a chat content: text, parts or None)
    """Return the texts of a chat content that hold more than white space."""
    if isinstance(content, str):
        found = [content]
    else:
        found = [
            part.get("text")
            for part in content or ()
            if part.get("type") in {"text", "input_text", "output_text"}
        ]
    return [text for text in found if isinstance(text, str) and text.strip()]


def image_url_of(part: dict[str, Any]) -> str | None:
    """Return the URL of a chat image part."""
    if part.get("type") != "image_url":
        return None
    image: Any = part.get("image_url")
    url: Any = cast("dict[str, Any]", image).get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) and url else None


def own_form(message: dict[str, Any], wire: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the blocks of an assistant message that came over this wire, its calls at their places.

    None when it did not.
    """
    native = message.get("deltafold", {})
    if native.get("wire") != wire:
        return None
    before: list[int] = native["before"]
    woven: list[dict[str, Any]] = []
    waiting = list(zip(before, calls, strict=True))
    for position, block in enumerate(native["value"]):
        while waiting and waiting[0][0] <= position:
            woven.append(waiting.pop(0)[1])
        woven.append(block)
    return [*woven, *(call for _, call in waiting)]
