"""One record, one line: `seq`, `time`, `type`, `data`, `crc`, in this order, ended by LF.

The check value is CRC-32C over the log's salt (its 16 bytes) and then the line's bytes before `,"crc"`. A
line is verified without decoding it; its value is trusted only after that.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

import orjson

from deltafold.journal import crc32c

SALT_BYTES: Final = 16
MEMBERS: Final = ("seq", "time", "type", "data", "crc")
MAX_LINE: Final = 256 * 1024 * 1024
"""Bytes of a line that a reader looks at. The longest line that rule J1 lets through is shorter (see
`values`)."""

_SEAL = re.compile(rb',"crc":"([0-9a-f]{8})"\}\n')
_SEAL_BYTES: Final = len(b',"crc":"01234567"}\n')
_LONG_INTEGER = re.compile(rb"[0-9]{19}")
_SALT = re.compile(rb'^\{"seq":.*?"salt":"([0-9a-f]{32})"')


class BadLine(ValueError):  # noqa: N818  (said of the line, it is not the program that erred)
    """A line is not a record of this log; `reason` says why.

    `sealed`: its check value holds, so a program wrote exactly this, and no crash or accident did.
    """

    def __init__(self, reason: str, *, sealed: bool = False) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason
        self.sealed = sealed


class Event(NamedTuple):
    """What a record says, before any rule has judged it: members may hold any value."""

    seq: Any
    time: Any
    type: Any
    data: Any


def now() -> str:
    """Return the present instant as records carry it: RFC 3339, UTC, microseconds."""
    return f"{datetime.now(UTC).isoformat(timespec='microseconds')[:26]}Z"


def dump(value: object) -> bytes:
    """Encode a JSON value in its shortest form; integers of any size stay exact.

    Raises `ValueError` or `TypeError` for what JSON cannot hold.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8")


def parse(data: bytes) -> object:
    """Decode JSON bytes; integers of any size stay exact. Raises `ValueError`."""
    try:
        if _LONG_INTEGER.search(data):
            return parse_leniently(data)
        return cast("object", orjson.loads(data))
    except RecursionError:
        raise ValueError("nested too deep") from None


def parse_leniently(data: bytes) -> object:
    """Decode JSON bytes in which escapes may stand for lone surrogates. Raises `ValueError`."""
    return cast("object", json.loads(data, parse_constant=_no_number, parse_float=_finite))


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return value


def encode(event: Event, salt: bytes) -> bytes:
    """Return the line of `event`, sealed for the log that has this salt."""
    body = dump({"seq": event.seq, "time": event.time, "type": event.type, "data": event.data})
    return seal(body[:-1], salt)


def seal(front: bytes, salt: bytes) -> bytes:
    """Return the line that begins with `front` (everything before `,"crc"`)."""
    return b'%b,"crc":"%08x"}\n' % (front, checksum(front, salt))


def checksum(front: bytes, salt: bytes) -> int:
    """CRC-32C over the salt and then the bytes of a line before `,"crc"`."""
    return crc32c.extend(crc32c.extend(0, salt), front)


def verified(line: bytes, salt: bytes) -> bool:
    """Whether these bytes are one whole line sealed for the log that has this salt."""
    match = _SEAL.fullmatch(line, max(0, len(line) - _SEAL_BYTES))
    return match is not None and checksum(line[: match.start()], salt) == int(match[1], 16)


def salt_of(line: bytes) -> bytes | None:
    """Return the salt that a first line shows, verified or not."""
    match = _SALT.match(line)
    return bytes.fromhex(match[1].decode()) if match else None


def decode(line: bytes, salt: bytes) -> Event:
    """Return what a line says once its seal holds. Raises `BadLine`."""
    match = _SEAL.fullmatch(line, max(0, len(line) - _SEAL_BYTES))
    if match is None:
        raise BadLine("line without end" if not line.endswith(b"\n") else "not a record")
    if checksum(line[: match.start()], salt) != int(match[1], 16):
        raise BadLine("crc does not match")
    try:
        return opened(line)
    except BadLine as bad:
        raise BadLine(bad.reason, sealed=True) from None


def opened(line: bytes) -> Event:
    """Return what a line says, whatever its seal. Raises `BadLine`."""
    try:
        value = parse(line)
    except ValueError as error:
        raise BadLine(f"not JSON ({error})") from None
    if not isinstance(value, dict):
        raise BadLine("not a JSON object")
    members = cast("dict[str, object]", value)
    if tuple(members) != MEMBERS:
        raise BadLine("members are not seq, time, type, data, crc")
    return Event(members["seq"], members["time"], members["type"], members["data"])
