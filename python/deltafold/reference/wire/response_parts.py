"""The texts of output items, part by part: as streamed, and as said to be when done (W3)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from deltafold.reference.text import Text, weigh
from deltafold.reference.wire.members import list_in, objects, string_in

if TYPE_CHECKING:
    from deltafold._json import JsonObject
    from deltafold.reference.fold import Fold
    from deltafold.reference.wire.members import Report
    from deltafold.reference.wire.response_items import Item, Items

PART_TEXTS = {
    "output_text": "content",
    "refusal": "refusal",
    "reasoning_text": "reasoning",
    "summary_text": "reasoning",
}
"""The kinds of parts with a text, and the choice's text that they join."""

PART_MEMBER = {"refusal": "refusal"}
"""The member of a part that holds its text, where it is not `text`."""

PART_LISTS = {
    "output_text": "content",
    "refusal": "content",
    "reasoning_text": "content",
    "summary_text": "summary",
}
"""The member of an item that lists the parts of a kind."""


class Part:
    """A text of an item: as streamed, and as said to be when done."""

    __slots__ = ("annotated", "annotations", "done", "kind", "text")

    def __init__(self, kind: str) -> None:
        """Begin a part."""
        self.kind = kind
        self.text = Text()
        self.done: str | None = None
        self.annotated = False
        self.annotations: list[Any] = []

    @property
    def value(self) -> str:
        """The text as it stands: the done value where it differs."""
        return str(self.text) if self.done is None else self.done

    def block(self) -> JsonObject:
        """Give the part as an item lists it."""
        part: JsonObject = {"type": self.kind, PART_MEMBER.get(self.kind, "text"): self.value}
        if self.kind == "output_text":
            part["annotations"] = list(self.annotations)
        return part


class PartFolder:
    """Folds the texts and annotations of parts into the choice and into their items."""

    def __init__(self, fold: Fold, items: Items, report: Report) -> None:
        """Fold the parts of the given items."""
        self._fold = fold
        self._items = items
        self._report = report

    def delta(self, part: Part, fragment: str) -> None:
        """Fold a fragment of a part's text."""
        self._fold.text(self._fold.choice(0), PART_TEXTS[part.kind], fragment, part.text)

    def done(self, part: Part, value: str) -> None:
        """Fill an empty text, or compare: the done value stands where it differs."""
        if not value:
            return
        choice, kind = self._fold.choice(0), PART_TEXTS[part.kind]
        self._fold.end_text(choice, kind, part.text)
        if not part.text:
            self._fold.text(choice, kind, value, part.text)
            self._fold.end_text(choice, kind, part.text)
            return
        value = self._fold.clean(value, 0)
        if value == part.value:
            return
        self._fold.quirks.report("snapshot-differs", 0, detail=part.kind)
        if part.done is None:
            self._fold.budget.spend(weigh(value))
            part.done = value
            choice.standing_texts[kind] = lambda: self._standing(kind)

    def snapshot(self, part: Part, entry: JsonObject) -> None:
        """Take what a part is said to be; its annotations count where none were streamed."""
        self.done(part, string_in(entry, PART_MEMBER.get(part.kind, "text"), "part", self._report))
        annotations = list_in(entry, "annotations", "part", self._report)
        if annotations and not part.annotated:
            self.annotate(part, annotations)

    def item_snapshot(self, item: Item, entry: JsonObject, path: str) -> None:
        """Take the parts that an item lists."""
        for member in ("summary", "content"):
            values = list_in(entry, member, path, self._report)
            listed = [
                (place, part)
                for place, part in objects(values, f"{path}.{member}", self._report)
                if isinstance(part.get("type"), str) and PART_LISTS.get(part["type"]) == member
            ]
            keys = _matched(item, [(part["type"], place) for place, part in listed])
            for key, (_, part) in zip(keys, listed, strict=True):
                self.snapshot(item.part(*key), part)

    def annotate(self, part: Part, annotations: list[Any]) -> None:
        """Append annotations to the part and to the choice."""
        annotations = self._fold.clean_kept(annotations, 0)
        part.annotated = True
        part.annotations.extend(annotations)
        self._fold.choice(0).extra.append("annotations", list(annotations))

    def end(self, item: Item) -> None:
        """End the texts of an item."""
        for part in item.parts.values():
            self._fold.end_text(self._fold.choice(0), PART_TEXTS[part.kind], part.text)
        for text in item.joined.values():
            visible = text.flush()
            self._fold.quirks.report("lone-surrogate", 0, count=len(visible))
            text.append(visible)

    def _standing(self, kind: str) -> str:
        """Give a text of the choice as its parts have it."""
        parts = (part for item in self._items.all for part in item.parts.values())
        return "".join(part.value for part in parts if PART_TEXTS[part.kind] == kind)


def _matched(item: Item, listed: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Give the keys of the parts that an item lists, by kind and place.

    A place that was not streamed is the next streamed part of its kind that is not listed by its own place,
    for gateways count the places of deltas otherwise than those of the list.
    """
    by_own_place = set(listed)
    spare: dict[str, deque[tuple[str, int]]] = {}
    for key in item.parts:
        if key not in by_own_place:
            spare.setdefault(key[0], deque()).append(key)
    keys: list[tuple[str, int]] = []
    for key in listed:
        others = spare.get(key[0])
        keys.append(others.popleft() if key not in item.parts and others else key)
    return keys
