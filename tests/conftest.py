from __future__ import annotations

from typing import Any

import pytest

pytest.register_assert_rewrite("tests.cases", "tests.outcomes")

from tests.support import ENGINES, RANDOM_SEED, engine_of  # noqa: E402 (after the line above)


def pytest_report_header() -> str:
    return f"random inputs and cuts: DELTAFOLD_SEED={RANDOM_SEED}"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Any:
    """The module whose names are tested: `deltafold` (native) or `deltafold.reference`."""
    return engine_of(request.param)


@pytest.fixture
def engines() -> tuple[Any, Any]:
    """Both engines, native first, for tests that compare them."""
    return engine_of("native"), engine_of("reference")
