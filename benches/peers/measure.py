"""`python -m benches.peers.measure`: run inside the peers' environment, prints the figures as JSON.

A contender that does not give the right arguments is measured all the same and named as wrong; one that
cannot be imported or fails is left out with its reason.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import sys

# Before litellm is imported: it would ask the network for prices.
os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"})
os.environ.update({"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false"})

from benches.machine import description, version
from benches.peers.contender import Contender, stream
from benches.rounds import Work, measure

MODULES = (
    "ours",
    "openai_python",
    "anthropic_python",
    "langchain",
    "litellm_builder",
    "pydantic_ai_stream",
    "agents_sdk",
    "linguafranca_collector",
    "httpx_sse_frames",
    "shown_arguments",
    "over_loopback",
    "adapters",
)
ROUNDS = 9


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.peers.measure", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", help="modules whose name holds this text; ours is always there")
    options = parser.parse_args()
    left_out: dict[str, str] = {}
    contenders: list[Contender] = []
    for name in MODULES:
        if options.only and options.only not in name and name != "ours":
            continue
        try:
            contenders += importlib.import_module(f"benches.peers.{name}").CONTENDERS
        except Exception as error:  # noqa: BLE001 (a peer may fail in any way; the others still count)
            left_out[name] = f"{type(error).__name__}: {error}"
    right = {contender.label: tried(contender, left_out) for contender in contenders}
    running = [contender for contender in contenders if contender.label not in left_out]
    works: dict[str, Work] = {
        contender.label: functools.partial(contender.fold, stream(contender.wire).feeds)
        for contender in running
    }
    timing = measure(works, options.rounds)
    rows = [
        {
            "label": contender.label,
            "package": contender.package,
            "version": version(contender.package),
            "wire": contender.wire,
            "microseconds": timing.median(contender.label) * 1e6 / stream(contender.wire).chunks,
            "right": right[contender.label],
        }
        for contender in running
    ]
    machine = description(("deltafold",))
    print(json.dumps({"machine": machine, "rounds": options.rounds, "rows": rows, "left_out": left_out}))
    return 0


def tried(contender: Contender, left_out: dict[str, str]) -> bool:
    """Whether it gives the right arguments; where it fails, its reason goes to `left_out`."""
    given = stream(contender.wire)
    try:
        found = contender.fold(given.feeds)
        return json.loads(found) == json.loads(given.arguments)
    except ValueError:
        return False
    except Exception as error:  # noqa: BLE001 (as above)
        left_out[contender.label] = f"{type(error).__name__}: {error}"
        return False


if __name__ == "__main__":
    sys.exit(main())
