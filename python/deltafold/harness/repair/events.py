"""Mending single events: envelope, turn boundaries, request headers, surface marks and cited seqs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.harness.edit import lone_surrogates, replace_lone_surrogates
from deltafold.harness.faults.messages import KNOWN_NAMES
from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    JsonValue,
    Record,
    as_int,
    as_record,
    is_safe_integer,
    stringify,
)
from deltafold.harness.model import legacy
from deltafold.harness.model.adopt import MESSAGE_TYPES, filled, has_provider_and_model
from deltafold.harness.model.restore import ENVELOPE_KEYS, request_problem
from deltafold.harness.model.surface import surface_operation
from deltafold.harness.repair.draft import Change, preview
from deltafold.harness.repair.gaps import Situation, rebuilt_boundary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltafold.harness.repair.draft import Draft

_DEFAULTED: Final = ("reasoningEffort", "maxTokens")
_LOOK_AHEAD: Final = 64
_LOOK_BACK: Final = 4096
"""Records that are searched for a neighbour: farther away nothing is proven, and work stays bounded."""


def mend_text(draft: Draft) -> None:
    """Write U+FFFD for lone surrogates: the reader takes them, every provider refuses the history later."""
    for row in draft.rows:
        if b"\\u" in row.raw and lone_surrogates(row.raw):
            row.write(replace_lone_surrogates(row.raw))
            why = "a lone surrogate cannot be sent; U+FFFD stands for it"
            draft.note(Change("lone-surrogate", why, "derived", line=row.number))
    draft.refresh()


def mend_envelopes(draft: Draft) -> None:
    """Give every event an envelope that the reader takes."""
    hollow: set[int] = set()
    situation = Situation()
    for position, event in enumerate(draft.events):
        row = draft.owners[position]
        if not row.packed:
            _mend_envelope(draft, position, event)
            if not _type_told(draft, position, event) or (
                _hollow(event) and not _rebuild_data(draft, position, event, situation)
            ):
                hollow.add(position)
        situation.take(event)
    draft.refresh()
    if hollow:
        draft.lost.extend(f"seq {position}: a record without type or data" for position in sorted(hollow))
        draft.replace_events(
            hollow, "envelope-data", "a record without type or data says nothing; a placeholder keeps its seq"
        )
    draft.refresh()


def _hollow(event: Record) -> bool:
    """Tell whether an event lacks the object that every known type has as its data."""
    return as_record(event.get("data")) is None and (event.get("type") in KNOWN_NAMES or "data" not in event)


def _type_told(draft: Draft, position: int, event: Record) -> bool:
    """Give an event without type the one that its data belongs to; False where that cannot be told."""
    shown = event.get("type")
    if isinstance(shown, str) and (shown in KNOWN_NAMES or _trusted(draft, position)):
        return True
    kind = _type_of(as_record(event.get("data")) or {})
    if kind is None:
        return False
    draft.owners[position].put(("type",), kind)
    draft.changed_at(
        position, "type-missing", "only this type has such data", "derived", member="type", new=preview(kind)
    )
    return True


def _trusted(draft: Draft, position: int) -> bool:
    """Tell whether an unknown type can be a newer harness's: not where its frame fails its check."""
    frame, frames = draft.owners[position].frame, draft.document.frames
    return not 0 <= frame < len(frames) or frames[frame].sound


def _type_of(data: Record) -> str | None:
    if "chunk" in data:
        return "assistant/chunk"
    if "callId" in data and "arguments" in data:
        return "tool/call"
    role = (as_record(data.get("message")) or {}).get("role")
    if role in ("assistant", "user") and "step" in data:
        return "assistant/message" if role == "assistant" else "tool/result"
    if data.get("role") == "user" and "content" in data:
        return "user/message"
    return "turn/end" if "reason" in data and "turn" in data else None


def _mend_envelope(draft: Draft, position: int, event: Record) -> None:
    row = draft.owners[position]
    for key in [key for key in event if key not in ENVELOPE_KEYS]:
        row.remove((key,))
        why = "the reader refuses unknown members"
        draft.changed_at(position, "envelope-key", why, "removed", member=key, old=preview(event[key]))
    if not is_safe_integer(event.get("time", UNDEFINED)):
        near = [
            draft.events[at].get("time", UNDEFINED)
            for at in (position - 1, position + 1)
            if 0 <= at < len(draft.events)
        ]
        time = next((number for number in map(as_int, near) if number is not None), 0)
        row.put(("time",), time)
        old = preview(event.get("time"))
        draft.changed_at(
            position,
            "envelope-time",
            "the time of its neighbour",
            "derived",
            member="time",
            old=old,
            new=str(time),
        )
    if event.get("ignorable", True) is not True:
        row.remove(("ignorable",))
        draft.changed_at(
            position, "envelope-ignorable", "only true may stand there", "removed", member="ignorable"
        )


def _rebuild_data(draft: Draft, position: int, event: Record, situation: Situation) -> bool:
    """Rebuild the data of a boundary or a call from what stands around it; False where nothing proves it."""
    data = rebuilt_boundary(str(event.get("type")), situation)
    if data is None:
        return False
    draft.owners[position].put(("data",), data)
    draft.changed_at(
        position, "envelope-data", "rebuilt from its neighbours", "derived", member="data", new=preview(data)
    )
    return True


def mend_boundaries(draft: Draft) -> None:
    """Bring turn boundaries into a shape that the reader takes.

    How a turn ended is kept where it still shows.
    """
    turn: int | None = None
    for position, event in enumerate(draft.events):
        data = as_record(event.get("data")) or {}
        if event.get("type") == "turn/start":
            if _refused(event, draft.session):
                _mend_turn_start(draft, position, data)
            turn = as_int(data.get("turn"))
        elif event.get("type") == "turn/end" and _refused(event, draft.session):
            _mend_turn_end(draft, position, data, turn or 1)
    draft.refresh()


def _refused(event: Record, session: str) -> bool:
    try:
        legacy.upgrade_turn_end(legacy.upgrade_turn_start(event, session), session)
    except JsError:
        return True
    return False


def _mend_turn_start(draft: Draft, position: int, data: Record) -> None:
    if as_int(data.get("turn")) is None:
        return
    draft.owners[position].put(("data",), {"turn": data["turn"]})
    why = "a trigger that no reader takes"
    draft.changed_at(position, "turn-malformed", why, "removed", member="data", old=preview(data))


def _mend_turn_end(draft: Draft, position: int, data: Record, turn: int) -> None:
    reason = as_record(data.get("reason")) or {}
    number = as_int(data.get("turn"))
    kind = reason.get("kind")
    known = kind in ("completed", "blocked", "max-tokens", "interrupted")
    mended: Record = {"turn": number if number is not None and number > 0 else turn}
    mended["reason"] = {"kind": kind if known else "interrupted"}
    draft.owners[position].put(("data",), mended)
    if not known:
        draft.lost.append(f"seq {position}: how the turn ended")
    why = "the kind of the ending is kept" if known else "its ending cannot be read"
    draft.changed_at(
        position, "turn-malformed", why, "derived", member="data", old=preview(data), new=preview(mended)
    )


def mend_requests(draft: Draft) -> None:
    """Complete request headers: provider and model from the records of the same request."""
    routes = Routes(draft.events)
    for position, event in enumerate(draft.events):
        problem = request_problem(event)
        if problem is None:
            continue
        data = as_record(event.get("data")) or {}
        config = as_record((as_record(data.get("header")) or {}).get("config"))
        if config is None:
            draft.blocked.append(f"seq {position}: a request header without config")
        elif problem == "lacks provider/model":
            _mend_route(draft, position, config, routes)
        else:
            _mend_options(draft, position, data, config)
    draft.refresh()


class Routes:
    """Provider and model in force at each event."""

    def __init__(self, events: Sequence[Record]) -> None:
        """Walk the events once."""
        self.events = events
        self.before: list[Record | None] = []
        known: Record | None = None
        for event in events:
            self.before.append(known)
            known = _route(event) or known

    def near(self, position: int) -> Record | None:
        """Return the route of a record: the next one named in its step, else the last one before it."""
        for event in self.events[position + 1 : position + _LOOK_AHEAD]:
            if event.get("type") in ("turn/start", "step/start"):
                break
            source = _route(event)
            if source is not None:
                return source
        return self.before[position]


def _route(event: Record) -> Record | None:
    data = as_record(event.get("data")) or {}
    kind = event.get("type")
    found: JsonValue = None
    if kind == "request/context":
        found = data
    elif kind == "request/header":
        found = (as_record(data.get("header")) or {}).get("config")
    elif kind == "assistant/message":
        found = (as_record(data.get("message")) or {}).get("source")
    record = as_record(found)
    return record if record is not None and has_provider_and_model(record) else None


def _mend_route(draft: Draft, position: int, config: Record, routes: Routes) -> None:
    known = routes.near(position)
    for key in ("provider", "model"):
        if filled(config.get(key)):
            continue
        if known is None:
            draft.blocked.append(f"seq {position}: nothing names the {key} of this request")
            return
        draft.owners[position].put(("data", "header", "config", key), known[key])
        draft.changed_at(
            position, "request-header", "named beside it", "recovered", member=key, new=preview(known[key])
        )


def _mend_options(draft: Draft, position: int, data: Record, config: Record) -> None:
    row = draft.owners[position]
    header = as_record(data.get("header")) or {}
    if "reasoningEffort" in config and not filled(config["reasoningEffort"]):
        row.remove(("data", "header", "config", "reasoningEffort"))
        draft.changed_at(position, "request-header", "not a text", "removed", member="reasoningEffort")
        config = {key: value for key, value in config.items() if key != "reasoningEffort"}
    defaults = as_record(header.get("adapterDefaults"))
    kept: Record = {
        key: True
        for key, value in (defaults or {}).items()
        if key in _DEFAULTED and value is True and key in config
    }
    if "adapterDefaults" in header and kept != header["adapterDefaults"]:
        row.put(("data", "header", "adapterDefaults"), kept)
        old = preview(header["adapterDefaults"])
        draft.changed_at(
            position,
            "request-header",
            "marks that name no field",
            "removed",
            member="adapterDefaults",
            old=old,
        )


def mend_surface(draft: Draft) -> None:
    """Let every event join the surface as its type must, and cite what it may."""
    for position, event in enumerate(draft.events):
        if draft.owners[position].packed:
            continue
        if event.get("type") in MESSAGE_TYPES:
            _mend_operation(draft, position, event)
            _mend_sources(draft, position, event)
            continue
        for key in ("surfaceOp", "sourceEventSeqs"):
            if key in event:
                draft.owners[position].remove((key,))
                why = "an event of this type stays off the surface"
                draft.changed_at(position, "surface-op", why, "removed", member=key, old=preview(event[key]))
    draft.refresh()


def _mend_operation(draft: Draft, position: int, event: Record) -> None:
    try:
        surface_operation(event)
    except JsError:
        before = draft.events[position - 1].get("type") if position else None
        if isinstance(before, str) and before.startswith("compaction/"):
            draft.blocked.append(f"seq {position}: which records this one replaced cannot be told")
            return
        draft.owners[position].put(("surfaceOp",), "append")
        old = preview(event.get("surfaceOp"))
        why = "a message that replaces nothing is appended"
        draft.changed_at(position, "surface-op", why, "derived", member="surfaceOp", old=old, new="append")


def _mend_sources(draft: Draft, position: int, event: Record) -> None:
    if "sourceEventSeqs" not in event:
        return
    raw = event["sourceEventSeqs"]
    mended = usable_sources(raw, position)
    if mended == raw and (mended or event.get("type") == "assistant/message"):
        return
    if not mended and event.get("type") == "tool/result":
        mended = _own_call(draft, position, event)
    row = draft.owners[position]
    if mended or event.get("type") == "assistant/message":
        row.put(("sourceEventSeqs",), [*mended])
    else:
        row.remove(("sourceEventSeqs",))
    why = "only earlier seqs, each once, may be cited"
    draft.changed_at(
        position,
        "source-seqs",
        why,
        "derived",
        member="sourceEventSeqs",
        old=preview(raw),
        new=stringify([*mended]),
    )


def usable_sources(raw: JsonValue, position: int) -> list[int]:
    """Return the seqs that may be cited: ranges written out, duplicates and later ones left out."""
    kept: dict[int, None] = {}
    for source in raw if isinstance(raw, list) else []:
        pair = [as_int(end) for end in source] if isinstance(source, list) else [as_int(source)]
        low, high = pair[0] if pair else None, pair[-1] if pair else None
        if low is None or high is None or low < 0 or len(pair) > 2:  # noqa: PLR2004  # a range is a pair
            continue
        kept.update(dict.fromkeys(range(low, min(high + 1, position))))
    return list(kept)


def _own_call(draft: Draft, position: int, event: Record) -> list[int]:
    """Return the seq of the call that a result belongs to, told by its id within the step."""
    message = as_record((as_record(event.get("data")) or {}).get("message")) or {}
    wanted = (as_record(message.get("source")) or {}).get("callId")
    for at in range(position - 1, max(position - _LOOK_BACK, -1), -1):
        other = draft.events[at]
        if other.get("type") in ("step/start", "turn/start"):
            break
        if other.get("type") == "tool/call" and (as_record(other.get("data")) or {}).get("callId") == wanted:
            return [at]
    return []
