"""CRC-32C (Castagnoli) over bytes: the check value of every record.

The extra `crc` brings a C implementation; without it a table in Python serves. Both give the same values,
which a test holds against the published check value 0xe3069283 of `123456789`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_POLYNOMIAL = 0x82F63B78
_ALL_ONES = 0xFFFFFFFF


def _table() -> tuple[int, ...]:
    entries: list[int] = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        entries.append(value)
    return tuple(entries)


TABLE = _table()
"""The 256 remainders of one byte, reflected form."""


def extend_in_python(value: int, data: bytes) -> int:
    """Return the check value of what `value` stands for, followed by `data`."""
    table = TABLE
    remainder = value ^ _ALL_ONES
    for byte in data:
        remainder = table[(remainder ^ byte) & 255] ^ (remainder >> 8)
    return remainder ^ _ALL_ONES


def _choose() -> Callable[[int, bytes], int]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where its own C part is missing, which is judged below
            import google_crc32c  # noqa: PLC0415  (an extra: looked for only here)
    except ImportError:
        return extend_in_python
    if google_crc32c.implementation != "c":
        return extend_in_python
    return cast("Callable[[int, bytes], int]", google_crc32c.extend)  # pyright: ignore[reportUnknownMemberType]


extend: Callable[[int, bytes], int] = _choose()
"""`extend(0, data)` is the check value of `data`; `extend(extend(0, a), b)` that of `a + b`."""
