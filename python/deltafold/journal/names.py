"""Session ids and the directories that hold them.

An id is any text; its directory name is that text percent-encoded, so that no id can leave the root or mean
something to a file system. The two map one to one: a directory whose name is not the encoding of an id is no
session.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

MAX_NAME: Final = 200
"""Bytes of a directory name; file systems allow 255."""

# What Windows keeps for devices, also with an extension.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class BadSessionId(ValueError):  # noqa: N818  (public name, reads as the thing that is wrong)
    """A session id that no directory can be named by."""


def directory_name(session: str) -> str:
    """Return the directory name of a session id.

    Letters, digits, `-`, `_`, `~` and inner dots stand for themselves, everything else is percent-encoded. A
    name that would begin or end with a dot (`.`, `..`), or that is reserved, has that character encoded too.
    Raises `BadSessionId` for an empty id, one with control characters (NUL) or lone surrogates, and one
    longer than 200 bytes encoded.
    """
    if not session:
        raise BadSessionId("a session id is not empty")
    if _CONTROL.search(session):
        raise BadSessionId(f"a session id holds no control characters: {session!r}")
    try:
        name = quote(session, safe="")
    except UnicodeEncodeError:
        raise BadSessionId(f"a session id holds no lone surrogates: {session!r}") from None
    if name.startswith(".") or _RESERVED.match(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith("."):
        name = f"{name[:-1]}%2E"
    if len(name) > MAX_NAME:
        raise BadSessionId(f"a session id encodes to at most {MAX_NAME} bytes, this one to {len(name)}")
    return name


def session_id(name: str) -> str | None:
    """Return the session id that a directory name encodes, or None when it encodes none."""
    try:
        session = unquote(name, errors="strict")
        return session if directory_name(session) == name else None
    except (UnicodeDecodeError, BadSessionId):
        return None
