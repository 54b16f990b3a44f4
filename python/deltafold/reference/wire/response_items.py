"""Output items of a Responses stream: how they are found again, and what becomes of them (W3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold._json import JsonObject, copied, is_object
from deltafold.reference.text import weigh, weigh_value
from deltafold.reference.wire.response_parts import PART_LISTS, Part

if TYPE_CHECKING:
    from deltafold.reference.call import Call
    from deltafold.reference.fold import Fold
    from deltafold.reference.place import Budget
    from deltafold.reference.text import Text

CALL_KINDS = {"function_call": "function", "custom_tool_call": "custom"}
"""Items that are calls; all others are blocks."""


class Item:
    """An output item, from its first event to the terminal one.

    raw: what the wire said that the item is, most lately; done: that was its end, or the terminal event.
    listed: the terminal event has it.
    """

    __slots__ = (
        "call",
        "closed",
        "done",
        "id",
        "index",
        "joined",
        "kind",
        "listed",
        "parts",
        "raw",
        "weight",
    )

    def __init__(self, kind: str, index: int | None) -> None:
        """Begin an item."""
        self.kind = kind
        self.index = index
        self.id: str | None = None
        self.call: Call | None = None
        self.parts: dict[tuple[str, int], Part] = {}
        self.joined: dict[str, Text] = {}
        self.raw: JsonObject = {}
        self.weight = 0
        self.done = False
        self.closed = False
        self.listed = False

    def part(self, kind: str, place: int) -> Part:
        """Give a part, begun when it is new."""
        part = self.parts.get((kind, place))
        if part is None:
            part = self.parts[kind, place] = Part(kind)
        return part

    def keep(self, raw: JsonObject, fold: Fold, *, done: bool) -> None:
        """Keep what the wire says that the item is; what was said when it was done stands (W3)."""
        if self.call is not None or (self.done and self.closed):
            return
        raw = fold.clean_kept(raw, 0)
        weight = weigh_value(raw)
        fold.budget.spend(weight - self.weight)
        self.raw, self.weight = raw, weight
        self.done = self.done or done

    def block(self) -> JsonObject:
        """Give the item as it can be sent back; streamed parts stand where the wire's own word has none."""
        block = {"type": self.kind, **({"id": self.id} if self.id else {}), **copied(self.raw)}
        for kind, member in (("message", "content"), ("reasoning", "content"), ("reasoning", "summary")):
            if self.kind == kind and not block.get(member):
                self._fill(block, member)
        if self.kind == "message":
            block.setdefault("role", "assistant")
            block.setdefault("content", [])
        if self.kind == "reasoning":
            block.setdefault("summary", [])
        if not self.done:
            for path, text in self.joined.items():
                _set(block, path.split("."), str(text))
        return block

    def _fill(self, block: JsonObject, member: str) -> None:
        parts = [
            part.block() for part in self.parts.values() if PART_LISTS[part.kind] == member and part.value
        ]
        if parts:
            block[member] = parts


def _set(block: JsonObject, path: list[str], value: str) -> None:
    """Set a member within objects, made where they are missing."""
    for name in path[:-1]:
        inner = block.get(name)
        if not is_object(inner):
            inner = block[name] = {}
        block = inner
    block[path[-1]] = value


class Items:
    """All items in order of first appearance.

    The key is the output index, else the item id; item ids are aliases.
    """

    def __init__(self, budget: Budget) -> None:
        """Begin without items; the ids are kept text (S8)."""
        self._budget = budget
        self.all: list[Item] = []
        self._by_index: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}

    def find(self, index: int | None, item_id: str | None) -> Item | None:
        """Give a known item. An item whose index is known is not looked for by id at another index."""
        item = self._by_index.get(index) if index is not None else None
        if item is None and item_id is not None:
            item = self._by_id.get(item_id)
            if item is not None and index is not None and item.index is not None:
                item = None
        return item

    @property
    def last_open(self) -> Item | None:
        """The last item, unless it is done."""
        return self.all[-1] if self.all and not self.all[-1].closed else None

    def open(self, kind: str, index: int | None) -> Item:
        """Begin an item; `bind` follows."""
        item = Item(kind, index)
        self.all.append(item)
        return item

    def calls_by_id(self) -> dict[str, list[Item]]:
        """Give the items of calls by the ids of their calls."""
        found: dict[str, list[Item]] = {}
        for item in self.all:
            if item.call is not None and item.call.id is not None:
                found.setdefault(item.call.id, []).append(item)
        return found

    def match(self, place: int, kind: str, item_id: str | None, same_call: list[Item]) -> Item | None:
        """Find the item that the terminal event lists: by call id, then item id, then place.

        `same_call` are the items of calls with the listed call id; of several, the one at the place or with
        the item id, else the last. Those that were matched before do not count.
        """
        at_place = self._by_index.get(place)
        free = [item for item in same_call if not item.listed]
        if free:
            preferred = [item for item in free if item is at_place or (item_id and item.id == item_id)]
            return (preferred or free)[-1]
        by_id = self._by_id.get(item_id) if item_id is not None else None
        for item in (by_id, at_place):
            if item is not None and not item.listed and item.kind == kind:
                return item
        return None

    def bind(self, item: Item, index: int | None, item_id: str | None) -> None:
        """Know an item by the index and the id of an event; the first of each are its own."""
        if index is not None and item.index is None:
            item.index = index
        if index is not None:
            self._by_index[index] = item
        if item_id is None:
            return
        item.id = item.id or item_id
        if item_id not in self._by_id:
            self._budget.spend(weigh(item_id))
        self._by_id[item_id] = item
        if item.call is not None and not item.call.ended:
            item.call.item_id = item.id
