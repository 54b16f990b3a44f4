"""Programs that come from the system: found, or installed where that is ours to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from scripts.shell import Failed, answer, run, say

PACKAGES = {"valgrind": "valgrind", "strace": "strace", "postgres": "postgresql", "git": "git"}
"""Program and the Debian package that brings it."""

BESIDE_THE_PATH = {"postgres": "/usr/lib/postgresql"}
"""Where a program lives that its package does not put on the PATH."""


def on_ci() -> bool:
    """Whether nothing may be left out."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def has(program: str) -> bool:
    """Whether the program is on this machine."""
    if shutil.which(program):
        return True
    folder = BESIDE_THE_PATH.get(program)
    return folder is not None and any(Path(folder).glob(f"*/bin/{program}"))


def ensure(*programs: str) -> bool:
    """See that the programs are there, from Debian's packages if need be; False where one is not.

    On CI a program that cannot be had is a failure.
    """
    missing = [program for program in programs if not has(program)]
    if missing and may_install():
        # An index that is a little old still installs; the packages themselves decide.
        answer("apt-get", "update", "--quiet")
        packages = [PACKAGES[program] for program in missing]
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run(
            "apt-get",
            "install",
            "--yes",
            "--quiet",
            "--no-install-recommends",
            *packages,
            extra=quiet,
            quiet=True,
        )
        missing = [program for program in programs if not has(program)]
    for program in missing:
        say(f"{program} is not on this machine (Debian: apt-get install {PACKAGES[program]})")
    if missing and on_ci():
        raise Failed(f"CI needs {', '.join(missing)}")
    return not missing


def may_install() -> bool:
    """Whether this process can install Debian packages."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None
