"""Where in the stream the fold is, and what it has noted there (Q1, S8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.completion import Quirk
from deltafold.errors import LimitError
from deltafold.quirks import QUIRKS

if TYPE_CHECKING:
    from deltafold.policy import Limits

_RANK = {kind: rank for rank, kind in enumerate(QUIRKS)}
_DETAIL_LENGTH = 200


class Place:
    """The frame being folded, and the byte where it begins; both None at the end of the stream.

    `surrogates` says whether the strings of its payload have lone surrogates in them (P5).
    """

    __slots__ = ("frame", "offset", "surrogates")

    def __init__(self) -> None:
        """Begin at the first frame."""
        self.frame: int | None = 0
        self.offset: int | None = 0
        self.surrogates = False

    def limit(self, kind: str, allowed: int, what: str) -> LimitError:
        """Make the error for a limit that is passed here (S8)."""
        return LimitError(f"more than {allowed} {what}", kind=kind, frame=self.frame, offset=self.offset)


class Budget:
    """The text that a response may keep (S8)."""

    __slots__ = ("_allowed", "_place", "_spent")

    def __init__(self, limits: Limits, place: Place) -> None:
        """Begin with nothing kept."""
        self._allowed = limits.text
        self._place = place
        self._spent = 0

    def spend(self, weight: int) -> None:
        """Count what is about to be kept; LimitError when it would be too much. A negative weight frees."""
        if self._spent + weight > self._allowed:
            raise self._place.limit("text", self._allowed, "bytes of text in the response")
        self._spent += weight


class QuirkLog:
    """What was tolerated: once a kind, with its count and the first place (Q1)."""

    __slots__ = ("_place", "_seen")

    def __init__(self, place: Place) -> None:
        """Begin with nothing seen."""
        self._place = place
        self._seen: dict[str, Quirk] = {}

    def report(
        self,
        kind: str,
        choice: int | None = None,
        call: int | None = None,
        detail: str = "",
        count: int = 1,
    ) -> None:
        """Note a departure at the present place; nothing when the count is 0."""
        if not count:
            return
        first = self._seen.get(kind)
        if first is None:
            self._seen[kind] = Quirk(kind, count, self._place.frame, choice, call, detail[:_DETAIL_LENGTH])
        else:
            total = first.count + count
            self._seen[kind] = Quirk(kind, total, first.frame, first.choice, first.call, first.detail)

    def quirks(self) -> tuple[Quirk, ...]:
        """Give them in order of first sight, then of the table."""

        def order(quirk: Quirk) -> tuple[bool, int, int]:
            return (quirk.frame is None, quirk.frame or 0, _RANK[quirk.kind])

        return tuple(sorted(self._seen.values(), key=order))
