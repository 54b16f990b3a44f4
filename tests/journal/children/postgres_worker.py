"""Appends to a session in PostgreSQL for ever, and says each seq once it is acknowledged.

postgres_worker ADDRESS SCHEMA SESSION
"""

from __future__ import annotations

import sys

from deltafold.journal import Journal, JournalLocked
from deltafold.journal.stores.postgres import PostgresStore
from tests.journal.children.appender import say


def main(address: str, schema: str, session: str) -> None:
    try:
        journal = Journal.open(PostgresStore(address, schema=schema), session, create=True, resume=True)
    except JournalLocked as locked:
        say(f"locked {locked.pid}")
        return
    say("open")
    journal.append("turn/start", {"turn": journal.state.last_turn + 1})
    while True:
        seq = journal.append("user/message", {"message": {"role": "user", "content": "x"}})
        say(f"ack {seq}")


if __name__ == "__main__":
    main(*sys.argv[1:])
