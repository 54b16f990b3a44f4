"""Appends a second of 64 sessions in one process: one sync each, and group commit.

    python -m benches.journal_appends [ROOT] [--sessions 64] [--rounds 5]

`in turn` is one program that appends to one session after the other; `threads` has one thread a session,
where the kernel may join the syncs of `always` by itself; `tasks` is one event loop with a task a session.
`os` asks for no sync at all: the ceiling that the program itself sets. The rounds of all are interleaved, and
the median counts.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from deltafold.journal import AsyncJournal, Journal, syncer

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.journal.stores.file import Sync

TEXT = {"message": {"role": "user", "content": "x" * 200}}


def appending(journal: Journal, count: int) -> None:
    """Append records of about 300 bytes."""
    for _ in range(count):
        journal.append("user/message", TEXT)


def in_turn(journals: list[Journal], count: int) -> None:
    """One thread, one session after the other."""
    for _ in range(count):
        for journal in journals:
            journal.append("user/message", TEXT)


def in_threads(journals: list[Journal], count: int) -> None:
    """One thread a session."""
    threads = [threading.Thread(target=appending, args=(journal, count)) for journal in journals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def in_tasks(journals: list[Journal], count: int) -> None:
    """One event loop, one task a session."""

    async def work(journal: AsyncJournal) -> None:
        for _ in range(count):
            await journal.append("user/message", TEXT)

    await asyncio.gather(*(work(AsyncJournal(journal)) for journal in journals))


def as_tasks(journals: list[Journal], count: int) -> None:
    """The same, run to its end."""
    asyncio.run(in_tasks(journals, count))


MODES: dict[str, tuple[Sync, Callable[[list[Journal], int], None], int]] = {
    "always, in turn": ("always", in_turn, 20),
    "always, threads": ("always", in_threads, 60),
    "always, tasks": ("always", as_tasks, 40),
    "group, threads": ("group", in_threads, 60),
    "group, tasks": ("group", as_tasks, 60),
    "os, threads": ("os", in_threads, 60),
    "os, in turn": ("os", in_turn, 60),
}


def rate(
    root: str, sync: Sync, work: Callable[[list[Journal], int], None], sessions: int, count: int
) -> float:
    """Appends a second."""
    with ExitStack() as stack, tempfile.TemporaryDirectory(dir=root) as folder:
        journals = [
            stack.enter_context(Journal.open(folder, f"s{number}", create=True, sync=sync))
            for number in range(sessions)
        ]
        for journal in journals:
            journal.append("turn/start", {"turn": 0})
        started = time.perf_counter()
        work(journals, count)
        return sessions * count / (time.perf_counter() - started)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "root", nargs="?", default=tempfile.gettempdir(), help="a folder on the disk to measure"
    )
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {name: [] for name in MODES}
    shared = syncer.shared()
    for _ in range(options.rounds):
        for name, (sync, work, count) in MODES.items():
            rates[name].append(rate(options.root, sync, work, options.sessions, count))
    base = statistics.median(rates["always, in turn"])
    for name, measured in rates.items():
        middle = statistics.median(measured)
        spread = f"({min(measured):.0f} to {max(measured):.0f})"
        print(f"{name:18} {middle:9.0f} appends/s  {middle / base:5.1f} x   {spread}")
    print(
        f"group commit: {shared.batches} batches, {shared.synced_systems} syncs of the file system, "
        f"{shared.synced_files} of single files"
    )


if __name__ == "__main__":
    main()
