"""What all tests share: where the shared folder is, which engines there are, and how input is cut.

Nothing here imports an engine when it is imported: `engine_of` does, so that tests of one engine do not need
the other one.
"""

from __future__ import annotations

import importlib
import itertools
import os
import random
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
VECTORS = ROOT / "tests" / "vectors"
SHARED = Path(os.environ.get("DELTAFOLD_SHARED", ROOT.parent / "shared"))
"""The folder of recordings; it is no part of the project: tests that need it skip where it is not there."""
SHARED_ABSENT = f"the shared folder of recordings is not there ({SHARED.name}; set DELTAFOLD_SHARED)"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=SHARED_ABSENT)

ON_CI = os.environ.get("CI", "") not in ("", "0", "false")
WIRES = ("openai-chat", "anthropic-messages", "openai-responses")
ENGINES = ("native", "reference")

FIXED_SEED = 20260101
RANDOM_SEED = int(os.environ.get("DELTAFOLD_SEED", "0")) or random.SystemRandom().getrandbits(32)
"""The seed of everything that differs from run to run; printed at the head of each run."""


def public() -> ModuleType:
    """The package as users import it; that no native module is there is left to a test of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("deltafold")


def engine_of(name: str) -> Any:
    """The engine of that name: the package itself for `native`, `deltafold.reference` for the twin.

    Without a native module a native test fails on CI, where a silent skip would hide that half of the tests
    never ran; elsewhere it skips with the reason.
    """
    package = public()
    if name == "reference":
        return importlib.import_module("deltafold.reference")
    if package.IMPLEMENTATION != "native":
        reason = "the native module is not built"
        if ON_CI:
            pytest.fail(reason)
        pytest.skip(reason)
    return package


def files(folder: Path, pattern: str = "*") -> list[Path]:
    """Files of a folder by name, none where the folder is not there."""
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


# How input is cut (S7). A cut is the list of chunk sizes; what is left over is the last chunk.


def pieces(body: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """`body` in chunks of these sizes, then what is left."""
    start = 0
    for size in sizes:
        if start >= len(body):
            return
        yield body[start : start + size]
        start += size
    if start < len(body):
        yield body[start:]


def even_sizes(size: int) -> Iterator[int]:
    """The same size for ever."""
    return itertools.repeat(size)


def random_sizes(seed: object, longest: int = 40) -> Iterator[int]:
    """Sizes between 1 and `longest`, half of them very small, the same for the same seed."""
    source = random.Random(repr(seed))
    while True:
        yield source.randint(1, 4) if source.random() < 0.5 else source.randint(1, longest)


def cuts(body: bytes, name: str) -> Iterator[tuple[str, list[bytes]]]:
    """The cuts of every vector: whole, single bytes, frames, three fixed random ones and a new one."""
    yield "whole", [body] if body else []
    yield "1-byte", [body[at : at + 1] for at in range(len(body))]
    *frames, rest = body.split(b"\n\n")
    yield "frames", [*(frame + b"\n\n" for frame in frames), rest]
    for seed in range(3):
        yield f"random cut {seed}", list(pieces(body, random_sizes((FIXED_SEED, seed, name))))
    yield f"random cut of DELTAFOLD_SEED={RANDOM_SEED}", list(pieces(body, random_sizes((RANDOM_SEED, name))))
