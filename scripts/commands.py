"""The sub-commands of `./dev`."""

from __future__ import annotations

import argparse
import functools
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import checks, environments, interpreters, system
from scripts.shell import Failed, run, say, section

if TYPE_CHECKING:
    from scripts.interpreters import Interpreter

DEMO = Path("examples") / "gateway_blanks_ids.sse"
ON_FIRST_ONLY = ("tests/journal", "tests/harness", "tests/adapters", "tests/typing", "tests/scripts")
"""Tests that do not depend on the Python version's own behaviour; the fold suite is everything else."""
TEST_GROUPS = ("build", "test", "adapters")
ALL_GROUPS = (*TEST_GROUPS, "lint")


def main() -> int:
    """Entry of `./dev`."""
    options, rest = parser().parse_known_args()
    if rest and options.command != "test":
        parser().error(f"unknown arguments: {' '.join(rest)}")
    try:
        match options.command:
            case "setup":
                setup(ALL_GROUPS)
            case "demo":
                demo()
            case "test":
                test(options.only_current, rest)
            case "check":
                checks.run_all(checks.CHECKS, setup(ALL_GROUPS))
            case "bench":
                checks.run_all(checks.MEASUREMENTS, setup(ALL_GROUPS))
            case _:
                ci()
    except Failed as failure:
        say(f"\n./dev {options.command}: {failure}")
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line; words that `test` does not know go to pytest."""
    top = argparse.ArgumentParser(prog="./dev", description="Set up, try, test and check deltafold.")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="make .venv with the package and all tools")
    commands.add_parser("demo", help="build, install and assemble a recorded stream")
    tests = commands.add_parser(
        "test", help="cargo test, then pytest on every Python found; more words go to pytest"
    )
    tests.add_argument(
        "--only-current", action="store_true", help="test on the Python that runs this script alone"
    )
    commands.add_parser("check", help="linters and type checkers")
    commands.add_parser("bench", help="the benchmark's floors and the instruction counts")
    commands.add_parser("ci", help="all of it, as .ci/run does")
    return top


def setup(groups: tuple[str, ...], interpreter: Interpreter | None = None) -> Path:
    """The main environment with these groups and a freshly built wheel."""
    with section("environment"):
        python = environments.prepare(environments.MAIN, interpreter or first_interpreter(), *groups)
        environments.install_wheel(python, environments.build_wheel(environments.MAIN))
    return environments.MAIN


def first_interpreter() -> Interpreter:
    """The oldest supported Python, on which the full suite runs."""
    found = [interpreter for interpreter in interpreters.supported() if usable(interpreter)]
    if not found:
        raise Failed("no Python >= 3.11 that can make virtual environments")
    return found[0]


def usable(interpreter: Interpreter) -> bool:
    """Whether an environment can be made for it, said where not."""
    if interpreter.can_make_venvs or shutil.which("uv"):
        return True
    say(f"{interpreter.path}: left out, it cannot make virtual environments")
    return False


def demo() -> None:
    """The main job on a recorded stream of a gateway that blanks the ids of its calls."""
    venv = setup(("build",))
    with section("demo"):
        command = environments.program_of(venv, "deltafold")
        run(command, "assemble", DEMO)
        run(command, "assemble", "--json", DEMO)


def test(only_current: bool, pytest_words: list[str]) -> None:  # noqa: FBT001 (a flag of the command line)
    """Cargo test, then the wheel on every Python: all tests on the first, the fold suite on the others."""
    found = [interpreters.current()] if only_current else [*filter(usable, interpreters.supported())]
    if not found:
        raise Failed("no Python >= 3.11 that can make virtual environments")
    say(f"Pythons: {', '.join('.'.join(map(str, interpreter.version)) for interpreter in found)}")
    setup(ALL_GROUPS, found[0])
    system.ensure("strace", "postgres")
    parts: dict[str, checks.Part] = {"cargo test": lambda _venv: rust_tests()}
    for other in reversed(found[1:]):
        name = f"pytest on Python {other.name}, fold suite"
        parts[name] = functools.partial(fold_suite, other, pytest_words)
    parts[f"pytest on Python {found[0].name}, full suite"] = functools.partial(full_suite, pytest_words)
    checks.run_all(parts, environments.MAIN)


def fold_suite(interpreter: Interpreter, pytest_words: list[str], _venv: Path) -> None:
    """The tests of the fold on another Python, in an environment of its own, against the wheel."""
    python = environments.prepare(environments.OTHERS / interpreter.name, interpreter, "test")
    environments.install_wheel(python, next(environments.WHEELS.glob("*.whl")))
    ignored = [f"--ignore={folder}" for folder in ON_FIRST_ONLY]
    run(python, "-m", "pytest", *ignored, *pytest_words)


def full_suite(pytest_words: list[str], venv: Path) -> None:
    """Every test, in the main environment, against the wheel."""
    run(environments.python_of(venv), "-m", "pytest", *pytest_words)


def rust_tests() -> None:
    """The tests of the crates; nextest where it is installed, documentation tests by cargo itself."""
    if shutil.which("cargo-nextest"):
        run("cargo", "nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--status-level", "fail")
        run("cargo", "test", "--workspace", "--locked", "--doc", "--quiet")
    else:
        run("cargo", "test", "--workspace", "--locked", "--quiet")


def ci() -> None:
    """Everything; a part that fails does not keep the others from running, but a wheel has to be there."""
    fallen: list[str] = []
    try:
        test(only_current=False, pytest_words=[])
    except Failed as failure:
        say(str(failure))
        fallen.append("tests")
    if not next(environments.WHEELS.glob("*.whl"), None):
        raise Failed("there is no wheel to check")
    try:
        checks.run_all(checks.CHECKS | checks.MEASUREMENTS, environments.MAIN)
    except Failed as failure:
        say(str(failure))
        fallen.append("checks")
    if fallen:
        raise Failed(f"{' and '.join(fallen)} did not pass")
    say("\n./dev ci: all passed")
