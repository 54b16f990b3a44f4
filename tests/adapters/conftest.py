from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests.adapters.gateway import Gateway, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    with running() as gateway:
        yield gateway


@pytest.fixture
def closing() -> Iterator[contextlib.ExitStack]:
    """What is entered here is closed behind the test: clients and their connections."""
    with contextlib.ExitStack() as stack:
        yield stack
