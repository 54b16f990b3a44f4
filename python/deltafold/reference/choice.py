"""One choice while it is folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold.reference.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.reference.call import Call
    from deltafold.reference.extras import Extras
    from deltafold.reference.identity import Router
    from deltafold.reference.json import Document

TEXTS = ("reasoning", "content", "refusal")
"""The texts of a choice, in the order in which their events come (X1)."""


class ChoiceState:
    """Texts, calls and kept members of one choice; the fold that opens it sets `router` and the extras."""

    __slots__ = (
        "calls",
        "extra",
        "finish_frame",
        "finish_reason",
        "index",
        "late_frame",
        "legacy_call",
        "logprobs",
        "message",
        "message_weight",
        "reasoning_member",
        "router",
        "standing_texts",
        "texts",
        "wire_ids",
    )

    router: Router
    extra: Extras
    logprobs: Extras

    def __init__(self, index: int) -> None:
        """Begin empty."""
        self.index = index
        self.texts = {kind: Text() for kind in TEXTS}
        self.standing_texts: dict[str, Callable[[], str]] = {}
        self.reasoning_member: str | None = None
        self.calls: list[Call] = []
        self.wire_ids: set[str] = set()
        self.legacy_call: Call | None = None
        self.finish_reason: str | None = None
        self.finish_frame: int | None = None
        self.late_frame: int | None = None
        self.message: tuple[dict[str, Any], Document] | None = None
        self.message_weight = 0

    def whole(self, kind: str) -> str:
        """Give a text as it stands: as streamed, or as the snapshots of its parts have it (W3)."""
        standing = self.standing_texts.get(kind)
        return str(self.texts[kind]) if standing is None else standing()

    @property
    def silent(self) -> bool:
        """Whether neither content, reasoning nor a call came (X4)."""
        texts = (self.texts["content"], self.texts["reasoning"])
        return not self.calls and not any(text or text.waiting for text in texts)
