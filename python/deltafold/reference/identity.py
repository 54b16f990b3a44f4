"""Who a tool call is (I1 to I7): what is accepted as identity, and which call a tool delta goes to."""

from __future__ import annotations

import re
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.policy import Policy
    from deltafold.reference.call import Call, ToolDelta
    from deltafold.reference.choice import ChoiceState

    Route = tuple["Call | None", "str | None"]
    """The call that a delta goes to (None: nowhere), and the quirk that the way there is."""

_INTEGER_TEXT = re.compile(r"-?[0-9]+")
_INDEX_DIGITS = 19
_INDEX_RANGE = range(-(2**63), 2**63)


def accept(value: Any) -> str | None:  # noqa: ANN401
    """Accept an identity: a non-empty string, nothing else (I1)."""
    return value if isinstance(value, str) and value else None


def usable_index(value: Any) -> int | None:  # noqa: ANN401
    """Give the index when it is a 64-bit integer or a string of one (I2), else None."""
    if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value):
        sign = "-" if value.startswith("-") else ""
        digits = value.lstrip("-").lstrip("0") or "0"
        value = int(sign + digits) if len(digits) <= _INDEX_DIGITS else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value in _INDEX_RANGE else None


def synthetic_id(choice: ChoiceState, call: Call) -> str:
    """Make an id that the wire gave to no call of the choice (I10); it depends on the stream alone."""
    made = f"call-{call.position}"
    candidate, number = made, 1
    while candidate in choice.wire_ids:
        number += 1
        candidate = f"{made}-{number}"
    return candidate


class Router:
    """Where the tool deltas of one choice go: the table of the contract, line by line.

    `calls` are the choice's calls by position. `open_call` makes the next one and gives it.
    """

    def __init__(
        self, policy: Policy, calls: list[Call], open_call: Callable[[ToolDelta, bool], Call]
    ) -> None:
        """Begin without bindings."""
        self._merge = policy.shared_index == "merge"
        self._calls = calls
        self._open_call = open_call
        self._bound: dict[int, Call] = {}
        self._lent: set[int] = set()
        self._known: dict[str, list[int]] = {}

    def route(self, delta: ToolDelta) -> Route:
        """Find or open the call that a delta goes to; the first line that fits."""
        if delta.index is None:
            return self._without_index(delta)
        if delta.index in self._lent and (delta.id or delta.name) and not self._merge:
            self._lent.discard(delta.index)  # I5b: the index counts as not seen before
            del self._bound[delta.index]
        call = self._bound.get(delta.index)
        if call is None:
            return self._unseen_index(delta)
        if self._merge:
            return call, None  # I12
        return self._bound_index(delta, call)

    def learn(self, call: Call) -> None:
        """Note that a call took its id."""
        if call.id is not None:
            heappush(self._known.setdefault(call.id, []), -call.position)

    def _newest(self, call_id: str | None) -> Call | None:
        """Give the newest call with an id (I2, "known id"); some may have another by now (I12)."""
        holders = self._known.get(call_id or "", [])
        while holders and self._calls[-holders[0]].id != call_id:
            heappop(holders)
        return self._calls[-holders[0]] if holders else None

    def _last(self) -> Call | None:
        """Give the last call that tool deltas may go to; a legacy call has deltas of its own (X3)."""
        return next((call for call in reversed(self._calls) if call.kind != "legacy-function"), None)

    def _bound_index(self, delta: ToolDelta, call: Call) -> Route:
        if delta.id:
            return self._bound_index_with_id(delta, call)
        if not delta.name or not call.name:
            return call, None  # I4g, I4h
        if call.complete and (delta.begins_anew or (_names_another(delta, call) and not delta.arguments)):
            return self._new(delta), "shared-index"  # I4i
        return call, None  # I4j

    def _bound_index_with_id(self, delta: ToolDelta, call: Call) -> Route:
        if delta.id == call.id:
            return call, None  # I4a
        other = self._newest(delta.id)
        if other is not None and other.opened_at == delta.index:
            return self._bind(delta, other), None  # I4b
        if other is not None:
            return self._known_elsewhere(delta, other)  # I4c
        is_new = bool(delta.name) if call.id else self._is_second(delta, call)  # I4d or I4e; I4f
        return (self._new(delta), "shared-index") if is_new else (call, None)

    @staticmethod
    def _is_second(delta: ToolDelta, call: Call) -> bool:
        """Whether an unknown id cannot be meant for a call that has none (I4f)."""
        if not delta.name or not call.name:
            return False
        return _names_another(delta, call) or (delta.begins_anew and call.complete)

    def _unseen_index(self, delta: ToolDelta) -> Route:
        if self._merge:
            return self._new(delta), None  # I12
        other = self._newest(delta.id)
        if other is not None:
            return self._known_elsewhere(delta, other)  # I5a
        last = self._last()
        if not delta.id and not delta.name and last is not None and not last.complete:
            self._lent.add(self._index_of(delta))
            return self._bind(delta, last), "index-changed"  # I5b
        return self._new(delta), None  # I5c

    def _without_index(self, delta: ToolDelta) -> Route:
        last = self._last()
        known = self._newest(delta.id)
        if known is not None:
            return known, None  # I6a
        if delta.id and delta.name:
            return self._new(delta), None  # I6b
        if delta.id:
            return (last if last is not None and not last.complete else self._new(delta)), None  # I6c
        if delta.name:
            return (self._new(delta) if last is None or self._is_next(delta, last) else last), None  # I6d
        return last, (None if last is not None else "orphan-fragment")  # I6e

    @staticmethod
    def _is_next(delta: ToolDelta, last: Call) -> bool:
        """Whether a name without id and index begins another call (I6d)."""
        if last.complete:
            return delta.begins_anew or _names_another(delta, last)
        return not last.text and _names_another(delta, last)

    def _known_elsewhere(self, delta: ToolDelta, call: Call) -> Route:
        """A known id at another index (I7)."""
        if not delta.name or (delta.name == call.name and not call.complete):
            if delta.index not in self._bound:
                self._bind(delta, call)
            return call, "index-changed"
        return self._new(delta, held=True), None

    def _new(self, delta: ToolDelta, *, held: bool = False) -> Call:
        call = self._open_call(delta, held)
        return call if delta.index is None else self._bind(delta, call)

    def _bind(self, delta: ToolDelta, call: Call) -> Call:
        self._bound[self._index_of(delta)] = call
        return call

    @staticmethod
    def _index_of(delta: ToolDelta) -> int:
        assert delta.index is not None  # noqa: S101
        return delta.index


def _names_another(delta: ToolDelta, call: Call) -> bool:
    """Whether a delta names another tool than a named call does."""
    return bool(delta.name and call.name and delta.name != call.name)
