"""Sessions of DeepSeek Harness (log format v0) that will not open: say why, mend them, open them again.

`check_place` and `Scan` tell what the real reader would answer and which faults a log has; `make_plan` plans
a repair and touches nothing; `apply_plan` carries it out and `restore_file` takes it back.
"""

from deltafold.harness.check import Scan, SessionCheck, check_place
from deltafold.harness.faults import KINDS, Fault, Severity
from deltafold.harness.layout import Place, place_of
from deltafold.harness.limits import DEFAULT_LIMITS, Limits, RefusedError

__all__ = [
    "DEFAULT_LIMITS",
    "KINDS",
    "Fault",
    "Limits",
    "Place",
    "RefusedError",
    "Scan",
    "SessionCheck",
    "Severity",
    "check_place",
    "place_of",
]
