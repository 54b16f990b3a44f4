"""Recorded error bodies (E6, P3) and streams of other wires (W1): a clear error or a flagged value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.outcomes import run
from tests.recordings import recordings
from tests.support import pieces, random_sizes

if TYPE_CHECKING:
    from pathlib import Path

NOT_FOLDED = ("WireError", "not-an-event-stream")
UNKNOWN = ("WireError", "unknown-wire")
PROVIDER = ("ProviderError", "provider-error")

PITFALLS: dict[str, dict[str, Any]] = {
    "anthropic-401-json": {"error": PROVIDER, "type": "authentication_error", "frame": None},
    "anthropic-404-json": {"error": PROVIDER, "type": "not_found_error", "frame": None},
    "anthropic-429-json": {"error": PROVIDER, "type": "rate_limit_error", "frame": None},
    "chatgpt-401-detail": {
        "error": PROVIDER,
        "says": "Could not parse your authentication token",
        "frame": None,
    },
    "dashscope-401-flat-json": {"error": PROVIDER, "code": "InvalidApiKey", "frame": None},
    "deepseek-400-json": {"error": PROVIDER, "code": "invalid_request_error", "frame": None},
    "doubleword-400-flat-json": {"error": PROVIDER, "code": 400, "status": 400, "frame": None},
    "doubleword-404-json": {"error": PROVIDER, "code": "model_not_found", "frame": None},
    "gpustack-error-field-line": {"error": PROVIDER, "says": "failed to decode", "reasoning": True},
    "gpustack-no-done": {"end": "finished", "quirks": {"no-done"}, "finish_reason": "stop"},
    "groq-200-only-frame-is-event-error": {
        "error": PROVIDER,
        "code": "tool_use_failed",
        "status": 400,
        "frame": 0,
    },
    "groq-error-after-content": {
        "error": PROVIDER,
        "code": "tool_use_failed",
        "status": 400,
        "content": True,
    },
    "groq-error-after-reasoning-tool-use-failed": {
        "error": PROVIDER,
        "code": "tool_use_failed",
        "reasoning": True,
    },
    "litellm-proxy-one-finish-for-two-choices": {"end": "done", "choices": 2},
    "llamacpp-400-context-overflow": {"error": PROVIDER, "type": "exceed_context_size_error", "status": 400},
    "mistral-400-flat-json": {"error": PROVIDER, "code": "3051", "type": "invalid_request_invalid_args"},
    "openai-200-empty-body": {"end": "cut", "quirks": {"stream-cut"}},
    "openai-400-model-not-found": {"error": PROVIDER, "code": "model_not_found", "frame": None},
    "openai-401-json": {"error": PROVIDER, "code": "invalid_api_key", "frame": None},
    "openai-404-json": {"error": PROVIDER, "code": "model_not_found", "frame": None},
    "openai-500-empty-body": {"end": "cut", "quirks": {"stream-cut"}},
    "openai-responses-rate-limited": {"error": PROVIDER, "wire": "openai-responses"},
    "openai-responses-unknown-error": {"error": PROVIDER, "wire": "openai-responses"},
    "openai-sse-body-labelled-application-json": {"end": "done", "content": True, "quirks": set()},
    "openrouter-200-comments-then-error-frame": {"error": PROVIDER, "code": 502, "status": 502, "frame": 0},
    "openrouter-error-after-finish": {"error": PROVIDER, "code": 400, "finish_reason": "length"},
    "openrouter-tool-calls-then-error-502": {"error": PROVIDER, "code": 502, "calls": 15},
    "snowflake-no-finish-reason": {"end": "done", "finish_reason": None, "content": True},
    "venice-404-error-is-string": {"error": PROVIDER, "says": "Specified model not found", "frame": None},
}

OTHER: dict[str, dict[str, Any]] = {
    "bedrock-eventstream-binary": {"error": NOT_FOLDED, "says": "binary"},
    "cohere-v1-stream-json": {"error": NOT_FOLDED, "says": "NDJSON"},
    "cohere-v2-reasoning-then-tool": {"error": UNKNOWN, "says": "Cohere"},
    "cohere-v2-tool-calls": {"error": UNKNOWN, "says": "Cohere", "end": "done"},
    "cohere-v2-tool-without-parameters": {"error": UNKNOWN, "says": "Cohere", "end": "done"},
    "cohere-v2-tools-multi-turn": {"error": UNKNOWN, "says": "Cohere", "end": "done"},
    "dashscope-native-result-events": {"error": UNKNOWN},
    "dashscope-native-tool-calls-1": {"error": UNKNOWN},
    "dashscope-native-tool-calls-2": {"error": UNKNOWN},
    "gemini-native-3-pro-multi-tool": {"error": UNKNOWN, "says": "Gemini"},
    "gemini-native-streamed-tool-arguments": {"error": UNKNOWN, "says": "Gemini"},
    "gemini-native-thought-signature-tool": {"error": UNKNOWN, "says": "Gemini"},
    "gemini-native-tools-parallel": {"error": UNKNOWN, "says": "Gemini"},
    "ollama-native-parallel-tool-calls": {"error": NOT_FOLDED, "says": "NDJSON"},
    "ollama-native-thinking-and-tool-call": {"error": NOT_FOLDED, "says": "NDJSON"},
    "openai-assistants-thread-run": {"error": UNKNOWN},
    "openai-legacy-completions-1": {"end": "done", "wire": "openai-chat", "content": True},
    "openai-legacy-completions-2": {"end": "done", "wire": "openai-chat", "content": True},
    "vertex-gemini-native-2-5-pro-multi-tool": {"error": UNKNOWN, "says": "Gemini"},
}


def check_body(engine: Any, path: Path, expect: dict[str, Any]) -> None:
    body = path.read_bytes()
    outcome = run(engine, [body])
    completion, error = outcome.completion, outcome.error
    if "error" in expect:
        assert (type(error).__name__, error.kind) == expect["error"]
        assert completion.error.kind == error.kind
        assert completion.end == expect.get("end", "cut")
        assert not completion.executable_calls
        assert expect.get("says", "").lower() in str(error).lower()
        for name in ("type", "code", "status", "frame"):
            if name in expect:
                assert getattr(error, name) == expect[name], name
    else:
        assert error is None
    check_completion(completion, expect)
    assert run(engine, pieces(body, random_sizes(path.stem, 300))).plain() == outcome.plain()


def check_completion(completion: Any, expect: dict[str, Any]) -> None:
    for name in ("end", "wire", "finish_reason"):
        if name in expect:
            assert getattr(completion, name) == expect[name], name
    for name in ("content", "reasoning"):
        if name in expect:
            assert bool(getattr(completion, name)) == expect[name], name
    if "quirks" in expect:
        assert {quirk.kind for quirk in completion.quirks} == expect["quirks"]
    if "calls" in expect:
        assert len(completion.tool_calls) == expect["calls"]
    if "choices" in expect:
        assert len(completion.choices) == expect["choices"]


@pytest.mark.parametrize("path", recordings("pitfalls", "*.body"))
def test_pitfall(engine: Any, path: Path) -> None:
    check_body(engine, path, PITFALLS[path.stem])


@pytest.mark.parametrize("path", recordings("other", "*.*"))
def test_other_wires(engine: Any, path: Path) -> None:
    check_body(engine, path, OTHER[path.stem])


@pytest.mark.parametrize("path", [*recordings("pitfalls", "*.body"), *recordings("other", "*.*")])
def test_both_engines_agree(engines: tuple[Any, Any], path: Path) -> None:
    native, reference = (run(engine, [path.read_bytes()]) for engine in engines)
    assert native.plain() == reference.plain()
