"""How the benchmarks drive deltafold: to the finished Completion, and with every event taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import deltafold
from deltafold import DeltafoldError
from deltafold import reference as reference_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

Feeds = list[bytes]


def engine(name: str) -> ModuleType:
    """The module that holds the engine's names: `native` (else an error) or `reference`."""
    if name == "reference":
        return reference_engine
    if name != deltafold.IMPLEMENTATION:
        message = f"the {name} engine could not be loaded: deltafold runs on its {deltafold.IMPLEMENTATION}"
        raise RuntimeError(message)
    return deltafold


def fold_of(module: ModuleType) -> Callable[[list[Feeds]], None]:
    """A function that folds each stream to its Completion and reads what a caller reads of it."""
    assemble = module.assemble

    def fold(streams: list[Feeds]) -> None:
        for feeds in streams:
            try:
                completion = assemble(feeds)
            except DeltafoldError:
                continue
            completion.content  # noqa: B018 (read, should the engine build it late)
            completion.reasoning  # noqa: B018
            for call in completion.tool_calls:
                call.arguments  # noqa: B018

    return fold


def events_of(module: ModuleType) -> Callable[[list[Feeds]], None]:
    """A function that takes every event of each stream, one for each delta, then the Completion."""
    assembler_class = module.Assembler

    def take(streams: list[Feeds]) -> None:
        for feeds in streams:
            assembler = assembler_class(coalesce=False)
            feed = assembler.feed
            try:
                for data in feeds:
                    for _event in feed(data):
                        pass
                assembler.close()
            except DeltafoldError:
                continue

    return take
