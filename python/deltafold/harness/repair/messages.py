"""Mending messages: what the format, the inbox and the stream prove about id, role, source and content."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltafold.harness import edit
from deltafold.harness.calls import cited
from deltafold.harness.faults.messages import upgraded_events
from deltafold.harness.js import JsonValue, Record, as_record, deep_equal, map_key, stringify
from deltafold.harness.model.adopt import filled, has_provider_and_model, message_of, message_problem
from deltafold.harness.model.legacy import legacy_message_id
from deltafold.harness.repair.draft import preview
from deltafold.harness.repair.events import Routes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltafold.harness.edit import Path
    from deltafold.harness.repair.draft import Draft


def mend_messages(draft: Draft) -> None:
    """Mend every message as far as evidence reaches; ids of calls are not touched here."""
    upgraded = upgraded_events(draft.events, draft.session)
    evidence = _Evidence(_Inbox(draft.events), Routes(draft.events))
    for position, event in enumerate(upgraded):
        words = message_problem(event)
        if words is None:
            continue
        data = draft.events[position].get("data")
        legacy = event is not draft.events[position]
        if as_record(data) is None or (legacy and words != "message must have tool source"):
            draft.blocked.append(f"seq {position}: {words}, and nothing in the log proves what it was")
        elif not legacy:
            _Mender(draft, position, event, evidence).run()
    draft.refresh()


class _Inbox:
    """The messages that the inbox recorded, found by id or by content, nearest before a position first."""

    def __init__(self, events: Sequence[Record]) -> None:
        self.found: dict[tuple[str, str], list[tuple[int, Record]]] = {}
        for at, event in enumerate(events):
            for message in _inserted(event):
                content, identity = message.get("content"), message.get("id")
                if isinstance(content, list):
                    self.found.setdefault(("content", stringify(content)), []).append((at, message))
                if isinstance(identity, str) and identity:
                    self.found.setdefault(("id", identity), []).append((at, message))

    def before(self, position: int, key: tuple[str, str]) -> Record | None:
        """Return the one message of the nearest splice before a position; two of the same tell nothing."""
        entries = self.found.get(key, [])
        count = bisect_left(entries, position, key=lambda entry: entry[0])
        if not count or (count > 1 and entries[count - 2][0] == entries[count - 1][0]):
            return None
        return entries[count - 1][1]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the rest of the log records of messages."""

    inbox: _Inbox
    routes: Routes


class _Mender:
    """Mends one message event, rule after rule."""

    def __init__(self, draft: Draft, position: int, event: Record, evidence: _Evidence) -> None:
        self.draft = draft
        self.evidence = evidence
        self.position = position
        self.kind = str(event.get("type"))
        self.base: Path = ("data",) if self.kind == "user/message" else ("data", "message")
        self.message = as_record(message_of(event))

    def run(self) -> None:
        if self.message is None:
            self.block("message", "the message is not there")
            return
        self.identity(self.message)
        self.role(self.message)
        self.content(self.message)
        self.source(self.message)
        if self.kind == "tool/result":
            self.blocks(self.message)

    def block(self, what: str, why: str) -> None:
        self.draft.blocked.append(f"seq {self.position}: {what}: {why}")

    def put(self, path: Path, value: JsonValue, kind: str, why: str, origin: str) -> None:
        row = self.draft.owners[self.position]
        row.put((*self.base, *path), value)
        name = ".".join(str(part) for part in path)
        self.draft.changed_at(self.position, kind, why, origin, member=name, new=preview(value))

    def identity(self, message: Record) -> None:
        if filled(message.get("id")):
            return
        known = self.inbox(message)
        if known is not None:
            self.put(("id",), known["id"], "message-id", "the inbox recorded the same message", "recovered")
            return
        minted = legacy_message_id(self.draft.session, self.position)
        self.put(
            ("id",),
            minted,
            "message-id",
            "the id that the reader itself gives a message without one",
            "minted",
        )

    def inbox(self, message: Record) -> Record | None:
        """Return the message of the inbox with the same content."""
        content = message.get("content")
        if self.kind != "user/message" or not isinstance(content, list):
            return None
        found = self.evidence.inbox.before(self.position, ("content", stringify(content)))
        return found if found is not None and filled(found.get("id")) else None

    def same_id(self, message: Record) -> Record | None:
        """Return the message of the inbox with the same id."""
        identity = message.get("id")
        if self.kind != "user/message" or not isinstance(identity, str):
            return None
        return self.evidence.inbox.before(self.position, ("id", identity))

    def role(self, message: Record) -> None:
        wanted = "assistant" if self.kind == "assistant/message" else "user"
        if message.get("role") != wanted:
            self.put(("role",), wanted, "message-role", "the type of the event says so", "derived")

    def content(self, message: Record) -> None:
        if isinstance(message.get("content"), list):
            return
        if self.kind == "assistant/message":
            blocks = closed_blocks(self.draft, self.position)
            if blocks:
                why = "the blocks that its stream closed"
                self.put(("content",), blocks, "message-content", why, "recovered")
                return
        if self.kind == "user/message":
            spliced = self.same_id(message)
            if spliced is not None and isinstance(spliced.get("content"), list):
                why = "the inbox recorded the same message"
                self.put(("content",), spliced["content"], "message-content", why, "recovered")
                return
        self.block("content", "not an array, and nothing else records it")

    def source(self, message: Record) -> None:
        source = as_record(message.get("source"))
        if self.kind == "assistant/message":
            self.model_source(source or {})
        elif self.kind == "tool/result":
            if (source or {}).get("kind") != "tool":
                kept: Record = {"kind": "tool", "callId": (source or {}).get("callId", "")}
                self.put(("source",), kept, "result-source", "only a tool gives a tool/result", "derived")
        elif source is None or not filled(source.get("kind")):
            known = self.inbox(message) or self.same_id(message)
            spliced = None if known is None else as_record(known.get("source"))
            if spliced is None or not filled(spliced.get("kind")):
                self.block("source", "nothing in the log says who sent this message")
                return
            self.put(
                ("source",), spliced, "message-source", "the inbox recorded the same message", "recovered"
            )

    def model_source(self, source: Record) -> None:
        if source.get("kind") == "model" and has_provider_and_model(source):
            return
        known = self.evidence.routes.near(self.position)
        if known is None:
            self.block("source", "nothing in the log names provider and model")
            return
        mended: Record = {**source, "kind": "model"}
        for key in ("provider", "model"):
            mended[key] = source[key] if filled(source.get(key)) else known[key]
        self.put(("source",), mended, "message-source", "the request that it answers names them", "recovered")

    def blocks(self, message: Record) -> None:
        content = message.get("content")
        if not isinstance(content, list):
            return
        results = [
            at for at, block in enumerate(content) if (as_record(block) or {}).get("type") == "tool-result"
        ]
        wanted = (as_record(message.get("source")) or {}).get("callId")
        matching = [at for at in results if (as_record(content[at]) or {}).get("toolCallId") == wanted]
        same = matching and all(deep_equal(content[at], content[matching[0]]) for at in matching)
        single = results if len(results) == 1 else matching[:1] if same or len(matching) == 1 else []
        if not single:
            self.block("content", "which of its blocks is the result cannot be told")
        elif len(content) > 1:
            row = self.draft.owners[self.position]
            self.draft.take_out(row.raw, "a tool result with several blocks", row.number, self.position)
            row.write(edit.keep_members(row.raw, (*self.base, "content"), single))
            why = "the block of its call is kept, the others put aside"
            self.draft.changed_at(self.position, "result-blocks", why, "removed", member="content")
        if single and not isinstance((as_record(content[single[0]]) or {}).get("content"), list):
            self.block("content", "the result block has no content array")


def _inserted(event: Record) -> Iterator[Record]:
    if event.get("type") == "agent/inbox/spliced":
        inserted = (as_record(event.get("data")) or {}).get("inserted")
        for message in inserted if isinstance(inserted, list) else []:
            record = as_record(message)
            if record is not None:
                yield record


def closed_blocks(draft: Draft, position: int) -> list[JsonValue]:
    """Return the blocks that the stream cited by a message closed, in the order they were first seen."""
    order: dict[tuple[str, object], Record | None] = {}
    for seq in cited(draft.events[position]):
        if not 0 <= seq < position:
            continue
        chunk = as_record((as_record(draft.events[seq].get("data")) or {}).get("chunk")) or {}
        if "index" not in chunk:
            continue
        key = map_key(chunk["index"])
        order.setdefault(key, None)
        if chunk.get("type") == "block-end" and order[key] is None:
            order[key] = as_record(chunk.get("block"))
    blocks = [block for block in order.values() if block is not None]
    return [*blocks] if len(blocks) == len(order) else []
