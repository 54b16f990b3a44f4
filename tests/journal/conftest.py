"""Fixtures of the journal's tests: stores of both kinds, and a PostgreSQL that starts when it is first asked
for."""

from __future__ import annotations

from itertools import count

import pytest

from deltafold.journal import FileStore
from tests.journal import postgres_server

_numbers = count()


@pytest.fixture(scope="session")
def server():
    with postgres_server.running(fsync="off") as server:
        yield server


@pytest.fixture
def postgres(server):
    """A PostgreSQL store of this test's own."""
    from deltafold.journal.stores.postgres import PostgresStore  # noqa: PLC0415  (an extra)

    return PostgresStore(server.address, schema=f"test_{next(_numbers)}")


@pytest.fixture(params=["file", "postgres"])
def store(request, tmp_path):
    """Each store in turn: the same tests, the same rules."""
    if request.param == "file":
        return FileStore(tmp_path / "root", sync="os")
    return request.getfixturevalue("postgres")
