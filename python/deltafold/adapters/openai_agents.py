"""openai-agents: a patch of its chat streams, undone on exit. It offers no hook between client and handler.

with deltafold.adapters.openai_agents.patched():
    result = Runner.run_streamed(agent, "...")
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from agents.models.chatcmpl_stream_handler import ChatCmplStreamHandler

from deltafold.adapters._normal import normalised

if TYPE_CHECKING:
    from collections.abc import Generator

_lock = threading.Lock()
_originals: dict[str, Any] = {}
_depth = 0


@contextlib.contextmanager
def patched() -> Generator[None]:
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
            for name, patch in _PATCHES.items():
                _originals[name] = ChatCmplStreamHandler.__dict__[name]
                setattr(ChatCmplStreamHandler, name, classmethod(patch))
        _depth += 1


def _exit() -> None:
    global _depth  # noqa: PLW0603
    with _lock:
        _depth -= 1
        if _depth == 0:
            for name in _PATCHES:
                setattr(ChatCmplStreamHandler, name, _originals[name])


def _handle_stream(cls: Any, response: Any, stream: Any, *further: Any, **options: Any) -> Any:
    return _originals["handle_stream"].__get__(None, cls)(response, normalised(stream), *further, **options)


def _buffer_tool_call_stream(cls: Any, stream: Any) -> Any:
    """The handler's buffering, where a model asks for it, goes by the index too."""
    return _originals["buffer_tool_call_stream"].__get__(None, cls)(normalised(stream))


_PATCHES: dict[str, Any] = {
    "handle_stream": _handle_stream,
    "buffer_tool_call_stream": _buffer_tool_call_stream,
}
