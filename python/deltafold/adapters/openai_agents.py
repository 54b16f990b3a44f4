"""openai-agents: a patch of its chat streams, undone on exit. It offers no hook between client and handler.

    with deltafold.adapters.openai_agents.patched():
        result = Runner.run_streamed(agent, "...")
"""
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from agents.models.chatcmpl_stream_handler import ChatCmplStreamHandler

from deltafold.adapters._normal import normalised

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

_NAMES = ("handle_stream", "buffer_tool_call_stream")
_lock = threading.Lock()
_originals: dict[str, Any] = {}
_depth = 0


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """Let the handler of chat streams see each call as our fold has it, for all models in this process.

    Contexts may be nested and may overlap in threads; the last exit undoes the patch. A stream keeps the
    handler that it began with.
    """
    _enter()
    try:
        yield
    finally:
        _exit()


def _enter() -> None:
    global _depth  # noqa: PLW0603
    with _lock:
        if _depth == 0:
            _originals["handle_stream"] = ChatCmplStreamHandler.__dict__["handle_stream"]
            ChatCmplStreamHandler.handle_stream = classmethod(_handle_stream)
        _depth += 1


def _exit() -> None:
    global _depth  # noqa: PLW0603
    with _lock:
        _depth -= 1
        if _depth == 0:
            ChatCmplStreamHandler.handle_stream = _originals.pop("handle_stream")


def _handle_stream(cls: Any, response: Any, stream: Any, *further: Any, **options: Any) -> AsyncIterator[Any]:  # noqa: ANN401
    original = _original().__get__(None, cls)
    events: AsyncIterator[Any] = original(response, normalised(stream), *further, **options)
    return events


def _original() -> Any:  # noqa: ANN401
    with _lock:
        return _originals.get("handle_stream") or ChatCmplStreamHandler.__dict__["handle_stream"]
