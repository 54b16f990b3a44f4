"""Members that are kept beside texts and calls (X1, X2): joined, appended, or the last one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold._json import is_list, is_object
from deltafold.reference.identity import usable_index
from deltafold.reference.text import Text, clean, clean_value, weigh, weigh_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.reference.place import Budget, Place

    ReportLone = Callable[[int], None]


def plain(value: Any) -> Any:  # noqa: ANN401
    """Copy a kept value, its joined texts made strings."""
    if isinstance(value, Text):
        return str(value)
    if is_object(value):
        return {key: plain(member) for key, member in value.items()}
    if is_list(value):
        return [plain(element) for element in value]
    return value


def _weight(value: Any) -> int:  # noqa: ANN401
    return weigh(str(value)) if isinstance(value, Text) else weigh_value(value)


class Extras:
    """Kept members of one object. Strings are cleaned of lone surrogates, joined ones when they are whole."""

    __slots__ = ("_budget", "_by_index", "_members", "_place", "_report_lone")

    def __init__(
        self,
        budget: Budget,
        place: Place,
        report_lone: ReportLone,
        members: dict[str, Any] | None = None,
    ) -> None:
        """Begin with nothing, or over an object that is already counted."""
        self._budget = budget
        self._place = place
        self._report_lone = report_lone
        self._members: dict[str, Any] = {} if members is None else members
        self._by_index: dict[int, dict[str, Any]] = {}

    def __bool__(self) -> bool:
        """Whether anything is kept."""
        return bool(self._members)

    def value(self) -> dict[str, Any]:
        """Give a copy."""
        copy: dict[str, Any] = plain(self._members)
        return copy

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401
        """Let the last one stand; null says nothing."""
        if value is None:
            return
        self._store(*self._cleaned(key, value))

    def _cleaned(self, key: str, value: Any) -> tuple[str, Any]:  # noqa: ANN401
        if not self._place.surrogates:
            return key, value
        key, lone_in_key = clean(key)
        value, lone = clean_value(value)
        self._report_lone(lone + lone_in_key)
        return key, value

    def _store(self, key: str, value: Any) -> None:  # noqa: ANN401
        if key in self._members:
            self._budget.spend(_weight(value) - _weight(self._members[key]))
        else:
            self._budget.spend(weigh(key) + _weight(value))
        self._members[key] = value

    def keep(self, members: dict[str, Any]) -> None:
        """Let all members of an object stand as sent, nulls too."""
        cleaned = [self._cleaned(key, value) for key, value in members.items()]
        for key, value in cleaned:
            self._store(key, value)

    def append(self, key: str, value: Any) -> None:  # noqa: ANN401
        """Append a list to the list that stands, else as `put`."""
        if value is None:
            return
        key, value = self._cleaned(key, value)
        standing = self._members.get(key)
        if is_list(value) and is_list(standing):
            self._budget.spend(sum(map(weigh_value, value)))
            standing.extend(value)
        else:
            self._store(key, value)

    def join(self, key: str, fragment: str) -> None:
        """Join a string to the text that stands, whatever else stood there replaced."""
        text = self._members.get(key)
        change = 0
        if not isinstance(text, Text):
            standing = text
            text = Text()
            if isinstance(standing, str):
                text.append(standing)
            else:
                change = -_weight(standing) if key in self._members else weigh(key)
        visible, lone = text.prepare(fragment)
        self._report_lone(lone)
        self._budget.spend(change + weigh(visible))
        self._members[key] = text
        text.append(visible)

    def flush(self) -> None:
        """End every joined text: a surrogate that waits becomes U+FFFD (P5)."""
        self._flush(self._members)

    def _flush(self, value: Any) -> None:  # noqa: ANN401
        if isinstance(value, Text):
            visible = value.flush()
            self._report_lone(len(visible))
            value.append(visible)
        elif is_object(value):
            for member in value.values():
                self._flush(member)
        elif is_list(value):
            for element in value:
                if is_object(element):
                    self._flush(element)

    def merge_object(self, key: str, members: dict[str, Any], joined: frozenset[str]) -> None:
        """Merge an object into the one that stands: some members join, else the last non-null stands."""
        standing = self._members.get(key)
        if not is_object(standing):
            self.put(key, {})
            standing = self._members[key]
        self._merge(standing, members, joined)

    def merge_pieces(self, key: str, pieces: list[dict[str, Any]], joined: frozenset[str]) -> None:
        """Merge pieces that have one index, append those that have none (X1)."""
        standing = self._members.get(key)
        if not is_list(standing):
            self.put(key, [])
            standing = self._members[key]
        for piece in pieces:
            index = usable_index(piece.get("index"))
            if index is None:
                _, piece = self._cleaned("", piece)  # noqa: PLW2901
                self._budget.spend(weigh_value(piece))
                standing.append(piece)
                continue
            if index not in self._by_index:
                self._budget.spend(weigh_value({}))
                self._by_index[index] = {}
                standing.append(self._by_index[index])
            self._merge(self._by_index[index], piece, joined)

    def _merge(self, standing: dict[str, Any], members: dict[str, Any], joined: frozenset[str]) -> None:
        target = Extras(self._budget, self._place, self._report_lone, standing)
        for name, value in members.items():
            if name in joined and isinstance(value, str):
                target.join(name, value)
            elif value is not None:
                target.put(name, value)
            elif name not in standing:
                target._store(*self._cleaned(name, None))
