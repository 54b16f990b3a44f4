"""`python -m tests.differential`: see `long_run`, which the processes of a run import by name."""

from __future__ import annotations

import sys

from tests.differential.long_run import main

if __name__ == "__main__":
    sys.exit(main())
