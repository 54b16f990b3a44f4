"""Every kind of damage that the checks can name, repaired: what is known stays, what is not known stays unknown."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

import pytest

from deltafold.journal import Journal, JournalCorrupt, JournalLocked, load
from deltafold.journal.check import check
from deltafold.journal.faults import ADVICE
from deltafold.journal.repair.apply import RepairRefused, apply_plan, restore
from deltafold.journal.repair.plan import plan_repair
from deltafold.journal.targets import Target, targets_of
from tests.cli import streams
from tests.journal import forge
from tests.journal.forge import CLOSE, assistant, call, end, result, started, turn, user
from tests.journal.test_resume import accepted_everywhere

SALT = bytes(range(16))
HEALTHY = forge.session(2)
SAYS = assistant(text="so")


def target(root) -> Target:
    return next(targets_of(str(root), "s"))


def lines_of(entries: list[Any]) -> list[bytes]:
    return forge.log(entries, salt=SALT).splitlines(keepends=True)


def damaged(number: int, change) -> bytes:
    """A healthy log with one line changed."""
    lines = lines_of(HEALTHY)
    lines[number] = change(lines[number])
    return b"".join(lines)


def spoil(line: bytes) -> bytes:
    """More than one bit, still a record's form."""
    return line.replace(b"2026", b"2O26").replace(b"tea", b"TEA").replace(b"drink", b"dRINk").replace(b"done", b"DONe")


def repaired(root, data: bytes, **options: Any) -> tuple[Any, Any]:
    """Repair a log; returns the plan and the session as it loads then. What is not at fault kept its bytes."""
    path = forge.put(root, data)
    plan = plan_repair(target(root), **options)
    assert path.read_bytes() == data, "a plan changes nothing"
    done = apply_plan(plan)
    assert done is not None
    new = path.read_bytes()
    assert hashlib.sha256(new).hexdigest() == done.sha256
    loaded = load(root, "s")
    assert (loaded.torn, loaded.events[-1].type) == (0, "session/repair")
    assert check(target(root)).exit_code == 0
    with Journal.open(root, "s", resume=True) as journal:
        accepted_everywhere(journal)
    written = path.read_bytes()
    restore(target(root))
    assert path.read_bytes() == data, "restored byte for byte"
    restore(target(root))
    assert path.read_bytes() == written, "and what was there was kept as well"
    return plan, loaded


def entries_of(loaded: Any) -> list[tuple[str, Any]]:
    return [(event.type, event.data) for event in loaded.events[1:-1]]


def untouched(loaded: Any, data: bytes) -> int:
    """How many lines of the old log stand in the new one as they were."""
    old = set(data.splitlines(keepends=True))
    return sum(forge.line(e.seq, e.type, e.data, SALT, time=e.time) in old for e in loaded.events)


# One case for each kind of fault: the log, the kinds that check names, and the history that must come out.

TWO = [turn(), user(), assistant(call("a"), call("b"))]
FIXED = [*TWO, started("a"), result("a"), started("b"), result("b"), SAYS, end(), CLOSE]

CASES: dict[str, tuple[Any, set[str], list[tuple[str, Any]] | None]] = {
    "torn tail": (forge.log(HEALTHY, salt=SALT) + b'{"seq":16,"ti', {"torn-tail"}, HEALTHY),
    "one flipped bit": (damaged(3, lambda line: line[:60] + bytes([line[60] ^ 4]) + line[61:]), {"bad-crc"}, HEALTHY),
    "a flipped check value": (damaged(3, lambda line: line[:-4] + bytes([line[-4] ^ 1]) + line[-3:]), {"bad-crc"}, HEALTHY),
    "a lost line end": (damaged(3, lambda line: line[:-1] + b"\x0b"), {"foreign-bytes"}, HEALTHY),
    "a false line end": (damaged(3, lambda line: line[:40] + b"\n" + line[41:] if line[40] == 0x0A ^ 32 else line[:20] + bytes([10]) + line[21:]), {"foreign-bytes", "bad-crc"}, None),
    "foreign bytes between": (b"".join([*lines_of(HEALTHY)[:4], b"\0" * 50, b"\n", b"<html>\n", *lines_of(HEALTHY)[4:]]), {"foreign-bytes"}, HEALTHY),
    "bad crc of a tool/call": (damaged(4, spoil), {"bad-crc"}, None),
    "a whole record is missing": (b"".join(lines_of(HEALTHY)[:5] + lines_of(HEALTHY)[6:]), {"seq-gap", "call-without-result"}, None),
    "an exact repeat of a range": (b"".join(lines_of(HEALTHY)[:6] + lines_of(HEALTHY)[2:]), {"duplicate-identical"}, HEALTHY),
    "empty id in the result": ([*TWO, started("a"), result("a"), started("b"), result(""), SAYS, end(), CLOSE], {"empty-id"}, FIXED),
    "empty id in the call": ([*TWO, started(""), result("a"), started("b"), result("b"), SAYS, end(), CLOSE], {"empty-id"}, FIXED),
    "empty id in the message": ([turn(), user(), assistant(call("a"), call("")), started("a"), result("a"), started("b"), result("b"), SAYS, end(), CLOSE], {"empty-id", "call-not-in-message", "result-without-call"}, FIXED),
    "mismatched source": ([*TWO, started("a"), result("a"), started("b"), result("b", source={"kind": "tool", "call_id": "zzz"}), SAYS, end(), CLOSE], {"mismatched-source"}, FIXED),
    "source of another kind": ([*TWO, started("a"), result("a"), started("b"), result("b", source={"kind": "user", "call_id": "b"}), SAYS, end(), CLOSE], {"mismatched-source"}, FIXED),
    "result without call": ([turn(), user(), SAYS, result("zzz"), end(), CLOSE], {"result-without-call"}, [turn(), user(), SAYS, ("session/repair", None), end(), CLOSE]),
    "second result": ([*FIXED[:7], result("b", "again"), *FIXED[7:]], {"second-result"}, [*FIXED[:7], ("session/repair", None), *FIXED[7:]]),
    "started twice": ([*FIXED[:4], started("a"), *FIXED[4:]], {"call-not-in-message"}, [*FIXED[:4], ("session/repair", None), *FIXED[4:]]),
    "call of no message": ([turn(), user(), started("zzz"), SAYS, end(), CLOSE], {"call-not-in-message"}, [turn(), user(), ("session/repair", None), SAYS, end(), CLOSE]),
    "ids twice in a message": ([turn(), user(), assistant(call("a"), call("a")), started("a"), result("a"), started("a"), result("a"), SAYS, end(), CLOSE], {"duplicate-id", "call-not-in-message", "second-result", "call-without-result"}, None),
    "no calls at all": ([turn(), user(), ("assistant/message", {"message": {"role": "assistant", "content": "x", "tool_calls": []}, "finish_reason": "stop"}), end(), CLOSE], {"wrong-record"}, [turn(), user(), ("assistant/message", {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}), end(), CLOSE]),
    "an unknown record": ([turn(), user(), ("note/x", {}), SAYS, end(), CLOSE], {"wrong-record"}, [turn(), user(), ("session/repair", None), SAYS, end(), CLOSE]),
    "no JSON although sealed": (b"".join([*lines_of(HEALTHY)[:4], forge.line(4, "x", float("nan"), SALT), *lines_of(HEALTHY)[5:]]), {"wrong-record", "seq-gap"}, None),
    "a turn in a turn": ([turn(), user(), SAYS, turn(1), user(), SAYS, end(1), CLOSE], {"broken-turn"}, [turn(), user(), SAYS, ("turn/end", {"turn": 0, "reason": "repaired"}), turn(1), user(), SAYS, end(1), CLOSE]),
    "a turn that never began": ([user(), SAYS, end(0), CLOSE], {"broken-turn"}, [turn(), user(), SAYS, end(), CLOSE]),
    "the end of another turn": ([turn(), user(), SAYS, end(7), CLOSE], {"broken-turn"}, [turn(), user(), SAYS, end(), CLOSE]),
    "an end without a turn": ([turn(), user(), SAYS, end(), end(), CLOSE], {"broken-turn"}, [turn(), user(), SAYS, end(), ("session/repair", None), CLOSE]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_kind_of_damage(tmp_path, name):
    log, kinds, expected = CASES[name]
    data = log if isinstance(log, bytes) else forge.log(log, salt=SALT)
    forge.put(tmp_path, data)
    report = check(target(tmp_path))
    assert report.exit_code == (1 if kinds == {"torn-tail"} else 2)
    assert {fault.kind for fault in report.faults} <= kinds | set(), [f.kind for f in report.faults]
    assert {fault.kind for fault in report.faults} & kinds
    plan, loaded = repaired(tmp_path, data)
    if expected is not None:
        found = [(kind, None if kind == "session/repair" else data) for kind, data in entries_of(loaded)]
        assert found == expected
    assert plan.changes
