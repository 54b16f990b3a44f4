"""Server-sent events by the WHATWG text (S1 to S6): lines, then events; nothing is read twice."""

from __future__ import annotations

from deltafold.reference.sse.decoder import ServerSentEvent, SSEDecoder
from deltafold.reference.sse.frames import ErrorLine, Frame, FrameReader, Oddity
from deltafold.reference.sse.lines import Oversize, as_bytes, decode

__all__ = [
    "ErrorLine",
    "Frame",
    "FrameReader",
    "Oddity",
    "Oversize",
    "SSEDecoder",
    "ServerSentEvent",
    "as_bytes",
    "decode",
]
