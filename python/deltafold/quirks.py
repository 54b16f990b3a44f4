"""The one table of departures that are tolerated and reported (Q1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuirkKind:
    """One kind of departure: what was seen, and what the fold made of it."""

    kind: str
    meaning: str
    effect: str


def _table(*rows: tuple[str, str, str]) -> dict[str, QuirkKind]:
    return {kind: QuirkKind(kind, meaning, effect) for kind, meaning, effect in rows}


QUIRKS: dict[str, QuirkKind] = _table(
    ("unknown-field", "a line with a field that server-sent events do not have (S4)", "the line is ignored"),
    ("unterminated-tail", "the input ended inside an event (S5)", "kept when whole by itself, else dropped"),
    ("invalid-utf8", "a line held bytes that are not UTF-8 (S6)", "they became U+FFFD"),
    ("data-after-done", "a payload came after the end of the response (P1)", "it is not folded"),
    ("empty-payload", "an event without content, or null (P2)", "it is skipped"),
    ("comment-as-data", "a payload that is itself a comment (P2)", "it is skipped"),
    ("malformed-payload", "a payload that is not a JSON object (P3)", "skipped, as malformed='skip' asks"),
    ("wrong-type", "a member had another type than documented (P4)", "the member counts as absent"),
    ("lone-surrogate", "half a surrogate pair without the other half (P5)", "it became U+FFFD"),
    ("empty-identity", 'an id or a name came as "" (I1)', "the established value stays"),
    ("null-identity", "an id or a name came as null (I1)", "the established value stays"),
    ("index-type", "an index came as a string (I2)", "the number in it counts"),
    (
        "name-changed",
        "another name came for a named call (I4)",
        "the first name stands, unless the policy says last",
    ),
    ("shared-index", "a second call came at an index in use (I4)", "it is a call of its own"),
    (
        "id-changed",
        "another id came for a call that has one (I4e)",
        "the first id stands, unless the policy says last",
    ),
    ("index-changed", "a call went on at another index (I5b, I7)", "the fragments join the call"),
    (
        "index-missing",
        "a tool entry came without a usable index (I6)",
        "its id, its name or the order decide",
    ),
    ("orphan-fragment", "a fragment that belongs to no call (I6e)", "it is reported and dropped"),
    ("call-repeated", "a whole call came again at another index (I7)", "the repetition is dropped"),
    ("duplicate-id", "two different calls came with one id (I7)", "both stand"),
    ("synthetic-id", "a call never got an id (I10)", "it has an id made from its position"),
    ("arguments-type", "arguments came as JSON instead of a string (A2)", "their source text counts"),
    (
        "arguments-repeated",
        "arguments were sent again from the start (A6)",
        "appended; recovered() gives the last",
    ),
    ("finish-repeated", "a different finish reason came later (E1)", "the last one stands"),
    ("delta-after-finish", "text or a tool entry came after the finish reason (E1)", "it is folded"),
    ("no-done", "every choice finished, the end marker never came (E3)", "end is 'finished'"),
    (
        "stream-cut",
        "the stream ended without finish reason and marker (E3)",
        "end is 'cut', no call is executable",
    ),
    (
        "finish-stop-with-calls",
        "the finish reason is 'stop' although there are calls (E4)",
        "it stays 'stop'",
    ),
    ("snapshot-differs", "a snapshot differs from what was streamed (W3)", "the snapshot's value stands"),
)
"""Every kind, in the order of the contract; quirks that are seen together stand in this order."""
