"""The two are two, with one surface; and the reference serves where the native module cannot load."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.outcomes import run
from tests.support import ROOT, engine_of, public

OWN = ("Assembler", "SSEDecoder", "assemble", "assemble_many", "stream", "astream")
"""The names that each engine has of its own; values, errors and policies are shared types."""

WITHOUT_NATIVE = """
import json, sys, warnings
sys.modules["deltafold._native"] = None
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import deltafold
    import deltafold.reference
    body = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n'
    for _ in range(2):
        completion = deltafold.assemble(body)
        deltafold.Assembler().close()
print(json.dumps({
    "implementation": deltafold.IMPLEMENTATION,
    "warnings": [[warning.category.__name__, str(warning.message)] for warning in caught],
    "content": completion.content,
    "module": deltafold.Assembler.__module__,
}))
"""


def python(code: str, **environment: str) -> Any:
    """What a fresh interpreter prints as JSON; it imports the package that is tested, wheel or tree."""
    package = Path(str(public().__file__)).parent.parent
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", code]
    env = {**os.environ, "PYTHONPATH": path, **environment}
    if "DELTAFOLD_IMPLEMENTATION" not in environment:
        env.pop("DELTAFOLD_IMPLEMENTATION", None)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_without_native_the_reference_serves() -> None:
    found = python(WITHOUT_NATIVE)
    assert (found["implementation"], found["content"]) == ("reference", "a")
    assert found["module"].startswith("deltafold.reference")
    assert len(found["warnings"]) == 1, "said once"
    category, text = found["warnings"][0]
    assert category.endswith("Warning")
    assert "reference" in text


def test_native_says_so_without_a_warning() -> None:
    engine_of("native")
    code = "import json, warnings; warnings.simplefilter('error'); import deltafold as df; "
    assert python(code + "print(json.dumps(df.IMPLEMENTATION))") == "native"


def test_the_two_are_two(engines: tuple[Any, Any]) -> None:
    native, reference = engines
    for name in OWN:
        assert getattr(native, name) is not getattr(reference, name), name
    assert "deltafold._native" in sys.modules
    with pytest.raises((TypeError, OSError)):
        inspect.getsource(native.SSEDecoder)


def test_the_reference_is_plain_python() -> None:
    """No file of the reference imports the native module, directly or by the package that picks it."""
    found = sorted((ROOT / "python" / "deltafold" / "reference").rglob("*.py"))
    assert found
    for path in found:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = names_imported(node)
            assert not [name for name in names if name.endswith("_native") or name == "deltafold"], path


def names_imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def test_the_reference_works_without_native_in_the_process() -> None:
    code = (
        "import sys, json; sys.modules['deltafold._native'] = None\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "from deltafold import reference\n"
        "print(json.dumps(reference.assemble(b'data: [DONE]\\n\\n', wire='openai-chat').end))"
    )
    assert python(code) == "done"


def test_every_name_is_documented(engine: Any) -> None:
    for name in OWN:
        assert inspect.getdoc(getattr(engine, name)), name
    for name in ("feed", "feed_payload", "finish", "close", "snapshot"):
        assert inspect.getdoc(getattr(engine.Assembler, name)), name


SHARED_NAMES = (
    *("Completion", "Choice", "ToolCall", "Quirk", "Policy", "Limits", "ServerSentEvent"),
    *("DeltafoldError", "WireError", "LimitError", "ProviderError", "MalformedToolCall", "IncompleteStream"),
    *(
        "TextDelta",
        "ReasoningDelta",
        "RefusalDelta",
        "ToolCallStart",
        "ToolCallDelta",
        "ToolCallEnd",
        "Finish",
    ),
    "Usage",
)


@pytest.mark.parametrize("name", [*OWN, *SHARED_NAMES])
def test_surface(name: str) -> None:
    package = public()
    assert hasattr(package, name)
    assert hasattr(package.reference, name), "the reference has the same names"


def test_typed() -> None:
    assert (Path(public().__file__).parent / "py.typed").is_file()


def test_errors_of_both_are_one_family(engines: tuple[Any, Any]) -> None:
    for engine in engines:
        outcome = run(engine, [b"data: {oops\n\n"])
        assert type(outcome.error) is public().WireError
