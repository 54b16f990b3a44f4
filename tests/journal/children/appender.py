"""Appends numbered records for ever, and says each seq on standard output once it is acknowledged.

appender ROOT SESSION SYNC [COUNT]
"""

from __future__ import annotations

import os
import sys

from deltafold.journal import Journal, JournalFailed, JournalLocked
from tests.journal import forge


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def main(root: str, session: str, sync: str, count: str = "1000000000") -> None:
    try:
        journal = Journal.open(root, session, create=True, resume=True, sync=sync)  # type: ignore[arg-type]
    except JournalLocked as locked:
        say(f"locked {locked.pid}")
        return
    say(f"open {os.getpid()}")
    number = journal.state.last_turn
    acknowledged = 0
    try:
        while acknowledged < int(count):
            number += 1
            for kind, data in forge.session(1)[:-1]:
                if kind in {"turn/start", "turn/end"}:
                    data["turn"] = number
                say(f"ack {journal.append(kind, data)}")
                acknowledged += 1
    except JournalFailed as failed:
        say(f"failed {failed.outcome}")
        try:
            journal.append("session/close", {})
        except JournalFailed:
            say("dead")
    else:
        journal.close()
        say("closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
