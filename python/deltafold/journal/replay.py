"""Folding every raw stream again, and comparing it with what was recorded: same ids, names and arguments."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

import deltafold
from deltafold.journal.assistant import answer_of
from deltafold.journal.reader import Reader
from deltafold.policy import Limits, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltafold._stream import Malformed, WireName
    from deltafold.completion import Completion
    from deltafold.journal.record import Event
    from deltafold.journal.stores.base import ReadLog

Outcome = Literal["same", "differs", "missing", "changed", "failed", "unused"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One raw stream, folded again.

    `same`; `differs` (the recorded calls or text are others); `missing` (no such file); `changed` (its bytes
    are not those that were recorded); `failed` (it cannot be folded); `unused` (no record names it: its
    response failed, or nobody read it to its end).
    """

    outcome: Outcome
    stream: str
    seq: int | None
    reason: str = ""
    recorded: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    folded: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def replay(log: ReadLog, progress: Callable[[int, int], None] | None = None) -> Iterator[Replayed]:
    """Fold every raw stream of a session again.

    `progress` is called with the records and bytes read so far. Raises as a reader does.
    """
    unused = set(log.raw_names())
    reader = Reader(log)
    for event in reader.events():
        if progress is not None:
            progress(event.seq, reader.size)
        stream = event.data.get("stream") if event.type == "assistant/message" else None
        if stream is not None:
            unused.discard(stream["file"])
            yield _compare(log, event, stream)
    for name in sorted(unused):
        yield Replayed("unused", name, None, "no record names it")


def _compare(log: ReadLog, event: Event, stream: dict[str, Any]) -> Replayed:
    name, seq = stream["file"], event.seq
    try:
        data, digest = read_whole(log, name)
    except FileNotFoundError:
        return Replayed("missing", name, seq, "there is no such file")
    except OSError as error:
        return Replayed("changed", name, seq, str(error))
    if digest != stream["sha256"]:
        return Replayed("changed", name, seq, f"sha256 is {digest}, recorded was {stream['sha256']}")
    try:
        message = fold_again(data, stream)
    except (deltafold.DeltafoldError, TypeError, ValueError) as error:
        return Replayed("failed", name, seq, str(error))
    recorded, folded = identities(event.data["message"]), identities(message)
    if recorded != folded or _text(event.data["message"]) != _text(message):
        return Replayed("differs", name, seq, "the recorded message is another", recorded, folded)
    return Replayed("same", name, seq, "", recorded, folded)


def read_whole(log: ReadLog, name: str) -> tuple[list[bytes], str]:
    """Return a raw stream's chunks and their sha256. Raises `OSError`."""
    digest = hashlib.sha256()
    chunks: list[bytes] = []
    for chunk in log.read_raw(name):
        digest.update(chunk)
        chunks.append(chunk)
    return chunks, digest.hexdigest()


def fold_again(chunks: list[bytes], stream: dict[str, Any]) -> dict[str, Any]:
    """Return the message that a raw stream makes, folded as it was the first time.

    Empty where it makes none.
    """
    completion: Completion = deltafold.assemble(
        chunks,
        wire=cast("WireName", stream.get("wire", "auto")),
        policy=Policy(**stream["policy"]) if "policy" in stream else None,
        limits=Limits(**stream["limits"]) if "limits" in stream else None,
        malformed=cast("Malformed", stream.get("malformed", "raise")),
    )
    answer = answer_of(completion, None)
    return cast("dict[str, Any]", answer.entries[0][1]["message"]) if answer is not None else {}


def identities(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return id, name and arguments of each call of a message."""
    found: list[dict[str, Any]] = []
    for call in message.get("tool_calls", ()):
        body = call[call["type"]]
        text = body["input"] if call["type"] == "custom" else body["arguments"]
        found.append({"id": call["id"], "name": body["name"], "arguments": text})
    return found


def _text(message: dict[str, Any]) -> Any:  # noqa: ANN401
    return message.get("content") or ""
