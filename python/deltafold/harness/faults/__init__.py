"""Our own list of what is wrong with a session, with its place: also what the real reader does not see."""

from deltafold.harness.faults.find import find_faults
from deltafold.harness.faults.kinds import KINDS, Fault, Severity

__all__ = ["KINDS", "Fault", "Severity", "find_faults"]
