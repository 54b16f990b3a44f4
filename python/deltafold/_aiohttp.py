"""The body of an aiohttp response, taken in one go.

aiohttp's `readany` lets its protocol go on once for each chunk that it holds, and each time the parser is
called (aiohttp 3.14). A reader that is behind, or reads seldom, spends more on that than on everything else.
What is done here is what `readany` does, with one such call. It uses members of aiohttp's StreamReader that
are its own (MEMBERS): where one is missing, and in every case but the common one, `readany` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltafold._responses import Read

MEMBERS = (
    "_buffer",
    "_buffer_offset",
    "_cursor",
    "_http_chunk_splits",
    "_low_water",
    "_protocol",
    "_size",
    "_timer",
    "_wait",
)


def reading(response: Any) -> Read:  # noqa: ANN401
    """Give the function that awaits what has come of the body since the last call, b"" at its end."""
    content = response.content
    readany: Read = content.readany
    if not all(hasattr(content, member) for member in MEMBERS):
        return readany
    buffer = content._buffer  # noqa: SLF001

    async def read() -> bytes:
        while not buffer and not content.is_eof() and content.exception() is None:
            await content._wait("readany")  # noqa: SLF001
        if len(buffer) > 1 and not content._buffer_offset and content.exception() is None:  # noqa: SLF001
            return _all_of(content, buffer)
        data: bytes = await readany()
        return data

    return read


def _all_of(content: Any, buffer: Any) -> bytes:  # noqa: ANN401
    """Take all chunks out of a reader, and let its protocol go on."""
    content._timer.assert_timeout()  # noqa: SLF001
    data = b"".join(buffer)
    buffer.clear()
    content._size -= len(data)  # noqa: SLF001
    content._cursor += len(data)  # noqa: SLF001
    # Where chunks of the coding end interests nobody any more.
    if content._http_chunk_splits:  # noqa: SLF001
        content._http_chunk_splits.clear()  # noqa: SLF001
    if content._size < content._low_water:  # noqa: SLF001
        content._protocol.resume_reading()  # noqa: SLF001
    return data
