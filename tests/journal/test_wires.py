"""Sessions over all three wires: what the provider sent goes back to it, and to the other two in their own
form."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

import deltafold
from deltafold.journal import FileStore, Journal, load
from deltafold.journal.replay import replay
from tests.journal.test_resume import accepted_everywhere
from tests.recordings import recordings
from tests.support import VECTORS, WIRES

RECORDED = [parameter for wire in WIRES for parameter in recordings(wire)]
CASES = sorted(path for wire in WIRES for path in (VECTORS / wire).glob("*.sse"))


def sse(*payloads: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n".encode() for payload in payloads
    )


def go_through(root, body: bytes) -> None:
    """A whole turn over this stream, whatever it is: calls run, what cannot run is answered, and a next turn
    begins."""
    with Journal.open(FileStore(root, sync="os"), "s", create=True) as journal:
        turn = journal.turn(user="What is tea?")
        try:
            list(turn.stream([body]))
        except deltafold.DeltafoldError:
            assert len(journal.messages()) == 1
        may_run = [call for call in turn.completion.executable_calls if call.choice == 0]
        if turn.completion.error is None:
            assert [call.position for call in turn.executable_calls] == [call.position for call in may_run]
        for number, call in enumerate(turn.executable_calls):
            with turn.running(call) as run:
                if number % 2:
                    raise ValueError("no")
                run.result("a drink")
        accepted_everywhere(journal)
        journal.turn(user="And now?")
        accepted_everywhere(journal)
    loaded = load(root, "s")
    accepted_everywhere(loaded)
    with FileStore(root).read("s") as log:
        assert {row.outcome for row in replay(log)} <= {"same", "unused"}


@pytest.mark.parametrize("path", RECORDED)
def test_every_recording(tmp_path, path):
    """What real gateways have sent makes a history that every provider takes, and replays to the same."""
    go_through(tmp_path, path.read_bytes())


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_vector(tmp_path, path):
    go_through(tmp_path, path.read_bytes())


ANTHROPIC = sse(
    {"type": "message_start", "message": {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Let me look."}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"q":"tea"}'},
    },
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)


def test_anthropic_blocks_go_back_in_their_order(tmp_path):
    go_through(tmp_path, ANTHROPIC)
    loaded = load(tmp_path, "s")
    _, assistant, results, *_ = loaded.messages("anthropic-messages")
    assert assistant["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"q": "tea"}},
    ]
    assert results["content"][0]["tool_use_id"] == "toolu_1"
    chat = loaded.messages()[1]
    assert set(chat) == {"role", "content", "tool_calls"}
    assert chat["content"] == "Let me look."
    message, call, output = loaded.messages("openai-responses")[1:4]
    assert message["content"] == [{"type": "output_text", "text": "Let me look."}]
    assert (call["call_id"], output["call_id"]) == ("toolu_1", "toolu_1")


REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "abc"}
FUNCTION = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "look_up",
    "arguments": '{"q":"tea"}',
    "status": "completed",
}
RESPONSES = sse(
    {"type": "response.created", "response": {"id": "resp_1", "model": "gpt", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": REASONING},
    {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
    {"type": "response.output_item.added", "output_index": 1, "item": FUNCTION | {"arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"q":"tea"}'},
    {"type": "response.output_item.done", "output_index": 1, "item": FUNCTION},
    {
        "type": "response.completed",
        "response": {"id": "resp_1", "status": "completed", "output": [REASONING, FUNCTION]},
    },
)


def test_responses_items_go_back_in_their_order(tmp_path):
    go_through(tmp_path, RESPONSES)
    reasoning, call, output = load(tmp_path, "s").messages("openai-responses")[1:4]
    assert (reasoning["type"], reasoning["encrypted_content"]) == ("reasoning", "abc")
    assert (call["type"], call["call_id"], call["arguments"]) == ("function_call", "call_1", '{"q":"tea"}')
    assert (output["call_id"], output["output"]) == ("call_1", "a drink")


def test_a_reasoning_item_whose_call_had_no_name_does_not_stay_alone(tmp_path):
    go_through(tmp_path, RESPONSES.replace(b'"look_up"', b'""'))
    items = load(tmp_path, "s").messages("openai-responses")
    assert [item["type"] for item in items] == ["message", "message", "message"]
    assert all(item["role"] == "user" for item in items)


@pytest.mark.parametrize("wire", ["anthropic-messages", "openai-responses"])
def test_images_and_parts(tmp_path, wire):
    data = "data:image/png;base64,aGk="
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": data}},
        {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}},
    ]
    with Journal.open(tmp_path, "s", create=True) as journal:
        journal.turn(user=parts)
        (message,) = journal.messages(wire)
        accepted_everywhere(journal)
    if wire == "anthropic-messages":
        sources = [part["source"] for part in message["content"][1:]]
        assert sources[0] == {"type": "base64", "media_type": "image/png", "data": "aGk="}
        assert sources[1] == {"type": "url", "url": "https://example.com/x.png"}
    else:
        assert [part["type"] for part in message["content"]] == ["input_text", "input_image", "input_image"]


def test_an_unknown_wire(tmp_path):
    with (
        Journal.open(tmp_path, "s", create=True) as journal,
        pytest.raises(ValueError, match="wire is one of"),
    ):
        journal.messages("gemini")  # type: ignore[arg-type]


def test_a_copy_of_a_session_is_a_session(tmp_path):
    """Everything of it is in its directory."""
    go_through(tmp_path / "one", ANTHROPIC)
    shutil.copytree(tmp_path / "one" / "s", tmp_path / "two" / "s")
    assert load(tmp_path / "two", "s").messages() == load(tmp_path / "one", "s").messages()
