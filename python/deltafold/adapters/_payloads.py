"""Chunk objects that an SDK has already parsed, as payloads for the fold.

An object goes through pydantic's own serializer, which walks its members in native code: that costs less than
to name the members in Python or the SDK's `model_dump_json` (docs/adapters/chunks.md has the figures).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold import Completion, DeltafoldError, Event


def payload_of(chunk: Any) -> bytes:
    """Give a chunk, a model object or a dict, as one JSON payload of the members that were sent."""
    serializer: Any = getattr(chunk, "__pydantic_serializer__", None)
    try:
        if serializer is None:
            return orjson.dumps(chunk, default=_members)
        payload: bytes = serializer.to_json(chunk, exclude_unset=True, by_alias=True, warnings=False)
    except (
        TypeError,
        ValueError,
    ):  # half of a pair, a large integer, or what is no part of a chunk
        return json.dumps(chunk, default=_members, allow_nan=False).encode()
    return payload


def _members(value: Any) -> Any:
    """Give the members of an object that were sent: what was not sent must not look like null."""
    sent: set[str] | None = getattr(value, "__pydantic_fields_set__", None)
    members: dict[str, Any] | None = getattr(value, "__dict__", None)
    if members is None:
        raise TypeError(f"{type(value).__qualname__} is no part of a chunk")
    if sent is None:
        return members
    further: dict[str, Any] = value.__pydantic_extra__ or {}
    return {**{name: member for name, member in members.items() if name in sent}, **further}


class PayloadAssembler:
    """An assembler that is fed with chunk objects, for a stream over them."""

    def __init__(self, assembler: Any, payload: Callable[[Any], bytes] = payload_of) -> None:
        """Feed this assembler with what `payload` makes of a chunk."""
        self._assembler = assembler
        self._payload = payload
        self.finish: Callable[[], list[Event]] = assembler.finish
        self.close: Callable[[], Completion] = assembler.close
        self.snapshot: Callable[[], Completion] = assembler.snapshot

    @property
    def error(self) -> DeltafoldError | None:
        """The error that the next call raises, or None (P7)."""
        error: DeltafoldError | None = self._assembler.error
        return error

    def feed(self, chunk: Any, /) -> list[Event]:
        """Fold one chunk object."""
        events: list[Event] = self._assembler.feed_payload(self._payload(chunk))
        return events
