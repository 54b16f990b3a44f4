"""deltafold, and the loops that people write by hand."""

from __future__ import annotations

import deltafold
from benches import loops
from benches.peers.contender import ANTHROPIC, CHAT, Contender, Feeds


def fold(feeds: Feeds) -> str:
    return deltafold.assemble(feeds).tool_calls[0].arguments


def orjson_loop(feeds: Feeds) -> str:
    return loops.orjson_fold(feeds).calls[0][2]


def msgspec_loop(feeds: Feeds) -> str:
    return loops.msgspec_fold(feeds).calls[0][2]


CONTENDERS = (
    Contender("deltafold", "deltafold", CHAT, fold),
    Contender("loop by hand, orjson", "orjson", CHAT, orjson_loop),
    Contender("loop by hand, msgspec", "msgspec", CHAT, msgspec_loop),
    Contender("deltafold, Messages", "deltafold", ANTHROPIC, fold),
)
