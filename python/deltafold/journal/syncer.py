"""Group commit: one thread of the process syncs for all appends that wait.

Whoever appended hands in its file and gets a `Ticket`. The thread takes all tickets that came while it was
busy and has each file synced once, all at the same time, so that the file system's own journal and the
drive's cache are flushed for all of them together; or, where that is trusted and has been cheaper, syncs the
whole file system once. It never waits for company: a lone append is synced at once.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Literal

from deltafold.journal.stores import files

if TYPE_CHECKING:
    from collections.abc import Callable

HELPERS: Final = 16
"""Files that are synced at the same time."""
_TRUSTED: Final = frozenset({"ext4", "xfs", "btrfs", "f2fs"})
"""File systems whose `syncfs` waits for data, journal and the drive's cache."""
_REPORTS_ERRORS: Final = (5, 8)
"""The Linux version since which `syncfs` reports failed writes."""


class Ticket:
    """The promise of one append.

    Settled once, with None (it is on the disk) or the error that prevented it.
    """

    __slots__ = ("_callbacks", "_done", "_gate", "_guard", "_settled", "error")

    def __init__(self) -> None:
        """Begin unsettled."""
        self.error: BaseException | None = None
        self._settled = False
        self._done = False
        self._callbacks: list[Callable[[], None]] = []
        self._guard = threading.Lock()
        self._gate = threading.Lock()
        self._gate.acquire()

    def settle(self, error: BaseException | None = None) -> None:
        """Settle the promise and wake all who wait; they find every callback done."""
        with self._guard:
            self.error = error
            self._settled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        self._done = True
        self._gate.release()

    def wait(self) -> None:
        """Return once the bytes are on the disk; raise what prevented it."""
        if not self._done:
            self._gate.acquire()
            self._gate.release()
        if self.error is not None:
            raise self.error

    def when_settled(self, callback: Callable[[], None]) -> None:
        """Call back once it is settled, on the thread that settles it; at once when it is settled already."""
        with self._guard:
            if not self._settled:
                self._callbacks.append(callback)
                return
        callback()


def kept() -> Ticket:
    """Return a promise that is kept already."""
    return _KEPT


class Syncer:
    """The thread and its queue. The counts say what it did, in batches, files and file systems."""

    def __init__(self) -> None:
        """Begin idle; the thread starts with the first submission."""
        self._wake = threading.Condition()
        self._pending: list[tuple[int, Ticket]] = []
        self._thread: threading.Thread | None = None
        self._helpers: ThreadPoolExecutor | None = None
        self._whole_system = _WholeSystem()
        self.batches = 0
        self.appends = 0
        self.synced_files = 0
        self.synced_systems = 0

    def submit(self, descriptor: int) -> Ticket:
        """Ask for the bytes written to this file so far to be synced.

        The file stays open until the ticket is settled.
        """
        ticket = Ticket()
        with self._wake:
            self._pending.append((descriptor, ticket))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deltafold-sync", daemon=True)
                self._thread.start()
            self._wake.notify()
        return ticket

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._pending:
                    self._wake.wait()
                batch, self._pending = self._pending, []
            self.batches += 1
            self.appends += len(batch)
            waiting: dict[int, dict[int, list[Ticket]]] = {}
            for descriptor, ticket in batch:
                try:
                    device = os.fstat(descriptor).st_dev
                except OSError as failure:
                    ticket.settle(failure)
                    continue
                waiting.setdefault(device, {}).setdefault(descriptor, []).append(ticket)
            for device, by_file in waiting.items():
                self._sync(device, by_file)

    def _sync(self, device: int, by_file: dict[int, list[Ticket]]) -> None:
        if len(by_file) == 1:
            self._sync_files(list(by_file.items()))
            return
        started = time.monotonic()
        way = self._whole_system.choose(device)
        if way == "system":
            error = self._whole_system.sync(next(iter(by_file)))
            self.synced_systems += 1
            for tickets in by_file.values():
                _settle(tickets, error)
        else:
            self._sync_together(list(by_file.items()))
        self._whole_system.learn(device, way, time.monotonic() - started)

    def _sync_together(self, waiting: list[tuple[int, list[Ticket]]]) -> None:
        if self._helpers is None:
            self._helpers = ThreadPoolExecutor(HELPERS, thread_name_prefix="deltafold-sync")
        count = min(HELPERS, len(waiting))
        for done in [self._helpers.submit(self._sync_files, waiting[part::count]) for part in range(count)]:
            done.result()

    def _sync_files(self, waiting: list[tuple[int, list[Ticket]]]) -> None:
        for descriptor, tickets in waiting:
            error = None
            try:
                files.sync_data(descriptor)
            except OSError as failure:
                error = failure
            self.synced_files += 1
            _settle(tickets, error)


def _settle(tickets: list[Ticket], error: OSError | None) -> None:
    for ticket in tickets:
        ticket.settle(error)


class _WholeSystem:
    """`syncfs`, where it can be trusted, and whether it is the cheaper way just now.

    It also writes what other programs have dirty on that file system, so both ways are measured as they are
    used, and the dearer one is tried again now and then.
    """

    TRY_AGAIN = 24
    WEIGHT = 0.25

    def __init__(self) -> None:
        """Begin without experience."""
        self._syncfs = _find_syncfs()
        self._trusted: dict[int, bool] = {}
        self._costs: dict[int, dict[str, float]] = {}
        self._batches = 0

    def choose(self, device: int) -> Literal["system", "files"]:
        """Return the way to sync the next batch on this device."""
        if self._syncfs is None:
            return "files"
        if device not in self._trusted:
            self._trusted[device] = _file_system_of(device) in _TRUSTED
        if not self._trusted[device]:
            return "files"
        costs = self._costs.setdefault(device, {})
        self._batches += 1
        system_is_cheaper = costs.get("system", 0.0) <= costs.get("files", 0.0) or "system" not in costs
        if self._batches % self.TRY_AGAIN == 0:
            system_is_cheaper = not system_is_cheaper
        return "system" if system_is_cheaper else "files"

    def learn(self, device: int, way: str, seconds: float) -> None:
        """Note what a batch has cost."""
        costs = self._costs.setdefault(device, {})
        costs[way] = costs.get(way, seconds) * (1 - self.WEIGHT) + seconds * self.WEIGHT

    def sync(self, descriptor: int) -> OSError | None:
        """Sync the file system of this file."""
        number = self._syncfs(descriptor) if self._syncfs is not None else 0
        return None if number == 0 else OSError(number, os.strerror(number))


def _find_syncfs() -> Callable[[int], int] | None:
    """Return a function that syncs the file system of a descriptor and returns 0 or an errno, or None."""
    if platform.system() != "Linux":
        return None
    version = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    if version < _REPORTS_ERRORS:
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None

    def syncfs(descriptor: int) -> int:
        return 0 if function(ctypes.c_int(descriptor)) == 0 else ctypes.get_errno()

    return syncfs


def _file_system_of(device: int) -> str | None:
    """Return the type of the file system with this device number, from the process's mount table."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:  # noqa: PTH123
            for row in table:
                before, _, behind = row.partition(" - ")
                if before.split()[2] == wanted:
                    return behind.split()[0]
    except OSError:
        return None
    return None


_KEPT = Ticket()
_KEPT.settle()
_shared = Syncer()


def shared() -> Syncer:
    """Return the process's one syncer."""
    return _shared


def _renew() -> None:
    """Begin anew in a forked child: it has no sync thread of its parent's, and no business with its files."""
    global _shared  # noqa: PLW0603
    _shared = Syncer()


os.register_at_fork(after_in_child=_renew)
