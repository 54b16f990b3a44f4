"""What ./dev relies on: interpreters, requirements, variables, checks that all run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import checks, environments, interpreters, shell, system

ROOT = Path(__file__).resolve().parents[2]


def test_this_interpreter_is_found():
    here = interpreters.current()
    assert here.version == sys.version_info[:3]
    found = interpreters.supported()
    assert here.name in {interpreter.name for interpreter in found}
    versions = [interpreter.version for interpreter in found]
    assert versions == sorted(versions)
    assert versions[0] >= interpreters.OLDEST


def test_what_is_no_python_is_passed_over(tmp_path):
    assert interpreters.probe(tmp_path / "absent") is None
    silent = tmp_path / "python3.99"
    silent.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    silent.chmod(0o755)
    assert interpreters.probe(silent) is None


def test_requirements_follow_the_groups():
    wanted = environments.requirements("test")
    names = {requirement.split(">")[0].split("[")[0] for requirement in wanted}
    assert {"orjson", "pytest", "hypothesis", "pytest-benchmark", "msgspec"} <= names
    assert "mypy" not in names
    assert len(wanted) == len(set(wanted))


def test_every_requirement_has_its_reason():
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for requirement in environments.requirements("build", "test", "lint"):
        name = requirement.split(">")[0].split("[")[0]
        assert f"| {name}" in page, f"{name} has no line in docs/dependencies.md"


def test_variables_that_lead_astray_are_dropped(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("KEPT", "yes")
    variables = shell.environment({"ADDED": "too"})
    assert "PYTHONPATH" not in variables
    assert (variables["KEPT"], variables["ADDED"]) == ("yes", "too")


def test_a_failing_program_is_a_failure(capfd):
    with pytest.raises(shell.Failed, match="ended with 3"):
        shell.run(sys.executable, "-c", "import sys; print('seen'); sys.exit(3)", quiet=True)
    assert "seen" in capfd.readouterr().out


def test_every_check_runs_whatever_fails(tmp_path, capsys):
    ran = []

    def passing(_venv):
        ran.append("passing")

    def failing(_venv):
        ran.append("failing")
        raise shell.Failed("no")

    with pytest.raises(shell.Failed, match="did not pass: b"):
        checks.run_all({"a": passing, "b": failing, "c": passing}, tmp_path)
    assert ran == ["passing", "failing", "passing"]
    out = capsys.readouterr().out
    assert "=== b: FAILED" in out
    assert "=== c: passed" in out


def test_a_missing_program_fails_on_ci_only(monkeypatch, capsys):
    monkeypatch.setattr(system, "has", lambda _program: False)
    monkeypatch.setattr(system, "may_install", lambda: False)
    monkeypatch.setenv("CI", "false")
    assert system.ensure("valgrind") is False
    assert "apt-get install valgrind" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(shell.Failed, match="CI needs valgrind"):
        system.ensure("valgrind")


def test_dev_says_what_it_can_do():
    command = [sys.executable, "dev", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for command in ("setup", "demo", "test", "check", "bench", "ci"):
        assert command in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bits")
@pytest.mark.parametrize("name", ["dev", ".ci/run"])
def test_commands_are_executable(name):
    assert os.access(ROOT / name, os.X_OK)
