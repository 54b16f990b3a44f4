"""The Python interpreters of this machine that deltafold supports."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.shell import answer, say

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 11)

PROBE = """
import json, sys, sysconfig
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "final": sys.version_info.releaselevel == "final",
    "cpython": sys.implementation.name == "cpython",
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "venv": __import__("importlib.util").util.find_spec("ensurepip") is not None,
}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python of this machine."""

    path: Path
    version: tuple[int, int, int]
    free_threaded: bool
    can_make_venvs: bool

    @property
    def name(self) -> str:
        """`3.12`, or `3.14t` where it is built without the global interpreter lock."""
        return f"{self.version[0]}.{self.version[1]}{'t' if self.free_threaded else ''}"


def supported() -> list[Interpreter]:
    """One interpreter for each version from OLDEST on, oldest first; of equals the one that runs this."""
    found: dict[str, Interpreter] = {}
    for path in candidates():
        interpreter = probe(path)
        if interpreter is None or interpreter.version < OLDEST:
            continue
        if interpreter.free_threaded:
            say(f"{path}: free-threaded, takes no abi3 wheel; the wheels workflow builds and tests its own")
            continue
        known = found.get(interpreter.name)
        if known is None or (interpreter.can_make_venvs and not known.can_make_venvs):
            found[interpreter.name] = interpreter
    return sorted(found.values(), key=lambda interpreter: interpreter.version)


def current() -> Interpreter:
    """The interpreter that runs this script."""
    interpreter = probe(Path(sys.executable))
    if interpreter is None:
        sys.exit(f"{sys.executable} does not answer")
    return interpreter


def candidates() -> Iterator[Path]:
    """Paths that may be interpreters: this one, those on the PATH, those of pyenv and of uv."""
    yield Path(sys.executable)
    name = re.compile(r"python3\.\d+t?(\.exe)?")
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        # A pyenv shim answers for whichever version is selected, or not at all; the versions come below.
        if folder and "shims" not in Path(folder).parts and Path(folder).is_dir():
            yield from sorted(path for path in Path(folder).iterdir() if name.fullmatch(path.name))
    yield from sorted(
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin/python")
    )
    yield from uv_managed()


def uv_managed() -> list[Path]:
    """Interpreters that uv has installed."""
    uv = shutil.which("uv")
    folder = answer(uv, "python", "dir") if uv else None
    if folder is None:
        return []
    return sorted([*Path(folder.strip()).glob("*/bin/python3"), *Path(folder.strip()).glob("*/python.exe")])


def probe(path: Path) -> Interpreter | None:
    """What the interpreter says of itself; None for what is no finished CPython."""
    text = answer(path, "-I", "-c", PROBE)
    if text is None:
        return None
    told = json.loads(text)
    if not (told["cpython"] and told["final"]):
        return None
    major, minor, micro = told["version"]
    return Interpreter(path, (major, minor, micro), told["free_threaded"], told["venv"])
