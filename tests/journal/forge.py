"""Logs written without any judgement, as a buggy or hostile program would, but with right check values."""

from __future__ import annotations

import io
import json
import secrets
from typing import TYPE_CHECKING, Any

from deltafold.journal import record
from deltafold.journal.reader import Reader
from deltafold.journal.stores.files import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from deltafold.journal.record import Event
    from deltafold.journal.stores.base import Line

TIME = "2026-01-02T03:04:05.000006Z"


def line(seq: Any, kind: Any, data: Any, salt: bytes, time: Any = TIME) -> bytes:
    """One sealed line, whatever it says; also what no JSON text may hold, where Python can write it."""
    members = {"seq": seq, "time": time, "type": kind, "data": data}
    try:
        body = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        body = json.dumps(members, separators=(",", ":")).encode("ascii")
    return record.seal(body[:-1], salt)


def start(session: str, salt: bytes, **members: Any) -> tuple[str, dict[str, Any]]:
    """The first record of a log."""
    data = {"format": 1, "session": session, "writer": "forge", "salt": salt.hex(), **members}
    return "session/start", data


def log(entries: Iterable[tuple[Any, Any]], *, session: str = "s", salt: bytes | None = None) -> bytes:
    """A whole log: its first record and these entries, numbered."""
    salt = salt or secrets.token_bytes(16)
    numbered = enumerate([start(session, salt), *entries])
    return b"".join(line(seq, kind, data, salt) for seq, (kind, data) in numbered)


def put(root: Path, data: bytes, session: str = "s") -> Path:
    """Place a log in a root, as the session's journal."""
    directory = root / session
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "journal.jsonl").write_bytes(data)
    return directory / "journal.jsonl"


class BytesLog:
    """A log in memory, for reading."""

    tears = True
    location = "memory"

    def __init__(self, data: bytes, session: str = "s") -> None:
        self.data = data
        self.session = session

    def lines(self, *, seq: int = 0, offset: int = 0) -> Iterator[Line]:  # noqa: ARG002
        return split_lines(io.BytesIO(self.data), offset)

    def refused_lines(self) -> Iterator[Line]:
        return iter(())

    def raw_names(self) -> list[str]:
        return []

    def read_raw(self, name: str) -> Iterator[bytes]:
        raise FileNotFoundError(name)

    def wait(self, *, seq: int, offset: int, timeout: float) -> bool:  # noqa: ARG002
        return False

    def backup(self) -> str | None:
        return None


def read(data: bytes, session: str = "s") -> tuple[list[Event], Reader]:
    """The events of a log in memory, and the reader that read them; raises as every reader does."""
    reader = Reader(BytesLog(data, session))
    return list(reader.events()), reader


# Records of a small agent session.


def call(call_id: str = "call_1", name: str = "look_up", arguments: str = '{"q":"tea"}') -> dict[str, Any]:
    """A call of an assistant message."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(text: str = "What is tea?") -> tuple[str, dict[str, Any]]:
    return "user/message", {"message": {"role": "user", "content": text}}


def assistant(*calls: dict[str, Any], text: str | None = None, **members: Any) -> tuple[str, dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    return "assistant/message", {"message": message, "finish_reason": "tool_calls", **members}


def started(
    call_id: str = "call_1", name: str = "look_up", arguments: str = '{"q":"tea"}'
) -> tuple[str, dict[str, Any]]:
    return "tool/call", {"call_id": call_id, "name": name, "arguments": arguments}


def result(call_id: str = "call_1", content: Any = "a drink", **members: Any) -> tuple[str, dict[str, Any]]:
    source = {"kind": "tool", "call_id": call_id}
    return "tool/result", {
        "call_id": call_id,
        "content": content,
        "is_error": False,
        "source": source,
        **members,
    }


def turn(number: int = 0) -> tuple[str, dict[str, Any]]:
    return "turn/start", {"turn": number}


def end(number: int = 0, reason: str = "done") -> tuple[str, dict[str, Any]]:
    return "turn/end", {"turn": number, "reason": reason}


CLOSE: tuple[str, dict[str, Any]] = ("session/close", {})


def session(turns: int = 1) -> list[tuple[str, dict[str, Any]]]:
    """A whole, healthy session; ids repeat over turns, as some servers send them."""
    entries: list[tuple[str, dict[str, Any]]] = []
    for number in range(turns):
        entries += [turn(number), user(), assistant(call()), started(), result()]
        entries += [assistant(text="Tea is a drink."), end(number)]
    return [*entries, CLOSE]
