"""What the tests of apply and restore share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltafold.harness.layout import place_of
from deltafold.harness.limits import DEFAULT_LIMITS, RefusedError
from deltafold.harness.repair import apply
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import Plan, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def names(session: Path) -> list[str]:
    return [entry.name for entry in session.parent.iterdir()]


def planned(path: Path) -> Plan:
    return make_plan(path.read_bytes(), place_of(str(path)), Options(), DEFAULT_LIMITS)


def applied(path: Path) -> apply.Done:
    return apply.apply_plan(planned(path), DEFAULT_LIMITS)


def refused_untouched(path: Path, run: Callable[[], object], kind: str) -> None:
    """Something is refused, and the file and its directory are as they were."""
    before = path.read_bytes()
    with pytest.raises(RefusedError) as refused:
        run()
    assert refused.value.kind == kind
    assert path.read_bytes() == before
    assert not [entry.name for entry in path.parent.iterdir() if entry.name.endswith(".tmp")]
