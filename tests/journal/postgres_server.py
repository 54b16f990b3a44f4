"""A PostgreSQL of the tests' own: in a temporary folder, as a user that is not root, on a port of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 60
shared_buffers = 16MB
log_min_messages = panic
"""


def program(name: str) -> str | None:
    """The path of one of PostgreSQL's programs: on the PATH, or where Debian puts them."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_user() -> dict[str, Any]:
    """The options that start a program as somebody other than root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("there is no user to run PostgreSQL as")


class Server:
    """The server; `address` is what a store takes."""

    def __init__(self, folder: Path, *, fsync: str) -> None:
        self.port = free_port()
        self.data = folder / "data"
        self.user = server_user()
        self.address = f"postgresql://tester@127.0.0.1:{self.port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None
        initdb, self._postgres = program("initdb"), program("postgres")
        if initdb is None or self._postgres is None:
            pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
        command = [
            initdb,
            "-D",
            str(self.data),
            "-U",
            "tester",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, **self.user)
        if done.returncode:
            pytest.skip(f"initdb does not run here: {done.stderr.strip()}")
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(SETTINGS + f"port = {self.port}\nfsync = {fsync}\n")

    def start(self) -> None:
        """Start, and answer; after a kill the old processes may take a moment to be gone."""
        for _ in range(20):
            if self._answers():
                return
            time.sleep(0.2)
        raise AssertionError("the server does not start")

    def _answers(self) -> bool:
        import psycopg  # noqa: PLC0415  (an extra)

        assert self._postgres is not None
        self._process = subprocess.Popen(
            [self._postgres, "-D", str(self.data)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.data,
            **self.user,
        )
        while self._process.poll() is None:
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return True
        return False

    def kill(self) -> None:
        """End every process of the server at once, as a power cut of its machine would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # it starts no new one meanwhile
        for name in os.listdir("/proc"):  # noqa: PTH208
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
                if int(stat[1]) == self._process.pid:
                    os.kill(int(name), signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()


@contextlib.contextmanager
def running(*, fsync: str = "on"):
    """A running server, or a skip with the reason; with `fsync` off one that is not to be killed, and
    faster."""
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with tempfile.TemporaryDirectory(prefix="deltafold-pg-") as name:
        folder = Path(name)
        user = server_user()
        if user:
            os.chown(folder, user["user"], user["group"])
        server = Server(folder, fsync=fsync)
        server.start()
        try:
            yield server
        finally:
            server.stop()
