"""Chunk objects that an SDK has already parsed, as payloads for the fold.

An object goes through orjson, which walks its members in native code: that costs less than walking it from
Python or than the SDK's own `model_dump_json` (docs/adapters/chunks.md has the figures).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold import Completion, DeltafoldError, Event


def _members(value: Any) -> Any:
    """Give the members of an object that were sent, for orjson; what was not sent must not look like null."""
    sent: set[str] | None = getattr(value, "__pydantic_fields_set__", None)
    members: dict[str, Any] | None = getattr(value, "__dict__", None)
    if members is None:
        raise TypeError(f"{type(value).__qualname__} is no part of a chunk")
    if sent is None:
        return members
    further: dict[str, Any] | None = value.__pydantic_extra__
    if len(members) != len(sent):
        members = {name: member for name, member in members.items() if name in sent}
    return {**members, **further} if further else members


def payload_of(chunk: Any) -> bytes:
    """Give a chunk, a model object or a dict, as one JSON payload."""
    try:
        return orjson.dumps(chunk, default=_members)
    except TypeError:  # an integer beyond 64 bits, half of a pair, or what is no part of a chunk: said here
        return json.dumps(chunk, default=_members, allow_nan=False).encode()


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
