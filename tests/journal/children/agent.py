"""An agent that is killed at a moment of its first turn.

agent ROOT MOMENT
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from deltafold.journal import Journal
from tests.cli import streams

if TYPE_CHECKING:
    from collections.abc import Iterator

TWO_CALLS = (
    streams.delta({"content": "Let me look."})
    + streams.delta(streams.call('{"q":"tea"}'))
    + streams.delta(
        {"tool_calls": [{"index": 1, "id": "call_2", "function": {"name": "other", "arguments": "{}"}}]}
    )
    + streams.delta({}, "tool_calls")
    + streams.DONE
)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def chunks(moment: str) -> Iterator[bytes]:
    for at in range(0, len(TWO_CALLS), 50):
        if moment == "in-stream" and at > len(TWO_CALLS) // 2:
            die()
        yield TWO_CALLS[at : at + 50]


def main(root: str, moment: str) -> None:
    journal = Journal.open(root, "s", create=True)
    turn = journal.turn(user="What is tea?")
    list(turn.stream(chunks(moment)))
    if moment == "before-call":
        die()
    first, second = turn.executable_calls
    with turn.running(first) as run:
        if moment == "in-call":
            die()
        run.result("a drink")
    if moment == "after-result":
        die()
    with turn.running(second):
        die()


if __name__ == "__main__":
    main(*sys.argv[1:])
