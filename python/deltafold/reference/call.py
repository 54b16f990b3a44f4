"""One tool call while it is folded, and one delta of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold.reference.arguments import ArgumentScanner, Shape
from deltafold.reference.text import Text

if TYPE_CHECKING:
    from deltafold.completion import Kind, Status
    from deltafold.reference.extras import Extras

_JSON_SPACE = " \t\n\r"


class ToolDelta:
    """What one entry of the wire says about one call: accepted identity (I1), arguments, oddities.

    `index` is usable or None (I2). `is_whole`: what is kept of the entry stands in place of what an earlier
    one said (W3). `remarks` are quirks with their details, to be reported with the call
    that the delta goes to.
    """

    __slots__ = ("arguments", "extra", "id", "index", "is_whole", "kind", "name", "remarks")

    def __init__(self, kind: Kind = "function") -> None:
        """Begin with a delta that says nothing."""
        self.kind: Kind = kind
        self.index: int | None = None
        self.id: str | None = None
        self.name: str | None = None
        self.arguments = ""
        self.extra: dict[str, Any] = {}
        self.is_whole = False
        self.remarks: list[tuple[str, str]] = []

    @property
    def begins_anew(self) -> bool:
        """Whether the arguments begin with an object (I2)."""
        return self.arguments.lstrip(_JSON_SPACE).startswith("{")


class Call:
    """A call in the making.

    held: a second call of a known id, whose fate is open until the end (I7).
    started: its identity has been shown in an event (I11). ended: its ToolCallEnd has come (A3); closed:
    its block or item has ended, which proves its end (A4).
    dropped: it repeated another call and is none (I7).
    fallback: arguments that count when none are streamed (W2). begun_snapshot, done_snapshot: the whole
    arguments as said when the call began, or was done; they fill or are compared (W3). standing: the one
    that stands in place of what was streamed.
    """

    __slots__ = (
        "_scanner",
        "_unscanned",
        "begun_snapshot",
        "blocks_before",
        "closed",
        "depth",
        "done_snapshot",
        "dropped",
        "ended",
        "extra",
        "fallback",
        "held",
        "id",
        "index",
        "item_id",
        "kind",
        "name",
        "opened_at",
        "position",
        "standing",
        "started",
        "status",
        "synthetic",
        "text",
    )

    def __init__(self, position: int, delta: ToolDelta, extra: Extras, depth: int) -> None:
        """Open a call at a position."""
        self.position = position
        self.index = delta.index
        self.opened_at = delta.index
        self.kind: Kind = delta.kind
        self.id: str | None = None
        self.name: str | None = None
        self.extra = extra
        self.depth = depth
        self.text = Text()
        self.fallback = ""
        self.begun_snapshot = ""
        self.done_snapshot = ""
        self.standing: str | None = None
        self.item_id: str | None = None
        self.blocks_before = 0
        self.held = False
        self.started = False
        self.ended = False
        self.closed = False
        self.dropped = False
        self.synthetic: str | None = None
        self.status: Status | None = None
        self._scanner: ArgumentScanner | None = None
        self._unscanned: list[str] = []

    @property
    def arguments(self) -> str:
        """The arguments so far (A1)."""
        if self.standing is not None:
            return self.standing
        return str(self.text) or self.done_snapshot or self.begun_snapshot or self.fallback

    def append(self, visible: str) -> None:
        """Append a fragment as sent."""
        self.text.append(visible)
        self._unscanned.append(visible)

    @property
    def complete(self) -> bool:
        """Whether the arguments are one complete JSON value (I2); only what is new is read."""
        if self.kind == "custom":
            return False
        if self._scanner is None:
            self._scanner = ArgumentScanner(self.depth)
        for fragment in self._unscanned:
            self._scanner.feed(fragment)
        self._unscanned = []
        return self._scanner.shape in {Shape.OBJECT, Shape.OTHER}
