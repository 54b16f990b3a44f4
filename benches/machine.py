"""What the figures were measured on, in one line."""

from __future__ import annotations

import datetime as dt
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("deltafold", "orjson", "msgspec")


@cache
def description(packages: tuple[str, ...] = PACKAGES) -> str:
    """Processor, cores, Python, versions and the date (UTC)."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor()}, {os.cpu_count()} cores, {platform.system()}; {python}; {versions}; {today}"


def version(package: str) -> str:
    """Version of an installed package, or a word that it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
