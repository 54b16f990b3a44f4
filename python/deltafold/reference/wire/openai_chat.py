"""OpenAI-compatible chat: chunks with choices and deltas (P6, X1 to X5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deltafold._json import JsonObject, is_list, is_object
from deltafold.reference.call import ToolDelta
from deltafold.reference.text import clean_value, weigh_value
from deltafold.reference.wire.members import (
    arguments_of,
    identity_of,
    index_of,
    list_in,
    member_in,
    number_in,
    object_in,
    objects,
    remark,
    string_in,
)

if TYPE_CHECKING:
    from deltafold.reference.choice import ChoiceState
    from deltafold.reference.fold import Fold
    from deltafold.reference.json import Document
    from deltafold.reference.wire.members import Report

KEPT_BESIDE_DELTA = (
    "citations",
    "search_results",
    "provider",
    "native_finish_reason",
    "content_filter_results",
    "prompt_filter_results",
    "system_fingerprint",
    "service_tier",
)
"""Members that are kept from beside the delta and from the top of a chunk (X2)."""

REASONING_MEMBERS = ("reasoning_content", "reasoning", "reasoning_text")
KNOWN_IN_DELTA = frozenset(
    {
        "role",
        "content",
        "refusal",
        "tool_calls",
        "function_call",
        "reasoning_details",
        "audio",
        *REASONING_MEMBERS,
    },
)
KNOWN_IN_ENTRY = frozenset({"index", "id", "type", "function", "custom"})
THINKING_PARTS = frozenset({"thinking", "reasoning"})
PART_TEXTS = ("thinking", "reasoning", "text", "summary", "content")
JOINED_IN_DETAILS = frozenset({"text", "summary", "data"})
JOINED_IN_AUDIO = frozenset({"data", "transcript"})


class OpenAIChat:
    """Folds chat chunks."""

    name: ClassVar[str] = "openai-chat"
    sources: ClassVar[frozenset[str]] = frozenset({"arguments", "input"})

    def __init__(self, fold: Fold) -> None:
        """Fold into the given response."""
        self._fold = fold
        self.failed = False
        self._document: Document | None = None
        self._usage_came = False

    @staticmethod
    def owns(payload: JsonObject, kind: str) -> bool:  # noqa: ARG004
        """Chunks have choices (W1)."""
        return "choices" in payload

    def fold(self, document: Document, event: str) -> None:  # noqa: ARG002
        """Fold one chunk: choices as they stand, then what is beside them, then usage."""
        self._document = document
        chunk: JsonObject = document.value
        report = self._report()
        self._fold_origin(chunk, report)
        for place, entry in objects(list_in(chunk, "choices", "", report), "choices", report):
            self._fold_choice(entry, f"choices[{place}]")
        self._keep_beside(chunk)
        self._fold_usage(chunk, report)

    def error(self, document: Document) -> None:  # noqa: ARG002
        """Chat has no errors of its own."""
        return

    def close(self) -> None:
        """Fold the messages of choices that got nothing from deltas (X4)."""
        for index in sorted(self._fold.choices):
            choice = self._fold.choices[index]
            kept, choice.message = choice.message, None
            if kept is not None and choice.silent:
                message, self._document = kept
                # What is folded of it counts from here on, not the message itself.
                self._fold.budget.spend(-choice.message_weight)
                self._fold.place.surrogates = self._document.surrogates
                self._fold_delta(choice, message, "message", is_message=True)

    def blocks(self) -> list[JsonObject]:
        """Chat has no blocks."""
        return []

    def _report(self, choice: int | None = None) -> Report:
        return lambda kind, detail: self._fold.quirks.report(kind, choice, None, detail)

    def _fold_origin(self, chunk: JsonObject, report: Report) -> None:
        """Take id, model and creation time (X5)."""
        self._fold.take_origin(
            string_in(chunk, "id", "", report),
            string_in(chunk, "model", "", report),
            number_in(chunk, "created", "", report),
        )

    def _keep_beside(self, parent: JsonObject) -> None:
        for key in KEPT_BESIDE_DELTA:
            self._fold.extra.put(key, parent.get(key))

    def _fold_usage(self, chunk: JsonObject, report: Report) -> None:
        """Take `usage`, or the one in `x_groq` as long as none came (U1)."""
        usage = object_in(chunk, "usage", "", report)
        if usage:
            self._usage_came = True
            self._fold.accept_usage(self._fold.clean_kept(usage))
        vendor = object_in(chunk, "x_groq", "", report)
        usage = object_in(vendor, "usage", "x_groq", report) if vendor else None
        if usage and not self._usage_came:
            self._fold.accept_usage(self._fold.clean_kept(usage))

    def _fold_choice(self, entry: JsonObject, path: str) -> None:
        index_quirks: list[tuple[str, str]] = []
        index = index_of(entry, "index", path, lambda kind, detail: index_quirks.append((kind, detail))) or 0
        choice = self._fold.choice(index)
        report = self._report(index)
        for kind, detail in index_quirks:
            report(kind, detail)
        delta = object_in(entry, "delta", path, report)
        if delta is not None:
            self._fold_delta(choice, delta, f"{path}.delta")
        else:
            self._fold.text(choice, "content", string_in(entry, "text", path, report))
        reason = string_in(entry, "finish_reason", path, report)
        if reason:
            self._fold.finish_reason(choice, reason)
        logprobs = object_in(entry, "logprobs", path, report) or {}
        for key, value in self._fold.clean_kept(logprobs, index).items():
            choice.logprobs.append(key, value)
        self._keep_beside(entry)
        self._keep_message(choice, object_in(entry, "message", path, report))

    def _keep_message(self, choice: ChoiceState, message: JsonObject | None) -> None:
        if message is None or self._document is None:
            return
        weight = weigh_value(clean_value(message)[0])
        self._fold.budget.spend(weight - choice.message_weight)
        choice.message, choice.message_weight = (message, self._document), weight

    def _fold_delta(
        self, choice: ChoiceState, delta: JsonObject, path: str, *, is_message: bool = False
    ) -> None:
        """Fold a delta in the order of events: reasoning, content, refusal, calls (X1)."""
        report = self._report(choice.index)
        thoughts, content = self._content(delta, path, report)
        self._fold_reasoning(choice, delta, thoughts, path)
        self._fold.text(choice, "content", content)
        self._fold.text(choice, "refusal", string_in(delta, "refusal", path, report))
        entries = objects(list_in(delta, "tool_calls", path, report), f"{path}.tool_calls", report)
        for place, entry in entries:
            self._fold_entry(choice, entry, f"{path}.tool_calls[{place}]", place if is_message else None)
        function_call = object_in(delta, "function_call", path, report)
        if function_call:
            self._fold_legacy_call(choice, function_call, f"{path}.function_call")
        self._keep_extra(choice, delta, path, report)

    def _content(self, delta: JsonObject, path: str, report: Report) -> tuple[str, str]:
        """Give the reasoning and the text in `content`, which is a string or a list of parts (X1)."""
        content = member_in(delta, "content", (str, list), path, report)
        if not is_list(content):
            return "", content or ""
        thoughts: list[str] = []
        texts: list[str] = []
        for part in content:
            if not is_object(part):
                continue
            kind = part.get("type")
            if kind == "text" and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif isinstance(kind, str) and kind in THINKING_PARTS:
                thoughts.extend(_thinking(part))
        return "".join(thoughts), "".join(texts)

    def _fold_reasoning(self, choice: ChoiceState, delta: JsonObject, thoughts: str, path: str) -> None:
        """Take the first non-empty reasoning member, else the text of the details; parts besides (X1)."""
        report = self._report(choice.index)
        values = {name: string_in(delta, name, path, report) for name in REASONING_MEMBERS}
        member = next((name for name, value in values.items() if value), None)
        details = list_in(delta, "reasoning_details", path, report)
        pieces = [piece for _, piece in objects(details, f"{path}.reasoning_details", report)]
        if choice.reasoning_member is None:
            choice.reasoning_member = member or ("content" if thoughts else None)
        self._fold.text(choice, "reasoning", values[member] if member else "".join(map(_first_text, pieces)))
        if pieces:
            choice.extra.merge_pieces("reasoning_details", pieces, JOINED_IN_DETAILS)
        self._fold.text(choice, "reasoning", thoughts)

    def _fold_entry(self, choice: ChoiceState, entry: JsonObject, path: str, place: int | None) -> None:
        """Fold one entry of `tool_calls`; in a message (X4) its place is the index that it lacks."""
        delta = ToolDelta()
        report = remark(delta)
        delta.index = index_of(entry, "index", path, report)
        if delta.index is None and place is not None:
            delta.index = place
        elif delta.index is None:
            report("index-missing", path)
        delta.id = identity_of(entry, "id", path, report)
        kind, member, body = self._body(entry, path, report)
        if kind == "custom":
            delta.kind = "custom"
        self._read_body(delta, body, f"{path}.{member}", "input" if kind == "custom" else "arguments")
        delta.extra = {key: value for key, value in entry.items() if key not in KNOWN_IN_ENTRY}
        self._fold.tool_delta(choice, delta)

    def _body(self, entry: JsonObject, path: str, report: Report) -> tuple[str, str, JsonObject]:
        """Say whether an entry is a function's or a custom tool's, and where its words stand (X3)."""
        kind = string_in(entry, "type", path, report)
        function = object_in(entry, "function", path, report) or {}
        custom = object_in(entry, "custom", path, report) or {}
        if (custom and (kind == "custom" or not function)) or (kind == "custom" and not function):
            return "custom", "custom", custom
        return "function", "function", function

    def _read_body(self, delta: ToolDelta, body: JsonObject, path: str, arguments: str) -> None:
        report = remark(delta)
        delta.name = identity_of(body, "name", path, report)
        if self._document is not None:
            delta.arguments = arguments_of(self._document, body, arguments, path, report)

    def _fold_legacy_call(self, choice: ChoiceState, body: JsonObject, path: str) -> None:
        """Fold a legacy function call, one a choice (X3)."""
        delta = ToolDelta("legacy-function")
        self._read_body(delta, body, path, "arguments")
        if choice.legacy_call is None:
            choice.legacy_call = self._fold.open_call(choice, delta)
        self._fold.note_late(choice)
        for kind, detail in delta.remarks:
            self._fold.quirks.report(kind, choice.index, choice.legacy_call.position, detail)
        self._fold.fold_into(choice, choice.legacy_call, delta)

    def _keep_extra(self, choice: ChoiceState, delta: JsonObject, path: str, report: Report) -> None:
        """Keep the unknown members of a delta: audio joins, lists append, else the last stands (X2)."""
        audio = object_in(delta, "audio", path, report)
        if audio:
            choice.extra.merge_object("audio", audio, JOINED_IN_AUDIO)
        for key, value in delta.items():
            if key not in KNOWN_IN_DELTA:
                choice.extra.append(key, value)


def _thinking(part: JsonObject) -> list[str]:
    """Give the texts of a thinking or reasoning part, nested lists included (X1)."""
    value = next((part[name] for name in PART_TEXTS if isinstance(part.get(name), (str, list))), "")
    if not is_list(value):
        return [value]
    texts: list[str] = []
    for element in value:
        if isinstance(element, str):
            texts.append(element)
        elif is_object(element):
            texts.extend(_thinking(element))
    return texts


def _first_text(piece: JsonObject) -> str:
    """Give the readable text of a piece of `reasoning_details`."""
    values = (piece.get(name) for name in ("text", "summary"))
    return next((value for value in values if isinstance(value, str) and value), "")
