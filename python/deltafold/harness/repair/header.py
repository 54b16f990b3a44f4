"""Mending the header line: from what the log, its directory and its neighbours prove."""

# Paths stay the strings that the reader forms and quotes.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from deltafold.harness import edit
from deltafold.harness.js import (
    UNDEFINED,
    JsonValue,
    Record,
    as_int,
    as_record,
    decode_utf8,
    parse,
    stringify,
)
from deltafold.harness.layout import NO_CWD, UnencodableError, artifact_name, project_key
from deltafold.harness.limits import RefusedError
from deltafold.harness.model.prefix import is_header, listed_header
from deltafold.harness.model.restore import header_problem
from deltafold.harness.repair.draft import Change
from deltafold.harness.source import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltafold.harness.repair.draft import Draft

_BOM = b"\xef\xbb\xbf"
_FIRST_LINE = 8192
_KEYS = rb"cwd|createdAt|parentSession|seedLength|origin|delegationDepth|agentPreset"
_MEMBER = re.compile(rb'"(' + _KEYS + rb')":("[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|[0-9]+)(?=[,}])')


def mend_header(draft: Draft) -> None:
    """Set `draft.header`; what cannot be proven blocks the plan."""
    line = draft.document.header
    raw = b"" if line is None else line.raw
    draft.header = raw
    if raw.startswith(_BOM):
        draft.header = raw.removeprefix(_BOM)
        draft.note(Change("header-bom", "a byte order mark is not JSON", "removed", line=1))
    if line is not None and not line.ended:
        draft.note(Change("header-missing", "the header line had no end", "derived", line=1))
    record = _parsed(draft.header)
    if record is None or record.get("type") != "session":
        _rebuild(draft, raw, as_event=record is not None)
        return
    if is_header(record):
        _mend_fields(draft, record)
    else:
        _mend_shape(draft, record)


def _parsed(raw: bytes) -> Record | None:
    try:
        return as_record(parse(decode_utf8(raw)))
    except ValueError:
        return None


def _first_time(draft: Draft) -> int | None:
    return next(
        (time for event in draft.events if (time := as_int(event.get("time", UNDEFINED))) is not None), None
    )


def _put(draft: Draft, key: str, value: JsonValue, why: str, origin: str = "derived") -> None:
    old = (as_record(_parsed(draft.header)) or {}).get(key)
    draft.header = edit.put(draft.header, (key,), value)
    draft.note(
        Change("header-shape", why, origin, line=1, member=key, old=stringify(old), new=stringify(value))
    )


def _mend_shape(draft: Draft, record: Record) -> None:
    """Complete a header that is one in type but lacks a member that can be told."""
    time = _first_time(draft)
    created = as_int(record.get("createdAt", UNDEFINED))
    if (
        created is None or created < 0 or stringify(record["createdAt"]).startswith("-")
    ) and time is not None:
        _put(draft, "createdAt", time, "the time of the first event", "recovered")
    depth = as_int(record.get("delegationDepth", UNDEFINED))
    if (depth is None or depth < 0) and "origin" not in record and "parentSession" not in record:
        _put(draft, "delegationDepth", 0, "no origin and no parent: the writer's own default")
    if not isinstance(record.get("id"), str) and draft.place.session:
        _put(draft, "id", draft.place.session, "the directory is named after it", "recovered")
    mended = _parsed(draft.header)
    if mended is None or not is_header(mended):
        draft.blocked.append("the header lacks members that nothing else proves")
        return
    _mend_fields(draft, mended)


def _mend_fields(draft: Draft, record: Record) -> None:
    if "sandboxMode" in record or "approvalPolicy" in record:
        draft.blocked.append(
            "the header carries a retired policy; whether to drop it is not for a repair to say"
        )
    problem = header_problem(record)
    if problem is None:
        return
    if "cwd" in problem:
        cwd = _known_cwd(draft) or _absolute(draft, record.get("cwd"))
        if cwd is not None:
            _put(draft, "cwd", cwd, "absolute, and of the same project directory", "recovered")
            return
    elif "seedLength" in problem:
        seed = next(
            (at for at, event in enumerate(draft.events) if event.get("type") == "session/end-seed"), None
        )
        if not isinstance(record.get("parentSession"), str):
            draft.header = edit.remove(draft.header, ("seedLength",))
            draft.note(
                Change(
                    "header-field",
                    "no parent session: nothing was inherited",
                    "removed",
                    line=1,
                    member="seedLength",
                )
            )
            return
        if seed is not None:
            _put(draft, "seedLength", seed, "the seed ends at its session/end-seed", "recovered")
            return
    draft.blocked.append(problem)


def _absolute(draft: Draft, cwd: JsonValue) -> str | None:
    """Return a relative cwd made absolute, when that names the same project directory."""
    if not isinstance(cwd, str) or not cwd or draft.place.root is None:
        return None
    candidate = "/" + cwd
    return candidate if project_key(candidate) == _project(draft) else None


def _project(draft: Draft) -> str:
    return os.path.basename(os.path.dirname(os.path.dirname(draft.place.path)))


def _known_cwd(draft: Draft, shown: JsonValue = None) -> str | None:
    """Return the working directory that operator, header or neighbouring sessions name.

    It has to fit the directory.
    """
    candidates = [draft.options.cwd] if draft.options.cwd is not None else list(_neighbours(draft))
    if isinstance(shown, str):
        candidates = [shown]
    fitting: set[str] = set()
    for cwd in candidates:
        try:
            if cwd.startswith("/") and (draft.place.root is None or project_key(cwd) == _project(draft)):
                fitting.add(cwd)
        except UnencodableError:
            continue
    return fitting.pop() if len(fitting) == 1 else None


def _neighbours(draft: Draft) -> Iterator[str]:
    """Yield the cwd of other plain sessions of the same project directory."""
    if draft.place.root is None:
        return
    project = os.path.dirname(os.path.dirname(draft.place.path))
    with os.scandir(project) as entries:
        directories = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    for directory in directories[:64]:
        path = os.path.join(directory, artifact_name("none"))
        if path == draft.place.path:
            continue
        meta = _header_of(path)
        cwd = None if meta is None else meta.get("cwd")
        if isinstance(cwd, str):
            yield cwd


def _header_of(path: str) -> Record | None:
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            first = file.read(_FIRST_LINE).split(b"\n", 1)
        return listed_header(first[0]) if len(first) > 1 else None
    except (OSError, RefusedError):
        return None


def _rebuild(draft: Draft, raw: bytes, *, as_event: bool) -> None:
    """Write a new header where the old one cannot be read; members that still show in its bytes are kept."""
    session, time = draft.place.session or "", _first_time(draft)
    shown = {} if as_event else _shown_members(raw)
    no_cwd = draft.place.root is not None and _project(draft) == NO_CWD
    cwd = None if no_cwd else _known_cwd(draft, shown.get("cwd"))
    created = as_int(shown.get("createdAt", UNDEFINED))
    if not session or (time is None and created is None):
        draft.blocked.append("nothing that could be opened is stored")
        return
    if cwd is None and not no_cwd:
        draft.blocked.append("the header is lost; its working directory is not known (give --cwd)")
        return
    record: Record = {
        "type": "session",
        "version": 0,
        "id": session,
        "createdAt": time if created is None else created,
    }
    if cwd is not None:
        record["cwd"] = cwd
    for key in ("parentSession", "seedLength", "origin"):
        if key in shown:
            record[key] = shown[key]
    record["delegationDepth"] = shown.get("delegationDepth", 0)
    if "agentPreset" in shown:
        record["agentPreset"] = shown["agentPreset"]
    draft.header = stringify(record).encode()
    if raw and not as_event:
        draft.take_out(raw, "what stood in place of the header", 1)
    why = "rebuilt from what its bytes still show, the directory, the first event and the working directory"
    draft.note(Change("header-not-json", why, "derived", line=1, new=stringify(record)))


def _shown_members(raw: bytes) -> Record:
    """Return the members of a header that can still be read in its damaged bytes."""
    shown: Record = {}
    for match in _MEMBER.finditer(raw):
        try:
            shown[match.group(1).decode()] = parse(decode_utf8(match.group(2)))
        except ValueError:
            continue
    return shown
