"""Anthropic Messages: blocks by index, each with its start, deltas and stop (W2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from deltafold._json import JsonObject, is_object
from deltafold.reference import json
from deltafold.reference.build import tool_call
from deltafold.reference.call import ToolDelta
from deltafold.reference.extras import Extras
from deltafold.reference.text import Text, clean_value, weigh
from deltafold.reference.wire.members import arguments_of, identity_of, index_of, object_in, remark, string_in

if TYPE_CHECKING:
    from deltafold.reference.call import Call
    from deltafold.reference.choice import ChoiceState
    from deltafold.reference.fold import Fold
    from deltafold.reference.json import Document

DECIDING = frozenset(
    f"{subject}_{verb}" for subject in ("message", "content_block") for verb in ("start", "delta", "stop")
)
KEPT = ("context_management", "container", "stop_details")
KNOWN_IN_CALL = frozenset({"type", "id", "name", "input"})
CALL_BLOCK = "tool_use"
TEXT_BLOCKS = {"text": "content", "thinking": "reasoning"}
"""Blocks with a text, which is the member of the block's own name, and the choice's text that it joins."""

DELTA_BLOCKS = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "compaction_delta": "compaction",
}
"""The block that a delta is for; `input_json_delta` is for every block of a tool's use."""


class Block:
    """A content block: a call, or members with a text or the JSON text of an input."""

    __slots__ = ("call", "closed", "input", "kind", "members", "text")

    def __init__(self, kind: str, members: Extras) -> None:
        """Begin a block."""
        self.kind = kind
        self.members = members
        self.text = Text()
        self.input = Text()
        self.call: Call | None = None
        self.closed = False

    @property
    def takes_input(self) -> bool:
        """Whether the block is a tool's use, the client's or the server's."""
        return self.kind.endswith(CALL_BLOCK)


class AnthropicMessages:
    """Folds the events of a message."""

    name: ClassVar[str] = "anthropic-messages"
    sources: ClassVar[frozenset[str]] = frozenset({"input", "partial_json"})

    def __init__(self, fold: Fold) -> None:
        """Fold into the given response."""
        self.failed = False
        self._fold = fold
        self._blocks: list[Block] = []
        self._open: dict[int | None, Block] = {}
        self._started = False
        self._handlers = {
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
        }

    @staticmethod
    def owns(payload: JsonObject, kind: str) -> bool:  # noqa: ARG004
        """Exactly these events decide (W1)."""
        return kind in DECIDING

    def fold(self, document: Document, event: str) -> None:
        """Fold one event by its type, or by its name where it has none."""
        kind = document.value.get("type")
        kind = kind if isinstance(kind, str) else event
        self.failed = kind == "error"
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(document, self._fold.choice(0))

    def error(self, document: Document) -> None:  # noqa: ARG002
        """Errors stand in the payload itself."""
        return

    def close(self) -> None:
        """End the texts of blocks that were not stopped."""
        for block in self._blocks:
            if not block.closed:
                self._end_texts(block)

    def blocks(self) -> list[JsonObject]:
        """Give the blocks in order, so that they can be sent back (X6)."""
        return [self._value(block) for block in self._blocks]

    def _report(self, kind: str, detail: str) -> None:
        self._fold.quirks.report(kind, 0, None, detail)

    # the message

    def _message_start(self, document: Document, choice: ChoiceState) -> None:  # noqa: ARG002
        message = object_in(document.value, "message", "", self._report)
        if message is None:
            return
        if not self._started:
            self._started = True
            response_id = string_in(message, "id", "message", self._report)
            self._fold.take_origin(response_id, string_in(message, "model", "message", self._report), None)
            self._keep(message)
        self._take_usage(message, "message")

    def _message_delta(self, document: Document, choice: ChoiceState) -> None:
        payload = document.value
        delta = object_in(payload, "delta", "", self._report) or {}
        reason = string_in(delta, "stop_reason", "delta", self._report)
        if reason:
            self._fold.finish_reason(choice, reason)
        self._keep(delta)
        self._keep(payload)
        self._take_usage(payload, "")

    def _message_stop(self, document: Document, choice: ChoiceState) -> None:  # noqa: ARG002
        self._fold.marked = True

    def _keep(self, parent: JsonObject) -> None:
        for key in KEPT:
            self._fold.extra.put(key, parent.get(key))

    def _take_usage(self, parent: JsonObject, path: str) -> None:
        """Lay each later non-null member over what stands."""
        usage = object_in(parent, "usage", path, self._report)
        if not usage:
            return
        usage = self._fold.clean_kept(usage)
        standing = self._fold.usage
        if standing is not None:
            usage = {**standing, **{key: value for key, value in usage.items() if value is not None}}
        self._fold.accept_usage(usage)

    # blocks

    def _index(self, payload: JsonObject) -> int | None:
        index = index_of(payload, "index", "", self._report)
        if index is None:
            self._report("index-missing", "")
        return index

    def _block_start(self, document: Document, choice: ChoiceState) -> None:
        payload = document.value
        index = self._index(payload)
        start = object_in(payload, "content_block", "", self._report)
        if start is None:
            return
        standing = self._open.get(index)
        if standing is not None:
            self._close_block(standing, choice)
        kind = string_in(start, "type", "content_block", self._report)
        block = Block(kind, self._extras())
        self._fold.block_count = len(self._blocks)
        if kind == CALL_BLOCK:
            self._start_call(document, start, index, block, choice)
        self._blocks.append(block)
        self._open[index] = block
        if block.call is None:
            self._start_members(start, block, choice)

    def _extras(self) -> Extras:
        def report_lone(lone: int) -> None:
            self._fold.quirks.report("lone-surrogate", 0, count=lone)

        return Extras(self._fold.budget, self._fold.place, report_lone)

    def _start_call(
        self,
        document: Document,
        start: JsonObject,
        index: int | None,
        block: Block,
        choice: ChoiceState,
    ) -> None:
        """Open a call; the input of its start counts when none is streamed."""
        delta = ToolDelta()
        report = remark(delta)
        delta.index = index
        delta.id = identity_of(start, "id", "content_block", report)
        delta.name = identity_of(start, "name", "content_block", report)
        delta.extra = {key: value for key, value in start.items() if key not in KNOWN_IN_CALL}
        given = object_in(start, "input", "content_block", report)
        call = block.call = self._fold.open_call(choice, delta)
        for kind, detail in delta.remarks:
            self._fold.quirks.report(kind, 0, call.position, detail)
        self._fold.fold_into(choice, call, delta)
        if given:
            self._fold.take_fallback(call, document.source(start, "input"))

    def _start_members(self, start: JsonObject, block: Block, choice: ChoiceState) -> None:
        """Keep the start of a block; its text counts."""
        text_of = TEXT_BLOCKS.get(block.kind)
        if text_of is None:
            block.members.keep(start)
            return
        block.members.keep({key: value if key != block.kind else "" for key, value in start.items()})
        text = string_in(start, block.kind, "content_block", self._report)
        self._fold.text(choice, text_of, text or "", block.text)

    def _block_delta(self, document: Document, choice: ChoiceState) -> None:
        payload = document.value
        index = self._index(payload)
        delta = object_in(payload, "delta", "", self._report)
        if delta is None:
            return
        block = self._open.get(index)
        kind = delta.get("type")
        if block is None or not isinstance(kind, str):
            self._report("wrong-type", "index" if block is None else "delta.type")
        elif kind == "input_json_delta" and block.takes_input:
            self._input(document, delta, block, choice)
        elif DELTA_BLOCKS.get(kind) == block.kind:
            self._member(kind, delta, block, choice)
        else:
            self._report("wrong-type", "delta.type")

    def _input(self, document: Document, delta: JsonObject, block: Block, choice: ChoiceState) -> None:
        call = block.call
        position = None if call is None else call.position

        def report(kind: str, detail: str) -> None:
            self._fold.quirks.report(kind, 0, position, detail)

        fragment = arguments_of(document, delta, "partial_json", "delta", report)
        if call is not None and fragment:
            self._fold.note_late(choice)
            self._fold.append_arguments(choice, call, fragment)
        elif call is None:
            visible, lone = block.input.prepare(fragment)
            self._fold.quirks.report("lone-surrogate", 0, count=lone)
            self._fold.budget.spend(weigh(visible))
            block.input.append(visible)

    def _member(self, kind: str, delta: JsonObject, block: Block, choice: ChoiceState) -> None:
        """Fold a delta of a text, signature (the last stands), citations (appended) or summary (joined)."""
        report = self._report
        if kind == "text_delta":
            self._fold.text(choice, "content", string_in(delta, "text", "delta", report), block.text)
        elif kind == "thinking_delta":
            self._fold.text(choice, "reasoning", string_in(delta, "thinking", "delta", report), block.text)
        elif kind == "signature_delta":
            block.members.put("signature", string_in(delta, "signature", "delta", report) or None)
        elif kind == "citations_delta":
            citation = object_in(delta, "citation", "delta", report)
            block.members.append("citations", None if citation is None else [citation])
        else:
            content = string_in(delta, "content", "delta", report)
            if content:
                block.members.join("content", content)
            opaque = string_in(delta, "encrypted_content", "delta", report)
            block.members.put("encrypted_content", opaque or None)

    def _block_stop(self, document: Document, choice: ChoiceState) -> None:
        index = self._index(document.value)
        block = self._open.get(index)
        if block is None:
            self._report("wrong-type", "index")
            return
        del self._open[index]
        self._close_block(block, choice)

    def _close_block(self, block: Block, choice: ChoiceState) -> None:
        """End a block, at its stop or at the next start of its index."""
        block.closed = True
        if block.call is not None:
            self._fold.close_call(choice, block.call)
        self._end_texts(block)

    def _end_texts(self, block: Block) -> None:
        if block.kind in TEXT_BLOCKS:
            self._fold.end_text(self._fold.choice(0), TEXT_BLOCKS[block.kind], block.text)
        block.members.flush()
        visible = block.input.flush()
        self._fold.quirks.report("lone-surrogate", 0, count=len(visible))
        block.input.append(visible)

    def _value(self, block: Block) -> JsonObject:
        if block.call is not None:
            call = tool_call(self._fold, self._fold.choice(0), block.call)
            return {
                "type": CALL_BLOCK,
                "id": call.id,
                "name": call.name,
                "input": self._parsed(call.arguments) if call.arguments else {},
                **call.extra,
            }
        value = block.members.value()
        if block.kind in TEXT_BLOCKS:
            value[block.kind] = str(block.text)
        if block.input:
            value["input"] = self._parsed(str(block.input))
        return value

    def _parsed(self, text: str) -> Any:  # noqa: ANN401
        """Give an input as its object; the text itself where it is none, so that nothing is lost."""
        try:
            value = json.parse(text, self._fold.limits.depth).value
        except (json.MalformedJsonError, json.TooDeepError):
            return text
        return clean_value(value)[0] if is_object(value) else text
