"""The command as a process: standard input, pipes, poor terminals, and what it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli import streams

RUN = "import sys; from deltafold.cli import main; sys.exit(main())"


def run(*words, body=b"", code=RUN, **variables):
    """Run the command in a process of its own."""
    environment = {**os.environ, **variables}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, input=body, capture_output=True, env=environment, check=False)


def test_standard_input() -> None:
    done = run("assemble", "-", "--json", body=streams.WHOLE)
    assert done.returncode == 0
    assert done.stderr == b""
    assert json.loads(done.stdout)["file"] == "standard input"


def test_standard_input_that_is_cut() -> None:
    done = run("assemble", "-", body=streams.CUT)
    assert done.returncode == 1
    assert b"the stream was cut" in done.stdout


def test_a_terminal_without_unicode_gets_escapes() -> None:
    body = streams.delta({"content": "größer 流れ"}, "stop") + streams.DONE
    done = run("assemble", "-", body=body, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert b"gr\\xf6\\xdfer \\u6d41\\u308c" in done.stdout


def test_a_reader_that_goes_away() -> None:
    broken = "import os, sys, signal\nr, w = os.pipe()\nos.close(r)\nos.dup2(w, 1)\n" + RUN
    done = run("assemble", "-", body=streams.WHOLE, code=broken)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize(
    "words", [[], ["no-such-command"], ["assemble"], ["assemble", "--no-such-option", "x"]]
)
def test_wrong_command_lines(words) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert b"usage: deltafold" in done.stderr


def test_help_names_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert b"assemble" in done.stdout
    assert b"quirks" in done.stdout


def test_version() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(b"deltafold ")
    assert done.stdout.endswith(b" engine\n")


def test_only_the_command_asked_for_is_imported() -> None:
    code = (
        "import sys\nfrom deltafold.cli import main\n"
        "try:\n    main(['quirks', '--help'])\nexcept SystemExit:\n    pass\n"
        "print('\\n'.join(sorted(sys.modules)))"
    )
    modules = run(code=code).stdout.decode().splitlines()
    assert "deltafold.cli.quirks" in modules
    for name in ("assemble", "journal", "harness", "contract"):
        assert f"deltafold.cli.{name}" not in modules
