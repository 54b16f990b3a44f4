"""`python -m benches.imports`: milliseconds that importing deltafold and orjson take, by -X importtime.

Each is the least of several fresh processes, in turns; exit code 1 where deltafold's is 20 ms or more above
orjson's.
"""

from __future__ import annotations

import os
import subprocess
import sys

ROUNDS = 7
ALLOWED = 20.0


def milliseconds(module: str) -> float:
    """The cumulative time of one import in a process of its own."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    times = [line.split("|") for line in done.stderr.splitlines() if line.count("|") == 2]
    return next(int(cumulative) / 1000 for _, cumulative, name in times if name.strip() == module)


def main() -> int:
    taken = {"orjson": float("inf"), "deltafold": float("inf")}
    for _ in range(ROUNDS):
        taken = {module: min(least, milliseconds(module)) for module, least in taken.items()}
    above = taken["deltafold"] - taken["orjson"]
    print(
        f"orjson {taken['orjson']:.1f} ms, deltafold {taken['deltafold']:.1f} ms: {above:.1f} ms above, "
        f"{ALLOWED:g} allowed"
    )
    return 0 if above < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
