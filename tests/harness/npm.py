"""The published packages of the Harness, from the npm registry, and a Node that can run them.

Needs npm, the packages `@deepseek-ai/dsh-*` 0.1.0-rc.8 and a Node with zstd (22.15 or later; an older one is
replaced by the package `node`). They are put into the folder that DELTAFOLD_HARNESS_NPM names, else into a
temporary one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

VERSION = "0.1.0-rc.8"
PACKAGES = [
    f"@deepseek-ai/dsh-{name}@{VERSION}"
    for name in ("session", "session-persistence", "session-persistence-jsonl")
]
NODE = "node@22"
HAS_ZSTD = "import('node:zlib').then(zlib => process.exit(zlib.zstdCompressSync ? 0 : 1))"
SCOPE = "@deepseek-ai"
MIGRATION = {
    "dsh-session-format": "0.1.3-alpha.2",
    "dsh-session-format-v0-to-v1": "0.1.3-alpha.2",
    "dsh-util-values": "0.1.2-alpha.2",
}
"""What migrates a log to the next format; their own requirements name versions that were never published, so
they are unpacked and not installed."""


def folder(factory: pytest.TempPathFactory) -> Path:
    """The folder for packages: a given one, which is kept, or a temporary one."""
    given = os.environ.get("DELTAFOLD_HARNESS_NPM")
    return Path(given) if given else factory.mktemp("npm")


def quiet(*words: str, folder: Path, timeout: int) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def usable(node: str, folder: Path) -> bool:
    done = quiet(node, "-e", HAS_ZSTD, folder=folder, timeout=30)
    return done is not None and done.returncode == 0


def install(folder: Path, *packages: str, scripts: bool = False) -> str | None:
    """Install packages into a folder; the reason where that cannot be done."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not here"
    options = ["--no-audit", "--no-fund", "--no-save", *([] if scripts else ["--ignore-scripts"])]
    done = quiet(npm, "install", *options, *packages, folder=folder, timeout=300)
    if done is None or done.returncode:
        return f"npm cannot install {packages[0]}: {(done.stderr if done else 'no answer').strip()[:200]}"
    return None


def prepare(folder: Path) -> tuple[str, str | None]:
    """Return a Node that can run the loader, and the reason where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private":true,"type":"module"}\n')
    wanted = folder / "node_modules" / "@deepseek-ai" / "dsh-session-persistence-jsonl" / "package.json"
    if not wanted.is_file():
        reason = install(folder, *PACKAGES)
        if reason is not None:
            return "", reason
    for node in (shutil.which("node"), str(folder / "node_modules" / "node" / "bin" / "node")):
        if node is not None and usable(node, folder):
            return node, None
    reason = install(folder, *PACKAGES, NODE, scripts=True)
    node = str(folder / "node_modules" / "node" / "bin" / "node")
    return node, reason or (None if usable(node, folder) else "no Node with zstd can be had")


def prepare_migration(folder: Path) -> tuple[str, str | None]:
    """Return a Node for the migration, which needs no zstd, and the reason where it cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "", "node and npm are not here"
    scope = folder / "node_modules" / SCOPE
    missing = [name for name in MIGRATION if not (scope / name / "package.json").is_file()]
    if not missing:
        return node, None
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [f"{SCOPE}/{name}@{MIGRATION[name]}" for name in missing]
    done = quiet(npm, "pack", "--silent", *wanted, folder=folder, timeout=300)
    if done is None or done.returncode:
        return "", f"npm cannot fetch {wanted[0]}: {(done.stderr if done else 'no answer').strip()[:200]}"
    for name in missing:
        archive = folder / f"{SCOPE[1:]}-{name}-{MIGRATION[name]}.tgz"
        with tarfile.open(archive) as packed:
            packed.extractall(scope / f"{name}.new", filter="data")
        (scope / f"{name}.new" / "package").rename(scope / name)
    return node, None
