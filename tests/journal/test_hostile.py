"""Whatever lies in a session: no verb raises, each has one of its exit codes, and what it prints as JSON is
JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deltafold.cli import main
from tests.journal import forge, strategies
from tests.journal.damage import SALT

LONG = "DELTAFOLD_JOURNAL_LONG" in os.environ
VERBS = ("check", "show", "export", "replay", "quarantine", "repair")


def sealed(draw: st.DrawFn, kind: Any, data: Any) -> bytes:
    """A line with anything as its seq and time; none where Python cannot write it."""
    seq, time = draw(strategies.JUNK | st.integers(0, 9)), draw(strategies.JUNK)
    with contextlib.suppress(ValueError):
        return forge.line(seq, kind, data, SALT, time=time)
    return b""


@st.composite
def sessions(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A log and a quarantine: wounded records, odd numbers, foreign bytes."""
    entries = draw(strategies.mutated())
    lines = forge.log(entries, salt=SALT).splitlines(keepends=True)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = sealed(draw, *(entries[at - 1] if at else forge.start("s", SALT)))
    log = bytearray(b"".join(lines))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(log)))
        log[at : at + draw(st.integers(0, 50))] = draw(st.binary(max_size=20))
    refused = sealed(draw, draw(strategies.JUNK), draw(strategies.JUNK))
    odd = {"time": draw(strategies.JUNK), "event": draw(strategies.JUNK)}
    return bytes(log), refused + json.dumps(odd).encode("ascii") + b"\n"


def refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


@settings(max_examples=400 if LONG else 25, deadline=None)
@given(sessions())
def test_no_verb_stumbles_over_what_lies_there(session):
    log, refused = session
    with tempfile.TemporaryDirectory() as root:
        directory = forge.put(Path(root), log).parent
        (directory / "quarantine.jsonl").write_bytes(refused)
        for verb in VERBS:
            for options in ([], ["--json"]):
                out = io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                    assert main(["journal", verb, root, *options]) in {0, 1, 2, 3}
                if options or verb == "export":
                    for line in out.getvalue().splitlines():
                        json.loads(line, parse_constant=refuse)
        assert (directory / "journal.jsonl").read_bytes() == log, "nothing was changed"
