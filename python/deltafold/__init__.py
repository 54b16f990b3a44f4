"""Streamed answers of language models, folded to exact tool calls.

`assemble` folds a whole body, `stream` and `astream` give events as they come, `Assembler` is fed by hand.
The contract's rule names (S2, I4 ...) are cited throughout. `deltafold.reference` is the same in plain
Python.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from deltafold._stream import AsyncEventStream, EventStream
from deltafold.errors import (
    DeltafoldError,
    IncompleteStream,
    LimitError,
    MalformedToolCall,
    ProviderError,
    WireError,
)
from deltafold.policy import Limits, Policy
from deltafold.quirks import QUIRKS, QuirkKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from deltafold import reference as reference
    from deltafold._native import (
        Assembler,  # noqa: TC004
        ServerSentEvent,
        SSEDecoder,
        assemble,
        assemble_many,
    )
    from deltafold._responses import ResponseLike
    from deltafold._stream import BytesLike, Malformed, Tee, WireName
    from deltafold.completion import Choice, Completion, Quirk, ToolCall
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

    IMPLEMENTATION: str

_FROM_ENGINE = (
    "Assembler",
    "Choice",
    "Completion",
    "Finish",
    "Quirk",
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
    "assemble",
    "assemble_many",
)
_ENVIRONMENT = "DELTAFOLD_IMPLEMENTATION"


def _load_engine() -> dict[str, Any]:
    """Give the native engine's names, or the reference's where it is asked for or nothing else loads."""
    if os.environ.get(_ENVIRONMENT) == "reference":
        return _names_of("deltafold.reference", "reference")
    try:
        return _names_of("deltafold._native", "native")
    except ImportError as reason:
        import warnings  # noqa: PLC0415

        warnings.warn(
            f"deltafold's native module does not load ({reason}); the much slower reference serves instead. "
            f"Set {_ENVIRONMENT}=reference to have that without this warning",
            RuntimeWarning,
            stacklevel=3,
        )
        return _names_of("deltafold.reference", "reference")


def _names_of(module: str, implementation: str) -> dict[str, Any]:
    engine = importlib.import_module(module)
    return {"IMPLEMENTATION": implementation, **{name: getattr(engine, name) for name in _FROM_ENGINE}}


if not TYPE_CHECKING:
    globals().update(_load_engine())

    def __getattr__(name: str) -> Any:  # noqa: ANN401
        """Load the reference when it is asked for, and the union of the events."""
        if name == "reference":
            return importlib.import_module("deltafold.reference")
        if name == "Event":
            return importlib.import_module("deltafold.events").Event
        raise AttributeError(f"module 'deltafold' has no attribute {name!r}")


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
    """Give the events of chunks of bytes as they come, afterwards `.completion`.

    A response of httpx, requests, urllib3, urllib or primp may stand for its chunks: its status and content
    type are checked first (ProviderError, WireError), and `with` closes it.
    `coalesce` joins neighbouring deltas of one text within a chunk. `tee`, a callable or a file opened for
    binary writing, gets every chunk before it is parsed. Errors are raised after the events before them (P7).
    """
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
    """Give the events of an async iterable of bytes; everything else as in `stream`.

    Responses may be those of aiohttp, httpx and primp.

    `read_every` is for processes with very many streams: after a read of `chunks` nothing more is read for
    so many seconds, then all that has come in one go. Events come up to that much later, and a chunk costs a
    fraction of the processor time. 0 reads whatever comes at once; ValueError for a value that is no number
    of seconds. It needs asyncio.
    """
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
    "reference",
    "stream",
]
