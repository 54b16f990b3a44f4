"""Where an identity comes back from: the raw stream, folded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import deltafold
from deltafold.journal.assistant import answer_of
from deltafold.journal.replay import fold_again, identities, read_whole

if TYPE_CHECKING:
    from deltafold.journal.record import Event
    from deltafold.journal.stores.base import ReadLog


class Evidence:
    """The raw streams of one session."""

    def __init__(self, log: ReadLog) -> None:
        """Look nowhere yet."""
        self._log = log

    def calls_of(self, event: Event) -> list[dict[str, Any]] | None:
        """Return id, name and arguments of each call in the stream that a message names.

        None when it proves nothing.
        """
        stream = event.data.get("stream")
        if not isinstance(stream, dict):
            return None
        named = cast("dict[str, Any]", stream)
        try:
            chunks, digest = read_whole(self._log, named["file"])
            if digest != named["sha256"]:
                return None
            return identities(fold_again(chunks, named))
        except (OSError, KeyError, TypeError, ValueError, deltafold.DeltafoldError):
            return None

    def message_at(self, event: Event) -> dict[str, Any] | None:
        """Return the data of an unproven `assistant/message` from the stream that was kept for its seq."""
        prefix = f"raw/{event.seq:08d}-"
        names = [name for name in self._log.raw_names() if name.startswith(prefix)]
        if len(names) != 1:
            return None
        try:
            chunks, digest = read_whole(self._log, names[0])
            completion = deltafold.assemble(chunks)
        except (OSError, ValueError, deltafold.DeltafoldError):
            return None
        size = sum(map(len, chunks))
        stream = {"file": names[0], "sha256": digest, "bytes": size, "wire": completion.wire}
        answer = answer_of(completion, stream)
        return answer.entries[0][1] if answer is not None else None
