"""Virtual environments, what is installed in them, and the one wheel that all of them test."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from typing import TYPE_CHECKING

from scripts.shell import ROOT, Failed, answer, run, say

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.interpreters import Interpreter

MAIN = ROOT / ".venv"
OTHERS = ROOT / "target" / "venvs"
WHEELS = ROOT / "target" / "wheels" / "dev"
STAMP = "deltafold-requirements.json"
"""What was installed in an environment, and for which Python; kept inside it."""


def python_of(venv: Path) -> Path:
    """The interpreter of a virtual environment."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def program_of(venv: Path, name: str) -> Path:
    """A program that a package installed there."""
    return venv / "Scripts" / f"{name}.exe" if os.name == "nt" else venv / "bin" / name


def requirements(*groups: str) -> list[str]:
    """The requirements of the package and of these dependency groups of pyproject.toml, in order."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    wanted: list[str] = list(project["project"]["dependencies"])
    for group in groups:
        wanted += group_requirements(project["dependency-groups"], group)
    return list(dict.fromkeys(wanted))


def group_requirements(all_groups: dict[str, list[str | dict[str, str]]], name: str) -> list[str]:
    """Requirements of one group, the groups that it includes first."""
    wanted: list[str] = []
    for entry in all_groups[name]:
        if isinstance(entry, str):
            wanted.append(entry)
        else:
            wanted += group_requirements(all_groups, entry["include-group"])
    return wanted


def prepare(venv: Path, interpreter: Interpreter, *groups: str) -> Path:
    """Make `venv`, or take it as it stands, and install what is missing of these groups; its Python."""
    python = python_of(venv)
    wanted = requirements(*groups)
    installed = installed_before(venv, interpreter)
    if installed is None:
        if venv.exists():
            shutil.rmtree(venv)
        create(venv, interpreter)
        installed = []
    missing = [requirement for requirement in wanted if requirement not in installed]
    if missing:
        install(python, *missing)
        stamp = {"python": list(interpreter.version), "requirements": [*installed, *missing]}
        (venv / STAMP).write_text(json.dumps(stamp), encoding="utf-8")
    else:
        say(f"{venv.relative_to(ROOT)}: stands, with Python {'.'.join(map(str, interpreter.version))}")
    return python


def installed_before(venv: Path, interpreter: Interpreter) -> list[str] | None:
    """The requirements that `venv` holds; None where it has to be made anew."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if stamp["python"] != list(interpreter.version) or answer(python_of(venv), "-c", "") is None:
        return None
    return stamp["requirements"]


def create(venv: Path, interpreter: Interpreter) -> None:
    """An empty virtual environment."""
    if shutil.which("uv"):
        run("uv", "venv", "--quiet", "--no-config", "--seed", "--python", interpreter.path, venv)
    elif interpreter.can_make_venvs:
        run(interpreter.path, "-m", "venv", venv)
    else:
        raise Failed(f"{interpreter.path} cannot make virtual environments (install its venv package, or uv)")


def install(python: Path, *arguments: str | Path) -> None:
    """Install packages with uv where it is there, else with the environment's own pip."""
    if shutil.which("uv"):
        run("uv", "pip", "install", "--quiet", "--python", python, *arguments)
    else:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def build_wheel(venv: Path) -> Path:
    """Build the abi3 wheel with the maturin of `venv`, in release mode."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    maturin = program_of(venv, "maturin")
    run(maturin, "build", "--release", "--locked", "--interpreter", python_of(venv), "--out", WHEELS)
    wheels = list(WHEELS.glob("deltafold-*.whl"))
    if len(wheels) != 1 or "-abi3-" not in wheels[0].name:
        raise Failed(f"one abi3 wheel was expected, there is {[wheel.name for wheel in wheels]}")
    return wheels[0]


def install_wheel(python: Path, wheel: Path) -> None:
    """Put the wheel in place of any older one, and see that the native engine loads from it."""
    flag = "--reinstall" if shutil.which("uv") else "--force-reinstall"
    install(python, flag, "--no-deps", wheel)
    probe = "import deltafold as d, sys; print(sys.version.split()[0], d.IMPLEMENTATION, d.__file__)"
    told = answer(python, "-W", "error", "-c", probe)
    if told is None:
        run(python, "-W", "error", "-c", probe)
        raise Failed(f"deltafold cannot be imported by {python}")
    version, engine, location = told.split(maxsplit=2)
    if engine != "native" or "site-packages" not in location:
        raise Failed(f"the installed wheel serves the {engine} engine from {location.strip()}")
    say(f"Python {version}: deltafold ({engine}) from the wheel {wheel.name}")
