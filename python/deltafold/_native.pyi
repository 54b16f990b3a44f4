# The native engine. Its values have the members of the Python classes and compare with them.

from collections.abc import Iterable
from typing import Any, Self, final

from deltafold._stream import BytesLike, Malformed, WireName
from deltafold.completion import Choice as Choice
from deltafold.completion import Completion as Completion
from deltafold.completion import Quirk as Quirk
from deltafold.completion import ToolCall as ToolCall
from deltafold.errors import DeltafoldError
from deltafold.events import Event
from deltafold.events import Finish as Finish
from deltafold.events import ReasoningDelta as ReasoningDelta
from deltafold.events import RefusalDelta as RefusalDelta
from deltafold.events import TextDelta as TextDelta
from deltafold.events import ToolCallDelta as ToolCallDelta
from deltafold.events import ToolCallEnd as ToolCallEnd
from deltafold.events import ToolCallStart as ToolCallStart
from deltafold.events import Usage as Usage
from deltafold.policy import Limits, Policy
from deltafold.reference.sse import ServerSentEvent as ServerSentEvent

__all__ = [
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
]

@final
class SSEDecoder:
    last_event_id: str
    retry: int | None
    comments: int
    @property
    def tail(self) -> bytes: ...
    def __new__(cls) -> Self: ...
    def feed(self, data: BytesLike) -> list[ServerSentEvent]: ...
    def close(self) -> list[ServerSentEvent]: ...

@final
class Assembler:
    def __new__(
        cls,
        *,
        wire: WireName = "auto",
        policy: Policy | None = None,
        limits: Limits | None = None,
        malformed: Malformed = "raise",
        coalesce: bool = True,
        _fast: bool | None = None,
    ) -> Self: ...
    @property
    def error(self) -> DeltafoldError | None: ...
    def feed(self, data: BytesLike) -> list[Event]: ...
    def feed_payload(self, payload: BytesLike | str) -> list[Event]: ...
    def finish(self) -> list[Event]: ...
    def close(self) -> Completion: ...
    def snapshot(self) -> Completion: ...
    def _counters(self) -> dict[str, Any]: ...

def assemble(
    data: BytesLike | Iterable[BytesLike],
    *,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
) -> Completion: ...
def assemble_many(
    bodies: Iterable[BytesLike | Iterable[BytesLike]],
    *,
    threads: int | None = None,
    wire: WireName = "auto",
    policy: Policy | None = None,
    limits: Limits | None = None,
    malformed: Malformed = "raise",
) -> list[Completion]: ...
