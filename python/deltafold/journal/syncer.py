"""Group commit: one thread of the process syncs for all appends that wait.

Whoever appended hands in its file and gets a `Ticket`. The thread takes all tickets that came while it was
busy, syncs each file once (or, where many wait, the whole file system once) and settles them. It never waits
for company: a lone append is synced at once.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from typing import TYPE_CHECKING, Final

from deltafold.journal.stores import files

if TYPE_CHECKING:
    from collections.abc import Callable

MANY: Final = 6
"""From this many files on, one sync of their file system is tried instead of one sync each."""
_TRUSTED: Final = frozenset({"ext4", "xfs", "btrfs", "f2fs"})
"""File systems whose `syncfs` waits for data, journal and the drive's cache."""
_REPORTS_ERRORS: Final = (5, 8)
"""The Linux version since which `syncfs` reports failed writes."""


class Ticket:
    """The promise of one append.

    Settled once, with None (it is on the disk) or the error that prevented it.
    """

    __slots__ = ("_callbacks", "_gate", "_guard", "error", "settled")

    def __init__(self) -> None:
        """Begin unsettled."""
        self.error: BaseException | None = None
        self.settled = False
        self._callbacks: list[Callable[[], None]] = []
        self._guard = threading.Lock()
        self._gate = threading.Lock()
        self._gate.acquire()

    def settle(self, error: BaseException | None = None) -> None:
        """Settle the promise and wake all who wait."""
        with self._guard:
            self.error = error
            self.settled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        self._gate.release()  # last: whoever waits finds everything done

    def wait(self) -> None:
        """Return once the bytes are on the disk; raise what prevented it."""
        self._gate.acquire()
        self._gate.release()
        if self.error is not None:
            raise self.error

    def when_settled(self, callback: Callable[[], None]) -> None:
        """Call back once it is settled, on the thread that settles it; at once when it is settled already."""
        with self._guard:
            if not self.settled:
                self._callbacks.append(callback)
                return
        callback()


class Syncer:
    """The thread and its queue. `batches`, `synced_files` and `synced_systems` count what it did."""

    def __init__(self) -> None:
        """Begin idle; the thread starts with the first submission."""
        self._wake = threading.Condition()
        self._pending: list[tuple[int, Ticket]] = []
        self._thread: threading.Thread | None = None
        self._whole_system = _WholeSystem()
        self.batches = 0
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
        if len(by_file) >= MANY and self._whole_system.worth(device, len(by_file)):
            error = self._whole_system.sync(device, next(iter(by_file)))
            self.synced_systems += 1
            for tickets in by_file.values():
                _settle(tickets, error)
            return
        started = time.monotonic()
        for descriptor, tickets in by_file.items():
            error = None
            try:
                files.sync_data(descriptor)
            except OSError as failure:
                error = failure
            self.synced_files += 1
            _settle(tickets, error)
        self._whole_system.note_files(device, len(by_file), time.monotonic() - started)


def _settle(tickets: list[Ticket], error: OSError | None) -> None:
    for ticket in tickets:
        ticket.settle(error)


class _WholeSystem:
    """`syncfs`, where it can be trusted, and whether it is cheaper just now.

    It also writes what other programs have dirty on that file system, so its last cost is weighed against
    that of one sync for each file, and it is tried again after a while.
    """

    RETRY_AFTER = 32

    def __init__(self) -> None:
        """Begin without experience."""
        self._trusted: dict[int, bool] = {}
        self._cost: dict[int, float] = {}
        self._file_cost: dict[int, float] = {}
        self._passed_over: dict[int, int] = {}
        self._syncfs = _find_syncfs()

    def worth(self, device: int, count: int) -> bool:
        if self._syncfs is None:
            return False
        if device not in self._trusted:
            self._trusted[device] = _file_system_of(device) in _TRUSTED
        if not self._trusted[device]:
            return False
        each = self._file_cost.get(device)
        if each is None or self._cost.get(device, 0.0) <= each * count:
            return True
        self._passed_over[device] = self._passed_over.get(device, 0) + 1
        if self._passed_over[device] < self.RETRY_AFTER:
            return False
        self._passed_over[device] = 0
        return True

    def sync(self, device: int, descriptor: int) -> OSError | None:
        assert self._syncfs is not None  # noqa: S101  (`worth` said so)
        started = time.monotonic()
        number = self._syncfs(descriptor)
        self._cost[device] = time.monotonic() - started
        return None if number == 0 else OSError(number, os.strerror(number))

    def note_files(self, device: int, count: int, seconds: float) -> None:
        self._file_cost[device] = seconds / count


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


_shared = Syncer()


def shared() -> Syncer:
    """Return the process's one syncer."""
    return _shared


def _renew() -> None:
    """A forked child has no sync thread of its parent's, and no business with its files."""
    global _shared  # noqa: PLW0603
    _shared = Syncer()


os.register_at_fork(after_in_child=_renew)
