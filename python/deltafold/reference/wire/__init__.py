"""The wires: what each provider's payloads mean to the fold. Provider words stand here only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from deltafold.reference.wire.anthropic import AnthropicMessages
from deltafold.reference.wire.openai_chat import OpenAIChat
from deltafold.reference.wire.responses import OpenAIResponses

if TYPE_CHECKING:
    from deltafold.errors import ProviderError
    from deltafold.reference.fold import Fold
    from deltafold.reference.json import Document


class Wire(Protocol):
    """A wire over one response.

    `sources` names the members whose source text may be needed (A2). `failed` is set by a payload that is
    an error in the wire's own words (E6).
    """

    name: ClassVar[str]
    sources: ClassVar[frozenset[str]]
    failed: bool

    def __init__(self, fold: Fold) -> None:
        """Fold into the given response."""

    @staticmethod
    def owns(payload: dict[str, Any], kind: str) -> bool:
        """Whether a payload decides for this wire; `kind` is its type, else the event name (W1)."""
        ...

    def fold(self, document: Document, event: str) -> None:
        """Fold one payload; the wire's terminal event marks the fold (P1)."""

    def error(self, document: Document) -> ProviderError | None:
        """Give the error of a failed payload where it does not stand in the payload itself."""

    def close(self) -> None:
        """Fold what waits for the end of the stream."""

    def blocks(self) -> list[dict[str, Any]]:
        """Give the blocks as they stand."""
        ...


WIRES: dict[str, type[Wire]] = {wire.name: wire for wire in (OpenAIChat, OpenAIResponses, AnthropicMessages)}


def decide(payload: dict[str, Any], event: str) -> type[Wire] | None:
    """Give the wire that a payload decides for, or None (W1)."""
    kind = payload.get("type")
    name = kind if isinstance(kind, str) else event
    for wire in WIRES.values():
        if wire.owns(payload, name):
            return wire
    return None
