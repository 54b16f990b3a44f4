"""Damaged logs, one for each kind of damage that the checks can name: the log, the kinds, and the history
that must come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.journal import forge
from tests.journal.forge import CLOSE, assistant, call, end, result, started, turn, user

SALT = bytes(range(16))
HEALTHY = forge.session(2)
SAYS = assistant(text="so")
TWO = [turn(), user(), assistant(call("a"), call("b"))]
FIXED = [*TWO, started("a"), result("a"), started("b"), result("b"), SAYS, end(), CLOSE]
MARK = ("session/repair", None)
"""Stands for any placeholder."""

Entries = list[tuple[str, Any]]


@dataclass(frozen=True)
class Case:
    """`data` is the log as it lies there, `expected` the records that must come out behind the first one."""

    data: bytes
    kinds: frozenset[str]
    expected: Entries


def lines_of(entries: Entries) -> list[bytes]:
    return forge.log(entries, salt=SALT).splitlines(keepends=True)


def flipped(data: bytes, place: int, bit: int = 4) -> bytes:
    """The same bytes with one bit turned."""
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


def changed(number: int, new: bytes, entries: Entries = HEALTHY) -> bytes:
    """A log with another line in the place of one."""
    lines = lines_of(entries)
    lines[number] = new
    return b"".join(lines)


def spoiled(number: int, old: bytes, new: bytes) -> bytes:
    """A log with a record that says something else than its check value holds for."""
    line = lines_of(HEALTHY)[number]
    assert old in line
    return changed(number, line.replace(old, new))


def without(number: int) -> bytes:
    lines = lines_of(HEALTHY)
    return b"".join(lines[:number] + lines[number + 1 :])


def swapped(position: int, *entries: tuple[str, Any], log: Entries = FIXED) -> Entries:
    """A session with other entries in the place of one."""
    return [*log[:position], *entries, *log[position + 1 :]]


def case(log: bytes | Entries, kinds: str, expected: Entries) -> Case:
    data = log if isinstance(log, bytes) else forge.log(log, salt=SALT)
    return Case(data, frozenset(kinds.split()), expected)


def unknown(call_id: str, error: str = "outcome-unknown") -> tuple[str, Any]:
    """The answer to a call whose own is lost."""
    return "tool/result", {"call_id": call_id, "is_error": True, "error": error}


def source(call_id: str, kind: str = "tool") -> dict[str, str]:
    return {"kind": kind, "call_id": call_id}


MESSAGE = lines_of(HEALTHY)[3]
JASMINE = [turn(), user("Jasmine?"), SAYS, end(), CLOSE]
J_LINE = lines_of(JASMINE)[2]
J_PLACE = J_LINE.index(b"J")  # one bit from a line end
EMPTY_CALLS = {"role": "assistant", "content": "x", "tool_calls": []}
NO_CALLS = {"role": "assistant", "content": "x"}
TEA = '{"q":"tea"}'

CASES = {
    "torn tail": case(b"".join([*lines_of(HEALTHY), b'{"seq":16,"ti']), "torn-tail", HEALTHY),
    "a bit of a value": case(changed(3, flipped(MESSAGE, 60)), "bad-crc", HEALTHY),
    "a bit of an id": case(changed(3, flipped(MESSAGE, MESSAGE.index(b"call_1"))), "bad-crc", HEALTHY),
    "a bit of the form": case(changed(3, flipped(MESSAGE, 1)), "foreign-bytes seq-gap", HEALTHY),
    "a bit of a check value": case(changed(3, flipped(MESSAGE, len(MESSAGE) - 4, 1)), "bad-crc", HEALTHY),
    "a bit of a line end": case(changed(3, MESSAGE[:-1] + b"\x0b"), "foreign-bytes", HEALTHY),
    "a bit that makes a line end": case(
        changed(2, flipped(J_LINE, J_PLACE, 0x40), JASMINE), "foreign-bytes seq-gap", JASMINE
    ),
    "foreign bytes": case(
        b"".join([*lines_of(HEALTHY)[:4], b"\0" * 50, b"\n<html>\n", *lines_of(HEALTHY)[4:]]),
        "foreign-bytes",
        HEALTHY,
    ),
    "bad crc of a tool/call": case(spoiled(4, b"2026-01-02", b"2027-11-12"), "bad-crc", HEALTHY),
    "bad crc of a turn's end": case(
        spoiled(7, b"2026-01-02", b"2027-11-12"), "bad-crc", swapped(6, end(0, "repaired"), log=HEALTHY)
    ),
    "bad crc of a result": case(
        spoiled(5, b"a drink", b"A DRINK"), "bad-crc", swapped(4, unknown("call_1"), log=HEALTHY)
    ),
    "bad crc of a user message": case(spoiled(2, b"What", b"when"), "bad-crc", swapped(1, MARK, log=HEALTHY)),
    "bad crc of a message": case(
        spoiled(3, b"call_1", b"CALL-9"),
        "bad-crc",
        swapped(2, MARK, log=swapped(3, MARK, log=swapped(4, MARK, log=HEALTHY))),
    ),
    "a result is missing": case(without(5), "seq-gap", swapped(4, unknown("call_1"), log=HEALTHY)),
    "a user message is missing": case(without(2), "seq-gap", swapped(1, MARK, log=HEALTHY)),
    "a turn's start is missing": case(without(1), "seq-gap broken-turn", HEALTHY),
    "an exact repeat": case(
        b"".join(lines_of(HEALTHY)[:6] + lines_of(HEALTHY)[2:]), "duplicate-identical", HEALTHY
    ),
    "empty id in the result": case(swapped(6, result("", source=source("b"))), "empty-id", FIXED),
    "empty id in result and source": case(swapped(6, result("")), "empty-id", FIXED),
    "empty id in the call": case(swapped(3, started("")), "empty-id", FIXED),
    "empty name in the call": case(swapped(3, started("a", "")), "unnamed-call", FIXED),
    "empty id in the message": case(
        swapped(2, assistant(call("a"), call(""))), "empty-id call-not-in-message result-without-call", FIXED
    ),
    "empty name in the message": case(
        swapped(2, assistant(call("a"), call("b", ""))), "unnamed-call call-not-in-message", FIXED
    ),
    "empty id in all": case(
        [turn(), user(), assistant(call("")), started(""), result(""), SAYS, end()],
        "empty-id",
        [turn(), user(), assistant(call("call-0")), started("call-0"), result("call-0"), SAYS, end()],
    ),
    "empty ids of two calls": case(
        [
            turn(),
            user(),
            assistant(call(""), call("")),
            started(""),
            result(""),
            started(""),
            result(""),
            SAYS,
            end(),
        ],
        "empty-id",
        [
            turn(),
            user(),
            assistant(call("call-0"), call("call-1")),
            started("call-0"),
            result("call-0"),
            started("call-1"),
            result("call-1"),
            SAYS,
            end(),
        ],
    ),
    "mismatched source": case(swapped(6, result("b", source=source("zzz"))), "mismatched-source", FIXED),
    "source of another kind": case(
        swapped(6, result("b", source=source("b", "user"))), "mismatched-source", FIXED
    ),
    "result without call": case(
        [turn(), user(), SAYS, result("zzz"), end()],
        "result-without-call",
        [turn(), user(), SAYS, MARK, end()],
    ),
    "second result": case(
        swapped(6, result("b"), result("b", "again")), "second-result", swapped(6, result("b"), MARK)
    ),
    "call without result": case(
        [turn(), user(), assistant(call("a"), call("b")), started("a"), user("next"), SAYS, end()],
        "call-without-result",
        [
            turn(),
            user(),
            assistant(call("a"), call("b")),
            started("a"),
            unknown("a"),
            unknown("b", "not-started"),
            user("next"),
            SAYS,
            end(),
        ],
    ),
    "started twice": case(
        swapped(3, started("a"), started("a")), "call-not-in-message", swapped(3, started("a"), MARK)
    ),
    "call of no message": case(
        [turn(), user(), started("zzz"), SAYS, end()],
        "call-not-in-message",
        [turn(), user(), MARK, SAYS, end()],
    ),
    "call with other arguments": case(
        swapped(3, started("a", arguments="{}")), "call-not-in-message", swapped(3, MARK)
    ),
    "unnamed call": case(
        [
            turn(),
            user(),
            assistant(call("a"), call("b", "")),
            started("a"),
            result("a"),
            result("b"),
            SAYS,
            end(),
        ],
        "unnamed-call",
        [turn(), user(), assistant(call("a")), started("a"), result("a"), MARK, SAYS, end()],
    ),
    "only an unnamed call": case(
        [turn(), user(), assistant(call("", "")), started("", ""), result(""), SAYS, end()],
        "empty-id unnamed-call",
        [
            turn(),
            user(),
            (
                "assistant/message",
                {"message": {"role": "assistant", "content": ""}, "finish_reason": "tool_calls"},
            ),
            MARK,
            MARK,
            SAYS,
            end(),
        ],
    ),
    "unnamed call in an open turn": case(
        [turn(), user(), assistant(call("a"), call("b", "")), started("a")],
        "unnamed-call",
        [turn(), user(), assistant(call("a")), started("a"), unknown("a"), end(0, "repaired")],
    ),
    "ids twice in a message": case(
        [
            turn(),
            user(),
            assistant(call("a"), call("a")),
            started("a"),
            result("a"),
            started("a"),
            result("a"),
            SAYS,
        ],
        "duplicate-id call-not-in-message second-result",
        [
            turn(),
            user(),
            assistant(call("a"), call("a-2")),
            started("a"),
            result("a"),
            started("a-2"),
            result("a-2"),
            SAYS,
        ],
    ),
    "cut arguments": case(
        [
            turn(),
            user(),
            assistant(call("a", arguments='{"q":')),
            started("a", arguments='{"q":'),
            result("a"),
            SAYS,
        ],
        "wrong-record",
        [turn(), user(), assistant(call("a", arguments="")), MARK, result("a"), SAYS],
    ),
    "no calls at all": case(
        [turn(), user(), ("assistant/message", {"message": EMPTY_CALLS, "finish_reason": "stop"}), end()],
        "wrong-record",
        [turn(), user(), ("assistant/message", {"message": NO_CALLS, "finish_reason": "stop"}), end()],
    ),
    "an unknown record": case(
        [turn(), user(), ("note/x", {}), SAYS, end()], "wrong-record", [turn(), user(), MARK, SAYS, end()]
    ),
    "sealed, but no JSON": case(
        changed(2, forge.line(2, "x", float("nan"), SALT)), "wrong-record", swapped(1, MARK, log=HEALTHY)
    ),
    "a second start": case(
        [turn(), user(), forge.start("s", SALT), SAYS, end()],
        "wrong-record",
        [turn(), user(), MARK, SAYS, end()],
    ),
    "a turn in a turn": case(
        [turn(), user(), SAYS, turn(1), user(), SAYS, end(1)],
        "broken-turn",
        [
            turn(),
            user(),
            SAYS,
            ("turn/end", {"turn": 0, "reason": "repaired"}),
            turn(1),
            user(),
            SAYS,
            end(1),
        ],
    ),
    "a turn that never began": case([user(), SAYS, end(0)], "broken-turn", [turn(), user(), SAYS, end()]),
    "the end of another turn": case(
        [turn(), user(), SAYS, end(7)], "broken-turn", [turn(), user(), SAYS, end()]
    ),
    "an end without a turn": case(
        [turn(), user(), SAYS, end(), end()], "broken-turn", [turn(), user(), SAYS, end(), MARK]
    ),
}
