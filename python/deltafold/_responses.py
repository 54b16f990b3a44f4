"""Responses of HTTP clients as sources of chunks: recognised by name, checked, read as they come, closed.

Nothing of a client is imported; a response of one of them is known by the module and the name of its class
or of a base of it. Each row of CLIENTS says what is particular to one client, everything else is shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from deltafold.errors import DeltafoldError, ProviderError, WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltafold._pace import Connection

Read: TypeAlias = "Callable[[], Any]"
"""Gives the next bytes that have come, or what is false at the end of the body; async: awaits to."""

READ_SIZE = 65536
COMPRESSED_READ_SIZE = 512
EXCERPT = 64 * 1024
"""How much of a refused response is read to say what it is (E6), in bytes."""

MEDIA_TYPE = "text/event-stream"
_HTTP_OK = range(200, 300)


class ResponseLike(Protocol):
    """What every client's response has."""

    @property
    def headers(self) -> Any: ...  # noqa: ANN401


class Client(NamedTuple):
    """How the responses of one client are read. `status` and `close` are names of the response's members.

    `connection`, for a client that reads without being asked, gives what can be held, None after the body.
    """

    read: Callable[[Any], Read]
    status: str = "status_code"
    close: str = "close"
    asynchronous: Callable[[Any], bool] = lambda _response: False
    connection: Callable[[Any], Connection | None] | None = None


def _httpx_is_asynchronous(response: Any) -> bool:  # noqa: ANN401
    return not hasattr(response.stream, "__iter__")


def _httpx_as_sent(response: Any) -> bool:  # noqa: ANN401
    """Whether the body can pass by httpx's decoders: nothing is to be decoded, nothing has been read."""
    coding: str = response.headers.get("content-encoding", "identity")
    return coding == "identity" and not response.is_stream_consumed


def _httpx_read(response: Any) -> Read:  # noqa: ANN401
    return _step(response.iter_raw() if _httpx_as_sent(response) else response.iter_bytes())


def _httpx_async_read(response: Any) -> Read:  # noqa: ANN401
    return _async_step(response.aiter_raw() if _httpx_as_sent(response) else response.aiter_bytes())


def _requests_read(response: Any) -> Read:  # noqa: ANN401
    """Read beneath requests, whose iterator waits for a full buffer, unless it has the body already."""
    if getattr(response, "_content_consumed", False):
        return _step(response.iter_content(READ_SIZE))
    return _urllib3_read(response.raw)


def _urllib3_read(response: Any) -> Read:  # noqa: ANN401
    """Read what has come; its iterators wait for a full buffer where the body is not chunked.

    Of a compressed body a read may give nothing before the end.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        return _step(response.stream(COMPRESSED_READ_SIZE, decode_content=True))
    return lambda: response.read1(READ_SIZE, decode_content=True)


def _urllib_read(response: Any) -> Read:  # noqa: ANN401
    return lambda: response.read1(READ_SIZE)


def _primp_read(response: Any) -> Read:  # noqa: ANN401
    return _step(iter(response.iter_bytes()))


def _primp_async_read(response: Any) -> Read:  # noqa: ANN401
    return _async_step(aiter(response.aiter_bytes()))


def _aiohttp_read(response: Any) -> Read:  # noqa: ANN401
    from deltafold import _aiohttp  # noqa: PLC0415

    return _aiohttp.reading(response)


def _aiohttp_connection(response: Any) -> Connection | None:  # noqa: ANN401
    """Give the protocol of a response whose body goes on; it stops the parser and `sock_read` as well."""
    connection = response.connection
    if connection is None or connection.transport is None:
        return None
    protocol: Connection = connection.protocol
    return protocol


def _step(chunks: Iterator[bytes]) -> Read:
    return lambda: next(chunks, b"")


def _async_step(chunks: Any) -> Read:  # noqa: ANN401
    return lambda: anext(chunks, b"")


def _always(_response: object) -> bool:
    return True


CLIENTS: dict[tuple[str, str], Client] = {
    ("requests", "Response"): Client(_requests_read),
    ("urllib3", "HTTPResponse"): Client(_urllib3_read, status="status"),
    ("http", "HTTPResponse"): Client(_urllib_read, status="status"),
    ("builtins", "Response"): Client(_primp_read),
    ("builtins", "AsyncResponse"): Client(_primp_async_read, close="aclose", asynchronous=_always),
    ("aiohttp", "ClientResponse"): Client(
        _aiohttp_read, status="status", asynchronous=_always, connection=_aiohttp_connection
    ),
}
"""The clients, by the top module and the name of their responses' class; primp's name no module."""

_HTTPX = Client(_httpx_read)
_HTTPX_ASYNC = Client(_httpx_async_read, close="aclose", asynchronous=_always)


def client_of(source: object) -> Client | None:
    """Give the client whose response this is, or None for anything else."""
    for cls in type(source).__mro__:
        module = cls.__module__.partition(".")[0]
        if module in {"httpx", "httpx2"} and cls.__name__ == "Response":
            return _HTTPX_ASYNC if _httpx_is_asynchronous(source) else _HTTPX
        client = CLIENTS.get((module, cls.__name__))
        if client is not None:
            return client
    return None


def opened(source: Any, *, asynchronous: bool) -> Any:  # noqa: ANN401
    """Give a response as a source of chunks; whatever is no response of a known client comes back as it is.

    TypeError for a response of the other kind.
    """
    client = client_of(source)
    if client is None:
        return source
    if client.asynchronous(source) and not asynchronous:
        raise TypeError(f"{_name(source)} is read asynchronously: use deltafold.astream(response)")
    if asynchronous and not client.asynchronous(source):
        raise TypeError(f"{_name(source)} is read synchronously: use deltafold.stream(response)")
    return AsyncResponseChunks(source, client) if asynchronous else ResponseChunks(source, client)


class ResponseChunks:
    """The body of a response, checked before the first chunk."""

    def __init__(self, response: Any, client: Client) -> None:  # noqa: ANN401
        """Keep the response; nothing is read yet."""
        self._response = response
        self._client = client

    def __iter__(self) -> Iterator[bytes]:
        """Give the chunks as they come; ProviderError or WireError where it is no event stream."""
        reason = _objection(self._response, self._client)
        read = self._client.read(self._response)
        if reason is None:
            yield from iter(read, b"")
            return
        excerpt = bytearray()
        while len(excerpt) < EXCERPT and (data := read()):
            excerpt += data
        self.close()
        raise _refusal(reason, self._response, self._client, bytes(excerpt))

    def close(self) -> None:
        """Close the response."""
        getattr(self._response, self._client.close)()


class AsyncResponseChunks:
    """As ResponseChunks, for async clients: `open` checks and gives what reads the next bytes."""

    def __init__(self, response: Any, client: Client) -> None:  # noqa: ANN401
        """Keep the response; nothing is read yet."""
        self._response = response
        self._client = client

    async def open(self, read_every: float = 0.0) -> Read:
        """Check the response and give the function that awaits its next bytes, false at the end."""
        reason = _objection(self._response, self._client)
        read = self._client.read(self._response)
        if reason is None:
            return self._paced(read, read_every) if read_every else read
        excerpt = bytearray()
        while len(excerpt) < EXCERPT and (data := await read()):
            excerpt += data
        await self.aclose()
        raise _refusal(reason, self._response, self._client, bytes(excerpt))

    def _paced(self, read: Read, read_every: float) -> Read:
        from deltafold import _pace  # noqa: PLC0415

        response, connection = self._response, self._client.connection
        if connection is None:
            return _pace.spaced(read, read_every)
        return _pace.held(read, lambda: connection(response), read_every)

    async def aclose(self) -> None:
        """Close the response."""
        closing = getattr(self._response, self._client.close)()
        if hasattr(closing, "__await__"):
            await closing


def _objection(response: Any, client: Client) -> str | None:  # noqa: ANN401
    """Say why this is no event stream by its status and content type; None where it may be one."""
    status: int = getattr(response, client.status)
    if status not in _HTTP_OK:
        return f"the gateway answered with HTTP status {status}"
    media_type: str = response.headers.get("content-type") or ""
    if media_type and media_type.partition(";")[0].strip().lower() != MEDIA_TYPE:
        return f"the response is {media_type!r}, not {MEDIA_TYPE}; give its bytes to fold it all the same"
    return None


def _refusal(reason: str, response: Any, client: Client, excerpt: bytes) -> DeltafoldError:  # noqa: ANN401
    """Give the error for a response that is refused, in the gateway's own words where it has some (E6)."""
    from deltafold import assemble  # noqa: PLC0415

    status: int = getattr(response, client.status)
    said: DeltafoldError | None = None
    try:
        assemble(excerpt)
    except DeltafoldError as error:
        said = error
    if isinstance(said, ProviderError):
        said.status = status if said.status is None else said.status
        return said
    looks = f": {said.message}" if said is not None and excerpt.strip() else ""
    if status in _HTTP_OK:
        return WireError(reason + looks, kind="not-an-event-stream", offset=0)
    return ProviderError(reason + looks, status=status)


def _name(source: object) -> str:
    return f"{type(source).__module__}.{type(source).__qualname__}"
