"""The twin of the native engine in plain Python: the same names, the same behaviour, made to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold._stream import AsyncEventStream, EventStream
from deltafold.completion import Choice, Completion, Quirk, ToolCall
from deltafold.errors import (
    DeltafoldError,
    IncompleteStream,
    LimitError,
    MalformedToolCall,
    ProviderError,
    WireError,
)
from deltafold.events import (
    Event,
    Finish,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from deltafold.policy import Limits, Policy
from deltafold.quirks import QUIRKS, QuirkKind
from deltafold.reference.sse import ServerSentEvent, SSEDecoder
from deltafold.reference.stream import Assembler, assemble, assemble_many

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from deltafold._responses import ResponseLike
    from deltafold._stream import BytesLike, Malformed, Tee, WireName

IMPLEMENTATION = "reference"


def stream(  # noqa: PLR0913
    chunks: Iterable[BytesLike] | ResponseLike,
    *,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
    coalesce: bool = True,
    tee: Tee = None,
) -> EventStream:
    """Give the events of chunks of bytes; `tee` gets every chunk before it is parsed."""
    assembler = Assembler(wire=wire, policy=policy, limits=limits, malformed=malformed, coalesce=coalesce)
    return EventStream(assembler, chunks, tee)


def astream(  # noqa: PLR0913
    chunks: AsyncIterable[BytesLike] | ResponseLike,
    *,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
    coalesce: bool = True,
    tee: Tee = None,
    read_every: float = 0.0,
) -> AsyncEventStream:
    """Give the events of an async iterable of bytes; `tee` and `read_every` as in `deltafold.astream`."""
    assembler = Assembler(wire=wire, policy=policy, limits=limits, malformed=malformed, coalesce=coalesce)
    return AsyncEventStream(assembler, chunks, tee, read_every)


__all__ = [
    "IMPLEMENTATION",
    "QUIRKS",
    "Assembler",
    "AsyncEventStream",
    "Choice",
    "Completion",
    "DeltafoldError",
    "Event",
    "EventStream",
    "Finish",
    "IncompleteStream",
    "LimitError",
    "Limits",
    "MalformedToolCall",
    "Policy",
    "ProviderError",
    "Quirk",
    "QuirkKind",
    "ReasoningDelta",
    "RefusalDelta",
    "SSEDecoder",
    "ServerSentEvent",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "Usage",
    "WireError",
    "assemble",
    "assemble_many",
    "astream",
    "stream",
]
