"""OpenAI Responses: items by output index, deltas appended, snapshots compared (W3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deltafold._json import JsonObject, is_object
from deltafold.errors import ProviderError
from deltafold.reference.call import ToolDelta
from deltafold.reference.identity import accept
from deltafold.reference.provider import is_error, provider_error
from deltafold.reference.text import Text, clean, weigh
from deltafold.reference.wire.members import (
    arguments_of,
    identity_of,
    index_of,
    list_in,
    number_in,
    object_in,
    objects,
    remark,
    string_in,
)
from deltafold.reference.wire.response_items import CALL_KINDS, Items
from deltafold.reference.wire.response_parts import PART_LISTS, PART_MEMBER, PART_TEXTS, PartFolder

if TYPE_CHECKING:
    from deltafold.reference.call import Call
    from deltafold.reference.choice import ChoiceState
    from deltafold.reference.fold import Fold
    from deltafold.reference.json import Document
    from deltafold.reference.wire.members import Report
    from deltafold.reference.wire.response_items import Item

PREFIX = "response."
TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
KNOWN_IN_CALL = frozenset({"type", "id", "call_id", "name", "arguments", "input", "status"})
ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}

TEXT_EVENTS = {
    "response.output_text": ("message", "output_text", "content_index"),
    "response.refusal": ("message", "refusal", "content_index"),
    "response.reasoning_text": ("reasoning", "reasoning_text", "content_index"),
    "response.reasoning_summary_text": ("reasoning", "summary_text", "summary_index"),
}
"""Events of a part's text: its item, its kind, the member with its place."""

CALL_EVENTS = {
    "response.function_call_arguments": "function_call",
    "response.custom_tool_call_input": "custom_tool_call",
}
JOINED_EVENTS = {
    "response.code_interpreter_call_code": ("code_interpreter_call", "code", "code"),
    "response.mcp_call_arguments": ("mcp_call", "arguments", "arguments"),
    "response.apply_patch_call_operation_diff": ("apply_patch_call", "operation.diff", "diff"),
}
"""Events of a block's own text: its item, the member that it joins, the member of the done event."""


class OpenAIResponses:
    """Folds the events of a response."""

    name: ClassVar[str] = "openai-responses"
    sources: ClassVar[frozenset[str]] = frozenset({"arguments", "input", "delta"})

    def __init__(self, fold: Fold) -> None:
        """Fold into the given response."""
        self.failed = False
        self._response_failed = False
        self._fold = fold
        self._items = Items(fold.budget)
        self._parts = PartFolder(fold, self._items, self._report)
        self._block_count = 0

    @staticmethod
    def owns(payload: JsonObject, kind: str) -> bool:  # noqa: ARG004
        """All its events are of the response (W1)."""
        return kind.startswith(PREFIX)

    def fold(self, document: Document, event: str) -> None:
        """Fold one event by its type, or by its name where it has none."""
        kind = document.value.get("type")
        kind = kind if isinstance(kind, str) else event
        self._response_failed = kind == "response.failed"
        self.failed = self._response_failed or kind == "error"
        if not kind.startswith(PREFIX):
            return
        choice = self._fold.choice(0)
        subject, _, verb = kind.rpartition(".")
        if kind in {"response.output_item.added", "response.output_item.done"}:
            self._item(document, choice, done=verb == "done")
        elif kind in {"response.content_part.done", "response.reasoning_summary_part.done"}:
            self._part_done(document, choice, subject)
        elif kind == "response.output_text.annotation.added":
            self._annotation(document, choice)
        elif verb in {"delta", "done"}:
            self._text_event(document, choice, subject, done=verb == "done")
        self._response(document, choice, kind)

    def error(self, document: Document) -> ProviderError | None:
        """Give the error of a failed response: its own, else that of its event."""
        if not self._response_failed:
            return None
        place = self._fold.place
        response = document.value.get("response")
        for holder in (response, document.value):
            if is_object(holder) and is_error(holder.get("error")):
                error = holder["error"]
                source = document.source(holder, "error") if is_object(error) else ""
                return provider_error(error, source, place.frame, place.offset)
        return ProviderError("the response failed", frame=place.frame, offset=place.offset)

    def close(self) -> None:
        """End the texts of items that were not done."""
        for item in self._items.all:
            if not item.closed:
                self._parts.end(item)

    def blocks(self) -> list[JsonObject]:
        """Give the items that are no calls, in order."""
        return [item.block() for item in self._items.all if item.call is None]

    def _report(self, kind: str, detail: str) -> None:
        self._fold.quirks.report(kind, 0, None, detail)

    # finding items

    def _locate(
        self,
        payload: JsonObject,
        kind: str,
        item_id: str | None,
        choice: ChoiceState,
        verb: str = "",
    ) -> Item:
        """Give the item of an event, begun when it is not known yet.

        An event that says what an item is, by `added` or `done`, begins another one where a call meets what
        is none. Without index and id the last item is meant, but an added one is always another.
        """
        index = index_of(payload, "output_index", "", self._report)
        if index is None and item_id is None:
            self._report("index-missing", "")
            item = None if verb == "added" else self._items.last_open
            if item is not None and verb and item.kind != kind:
                item = None
        else:
            item = self._items.find(index, item_id)
        if item is not None and verb and kind and kind != item.kind and (kind in CALL_KINDS or item.call):
            item = None
        if item is None:
            return self._open(kind, index, item_id, choice)
        self._items.bind(item, index, item_id)
        return item

    def _open(self, kind: str, index: int | None, item_id: str | None, choice: ChoiceState) -> Item:
        self._fold.block_count = self._block_count
        delta = ToolDelta("custom" if CALL_KINDS.get(kind) == "custom" else "function")
        delta.index = index
        call = self._fold.open_call(choice, delta) if kind in CALL_KINDS else None
        item = self._items.open(kind, index)
        item.call = call
        self._block_count += call is None
        self._items.bind(item, index, item_id)
        return item

    def _item_id(self, parent: JsonObject, key: str, path: str) -> str | None:
        item_id = accept(string_in(parent, key, path, self._report))
        return item_id and self._fold.clean(item_id, 0)

    # items

    def _item(self, document: Document, choice: ChoiceState, *, done: bool) -> None:
        payload = document.value
        entry = object_in(payload, "item", "", self._report)
        if entry is None:
            return
        kind = string_in(entry, "type", "item", self._report)
        item = self._locate(
            payload, kind, self._item_id(entry, "id", "item"), choice, "done" if done else "added"
        )
        self._snapshot(document, entry, item, "item", choice, done=done)
        if done and not item.closed:
            item.closed = True
            self._parts.end(item)
            if item.call is not None:
                self._fold.close_call(choice, item.call)

    def _snapshot(  # noqa: PLR0913
        self,
        document: Document,
        entry: JsonObject,
        item: Item,
        path: str,
        choice: ChoiceState,
        *,
        done: bool,
    ) -> None:
        """Take what an item is said to be as a whole."""
        if item.call is not None:
            self._call_snapshot(document, entry, item, path, choice, done=done)
            return
        kind = entry.get("type")
        if isinstance(kind, str) and kind in CALL_KINDS:
            self._report("wrong-type", f"{path}.type")
            return
        if isinstance(kind, str) and kind:
            item.kind = kind
        if done:
            self._parts.item_snapshot(item, entry, path)
        item.keep(entry, self._fold, done=done)

    def _call_snapshot(  # noqa: PLR0913
        self,
        document: Document,
        entry: JsonObject,
        item: Item,
        path: str,
        choice: ChoiceState,
        *,
        done: bool,
    ) -> None:
        """Take identity and whole arguments; the identity of a call that has ended stays (I11)."""
        call = item.call
        if call is None:
            return
        delta = ToolDelta(call.kind)
        report = remark(delta)
        self._read_identity(entry, delta, path, report)
        value = arguments_of(document, entry, ARGUMENTS.get(item.kind, "arguments"), path, report)
        if not call.ended:
            delta.is_whole = True
            delta.extra = {key: value for key, value in entry.items() if key not in KNOWN_IN_CALL}
            self._fold_delta(choice, call, delta)
        self._fold.take_snapshot(choice, call, value, done=done)

    def _read_identity(self, parent: JsonObject, delta: ToolDelta, path: str, report: Report) -> None:
        delta.id = identity_of(parent, "call_id", path, report)
        delta.name = identity_of(parent, "name", path, report)

    def _fold_delta(self, choice: ChoiceState, call: Call, delta: ToolDelta) -> None:
        for kind, detail in delta.remarks:
            self._fold.quirks.report(kind, 0, call.position, detail)
        self._fold.see_id(choice, delta)
        self._fold.fold_into(choice, call, delta)

    # texts

    def _text_event(self, document: Document, choice: ChoiceState, subject: str, *, done: bool) -> None:
        payload = document.value
        if subject in TEXT_EVENTS:
            self._part_event(payload, choice, TEXT_EVENTS[subject], done=done)
        elif subject in CALL_EVENTS:
            self._call_event(document, choice, CALL_EVENTS[subject], done=done)
        elif subject in JOINED_EVENTS:
            self._joined_event(payload, choice, JOINED_EVENTS[subject], done=done)

    def _part_event(
        self,
        payload: JsonObject,
        choice: ChoiceState,
        event: tuple[str, str, str],
        *,
        done: bool,
    ) -> None:
        """Fold a delta or the done value of a part's text; one that says nothing begins nothing."""
        kind, part_kind, place_member = event
        text = string_in(payload, PART_MEMBER.get(part_kind, "text") if done else "delta", "", self._report)
        if not text:
            return
        item = self._locate(payload, kind, self._item_id(payload, "item_id", ""), choice)
        if item.call is not None:
            self._report("wrong-type", "output_index")
            return
        part = item.part(part_kind, index_of(payload, place_member, "", self._report) or 0)
        if done:
            self._parts.done(part, text)
        else:
            self._parts.delta(part, text)

    def _call_event(self, document: Document, choice: ChoiceState, kind: str, *, done: bool) -> None:
        """Fold a delta of a call's arguments, or what they and its identity are when done."""
        payload = document.value
        delta = ToolDelta()
        report = remark(delta)
        if not done:
            delta.arguments = arguments_of(document, payload, "delta", "", report)
            if not delta.arguments:
                return
        item = self._locate(payload, kind, self._item_id(payload, "item_id", ""), choice)
        call = item.call
        if call is None or item.kind != kind or (call.ended and not done):
            self._report("wrong-type", "output_index")
            return
        delta.kind = call.kind
        if not done:
            self._fold_delta(choice, call, delta)
            return
        self._read_identity(payload, delta, "", report)
        value = arguments_of(document, payload, ARGUMENTS[kind], "", report)
        if not call.ended:
            self._fold_delta(choice, call, delta)
        self._fold.take_snapshot(choice, call, value, done=True)

    def _joined_event(
        self,
        payload: JsonObject,
        choice: ChoiceState,
        event: tuple[str, str, str],
        *,
        done: bool,
    ) -> None:
        """Join a text that belongs to a block alone; its done value replaces it."""
        kind, path, member = event
        text = string_in(payload, member if done else "delta", "", self._report)
        if not text:
            return
        item = self._locate(payload, kind, self._item_id(payload, "item_id", ""), choice)
        if item.call is not None:
            self._report("wrong-type", "output_index")
            return
        if done or path not in item.joined:
            former = item.joined.get(path)
            self._fold.budget.spend(-weigh(str(former)) if former is not None else 0)
            item.joined[path] = Text()
        visible, lone = item.joined[path].prepare(text)
        self._fold.quirks.report("lone-surrogate", 0, count=lone)
        self._fold.budget.spend(weigh(visible))
        item.joined[path].append(visible)

    def _part_done(self, document: Document, choice: ChoiceState, subject: str) -> None:
        payload = document.value
        part = object_in(payload, "part", "", self._report)
        kind = part.get("type") if part is not None else None
        summary = subject == "response.reasoning_summary_part"
        if part is None or not isinstance(kind, str) or kind not in PART_LISTS:
            return
        item_kind = "reasoning" if PART_TEXTS[kind] == "reasoning" else "message"
        item = self._locate(payload, item_kind, self._item_id(payload, "item_id", ""), choice)
        place = index_of(payload, "summary_index" if summary else "content_index", "", self._report) or 0
        if item.call is None:
            self._parts.snapshot(item.part(kind, place), part)

    def _annotation(self, document: Document, choice: ChoiceState) -> None:
        payload = document.value
        annotation = object_in(payload, "annotation", "", self._report)
        if annotation is None:
            return
        item = self._locate(payload, "message", self._item_id(payload, "item_id", ""), choice)
        place = index_of(payload, "content_index", "", self._report) or 0
        if item.call is None:
            self._parts.annotate(item.part("output_text", place), [annotation])

    # the response itself

    def _response(self, document: Document, choice: ChoiceState, kind: str) -> None:
        """Take what an event says of the whole response; the terminal one ends it."""
        response = object_in(document.value, "response", "", self._report) or {}
        report = self._report
        self._fold.take_origin(
            string_in(response, "id", "response", report),
            string_in(response, "model", "response", report),
            number_in(response, "created_at", "response", report),
        )
        if kind in TERMINAL:
            self._terminal(document, response, choice, kind)
        usage = object_in(response, "usage", "response", report)
        if usage:
            self._fold.accept_usage(self._fold.clean_kept(usage))
        self._fold.marked = self._fold.marked or kind in TERMINAL

    def _terminal(self, document: Document, response: JsonObject, choice: ChoiceState, kind: str) -> None:
        """Take the items of the terminal event; an empty list erases nothing."""
        output = list_in(response, "output", "response", self._report)
        calls = self._items.calls_by_id()
        for place, entry in objects(output, "response.output", self._report):
            path = f"response.output[{place}]"
            entry_kind = string_in(entry, "type", path, self._report)
            item_id = self._item_id(entry, "id", path)
            call_id = accept(entry.get("call_id")) if entry_kind in CALL_KINDS else None
            item = self._items.match(place, entry_kind, item_id, calls.get(clean(call_id or "")[0], []))
            if item is None:
                free = self._items.find(place, None) is None
                item = self._open(entry_kind, place if free else None, item_id, choice)
            item.listed = True
            self._snapshot(document, entry, item, path, choice, done=True)
        details = object_in(response, "incomplete_details", "response", self._report) or {}
        reason = string_in(details, "reason", "response.incomplete_details", self._report)
        status = string_in(response, "status", "response", self._report)
        self._fold.finish_reason(choice, reason or status or kind.removeprefix(PREFIX))
