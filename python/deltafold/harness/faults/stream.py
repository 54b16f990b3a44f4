"""The events of a document with their lines, and which lines stand in sequence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltafold.harness.faults.kinds import Fault
from deltafold.harness.js import UNDEFINED, Record, as_int, deep_equal

if TYPE_CHECKING:
    from deltafold.harness.document import Document, Line


@dataclass(slots=True)
class Stream:
    """The events that stand in sequence, each with its line, and the faults of sequence met on the way."""

    document: Document
    events: list[Record] = field(default_factory=list[Record])
    lines: list[Line] = field(default_factory=list["Line"])
    faults: list[Fault] = field(default_factory=list[Fault])
    expected: int = 0
    seen: dict[int, Record] = field(default_factory=dict[int, Record])

    def fault(self, kind: str, detail: str, line: Line, seq: int | None = None) -> Fault:
        """Build a fault at a line."""
        return Fault(kind, detail, seq, line.number, line.offset, self.document.frame_offset(line))

    def at(self, kind: str, detail: str, position: int) -> Fault:
        """Build a fault at an event of the stream."""
        seq = as_int(self.events[position].get("seq", UNDEFINED))
        return self.fault(kind, detail, self.lines[position], seq)

    def take(self, line: Line) -> None:
        """Add the events of one line, or name why they do not follow."""
        records = line.records
        seqs = [as_int(record.get("seq", UNDEFINED)) for record in records]
        first = seqs[0] if seqs else None
        if first is None or first < 0:
            self.faults.append(self.fault("seq-invalid", "seq is not a non-negative integer", line))
            return
        if first > self.expected:
            missing = first - self.expected
            detail = f"{missing} record(s) missing: seq {self.expected} to {first - 1}"
            self.faults.append(self.fault("seq-gap", detail, line, first))
        if first < self.expected and not self._again(line, records, first):
            return
        for record, seq in zip(records, seqs, strict=True):
            if seq is not None and seq not in self.seen:
                self.seen[seq] = record
                self.events.append(record)
                self.lines.append(line)
        self.expected = first + len(records)

    def _again(self, line: Line, records: list[Record], first: int) -> bool:
        """Name a repeated seq; True when the line goes beyond what is known and its rest counts."""
        known = [record for at, record in enumerate(records) if first + at in self.seen]
        identical = all(
            deep_equal(record, self.seen[first + at])
            for at, record in enumerate(records)
            if first + at in self.seen
        )
        kind = "seq-duplicate" if identical and known else "seq-fork"
        words = "stands twice, identical" if identical and known else "was used before for other content"
        self.faults.append(self.fault(kind, f"seq {first} {words}; {self.expected} was next", line, first))
        return not identical or first + len(records) > self.expected


def build_stream(document: Document) -> Stream:
    """Put the events of all parsable lines in sequence, damaged ones included."""
    stream = Stream(document)
    for line in document.lines:
        if line.ended and line.events is not None and line.records:
            stream.take(line)
    return stream
