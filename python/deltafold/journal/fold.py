"""One response on its way into the history."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import deltafold
    from deltafold import Completion, DeltafoldError, Limits, Policy
    from deltafold._stream import Malformed
    from deltafold.events import Event
    from deltafold.journal.chunks import Bytes
    from deltafold.journal.stores.base import RawSink
    from deltafold.journal.writer import Writer


class Fold:
    """One response on its way into the history: raw bytes aside first, then events, then the records."""

    def __init__(self, writer: Writer, assembler: deltafold.Assembler, sink: RawSink | None) -> None:
        """Begin before the first chunk."""
        self._writer = writer
        self._assembler = assembler
        self._sink = sink
        self._options: dict[str, Any] = {}
        self.stream: dict[str, Any] | None = None
        self.completion: Completion | None = None
        self.settled = False

    def note_options(self, policy: Policy | None, limits: Limits | None, malformed: Malformed) -> None:
        """Keep what the response is folded by, where it is not the default."""
        if policy is not None:
            self._options["policy"] = asdict(policy)
        if limits is not None:
            self._options["limits"] = asdict(limits)
        if malformed != "raise":
            self._options["malformed"] = malformed

    def feed(self, chunk: Bytes) -> list[Event]:
        """Keep a chunk and return the events in it. Raises `JournalFailed` where it cannot be kept."""
        if self._sink is not None:
            with self._writer.dying():
                self._sink.write(chunk)
        return self._assembler.feed(chunk)

    @property
    def error(self) -> DeltafoldError | None:
        """The stream's error, to be raised once the events before it are handed out (P7)."""
        return self._assembler.error

    def finish(self) -> list[Event]:
        """Return the last events."""
        return self._assembler.finish()

    def keep_raw(self) -> None:
        """Make the raw stream durable and note what it was."""
        if self._sink is None or self.stream is not None:
            return
        with self._writer.dying():
            digest, count = self._sink.finish()
        self.stream = {"file": self._sink.name, "sha256": digest, "bytes": count}

    def close(self) -> Completion:
        """Return the completion.

        The stream's note then names its wire and options, so that replay folds it the same way.
        """
        self.completion = self._assembler.close()
        if self.stream is not None:
            self.stream |= {"wire": self.completion.wire, **self._options}
        return self.completion

    def abandon(self) -> None:
        """Give the raw stream's file back; what was written stays."""
        if self._sink is not None:
            self._sink.abandon()

    def partial(self) -> Completion:
        """Return what there is of a response that failed."""
        error = self._assembler.error
        partial = error.partial if error is not None else None
        return partial if partial is not None else self._assembler.snapshot()
