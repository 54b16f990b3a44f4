from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.gateway import Gateway, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    with running() as gateway:
        yield gateway
