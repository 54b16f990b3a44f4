"""One flipped bit, found and put back: CRC-32C tells where it was.

Among the lines that differ from a damaged one in a single bit, at most one verifies. That is evidence, not a
guess: a chance match has a probability of the line's bits in 2^32, and the line must also be a record.
"""

from __future__ import annotations

from typing import Final

from deltafold.journal import record
from deltafold.journal.crc32c import TABLE

MAX_LINE: Final = 1024 * 1024
"""Bytes of a line in which a bit is looked for."""
MAX_HEADER: Final = 4096
_SEAL_BYTES: Final = len(b',"crc":"01234567"}\n')


def restored(line: bytes, salt: bytes) -> bytes | None:
    """Return the line with its one wrong bit put right, or None when one bit does not explain it."""
    if not _SEAL_BYTES < len(line) <= MAX_LINE:
        return None
    front, ending = line[:-_SEAL_BYTES], line[-_SEAL_BYTES:]
    resealed = record.seal(front, salt)
    if _differ_by_one_bit(ending, resealed[-_SEAL_BYTES:]):
        return _as_record(resealed)
    stated = _stated(ending)
    if stated is None:
        return None
    place = _locate(len(front), record.checksum(front, salt) ^ stated)
    if place is None:
        return None
    index, bit = place
    fixed = bytearray(line)
    fixed[index] ^= bit
    return _as_record(bytes(fixed))


def joined(first: bytes, second: bytes, salt: bytes) -> bytes | None:
    """Return the one record that a false LF has cut in two, or None."""
    if not first.endswith(b"\n") or len(first) + len(second) > MAX_LINE:
        return None
    for bit in range(8):
        whole = first[:-1] + bytes([0x0A ^ (1 << bit)]) + second
        if record.verified(whole, salt):
            return _as_record(whole)
    return None


def header_salt(line: bytes) -> bytes | None:
    """Return the salt of a first line with one wrong bit (perhaps in the salt itself), or None."""
    fixed = header(line)
    return None if fixed is None else record.salt_of(fixed)


def header(line: bytes) -> bytes | None:
    """Return a first line with its one wrong bit put right. The salt is in it, so every bit is tried."""
    if len(line) > MAX_HEADER:
        return None
    trial = bytearray(line)
    for index in range(len(trial)):
        for bit in range(8):
            trial[index] ^= 1 << bit
            whole = bytes(trial)
            salt = record.salt_of(whole)
            if salt is not None and record.verified(whole, salt):
                return whole
            trial[index] ^= 1 << bit
    return None


def _differ_by_one_bit(one: bytes, other: bytes) -> bool:
    difference = int.from_bytes(one) ^ int.from_bytes(other)
    return difference.bit_count() == 1


def _stated(ending: bytes) -> int | None:
    """Return the check value that a line's ending states, or None when it has not the form of one."""
    digits = ending[8:16]
    if ending[:8] + ending[16:] != b',"crc":"' + b'"}\n' or digits.strip(b"0123456789abcdef"):
        return None
    return int(digits, 16)


def _locate(length: int, syndrome: int) -> tuple[int, int] | None:
    """Return index and bit of the one flip, in a text of this length, that changes its CRC by `syndrome`."""
    effects = [TABLE[1 << bit] for bit in range(8)]
    for index in range(length - 1, -1, -1):
        if syndrome in effects:
            return index, 1 << effects.index(syndrome)
        effects = [TABLE[effect & 255] ^ (effect >> 8) for effect in effects]
    return None


def _as_record(line: bytes) -> bytes | None:
    try:
        record.opened(line)
    except record.BadLine:
        return None
    return line
