"""A gateway over loopback, an agent that is killed in the middle, another that resumes: the next request goes
out right."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from deltafold.journal import load
from tests.cli import streams
from tests.journal.checkers import Rejected, chat
from tests.journal.processes import child

# The id is blanked in every later delta, as the gateways of the reports do; a second call has none at all.
QUIRKY = (
    streams.delta({"content": "Let me look."})
    + streams.delta(streams.call('{"q":'))
    + streams.delta(streams.call('"tea"}', id="", name=""))
    + streams.delta(
        {"tool_calls": [{"index": 1, "id": "", "function": {"name": "other", "arguments": "{}"}}]}
    )
    + streams.delta({}, "tool_calls")
    + streams.DONE
)
FINAL = streams.delta({"content": "Tea is a drink."}) + streams.delta({}, "stop") + streams.DONE


class Gateway(BaseHTTPRequestHandler):
    """Refuses with 400 what the chat rules do not allow; answers with a quirky stream, then with a final
    one."""

    requests: ClassVar[list[list[dict]]] = []
    refusals: ClassVar[list[str]] = []

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        self.requests.append(messages)
        try:
            chat.check(messages)
        except Rejected as rejected:
            self.refusals.append(str(rejected))
            self.send_error(400)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        body = FINAL if any(message["role"] == "tool" for message in messages) else QUIRKY
        for at in range(0, len(body), 37):
            self.wfile.write(body[at : at + 37])
            self.wfile.flush()

    def log_message(self, *_):
        pass


@pytest.fixture
def gateway():
    Gateway.requests.clear()
    Gateway.refusals.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("form", ["plain", "async"])
def test_resume_after_a_failed_tool_call(tmp_path, gateway, form):
    first = child("client", tmp_path, gateway, form, "die-after-failed-tool")
    first.stdout.read()
    first.stdout.close()
    assert first.wait() == -9
    second = child("client", tmp_path, gateway, form, "finish")
    assert second.stdout.read().strip() == "Tea is a drink."
    second.stdout.close()
    assert second.wait() == 0
    assert Gateway.refusals == []
    roles = [message["role"] for message in Gateway.requests[-1]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    failed, never_started = Gateway.requests[-1][2:4]
    assert (failed["tool_call_id"], failed["content"]) == ("call_1", "ValueError: no such drink")
    assert (never_started["tool_call_id"], "did not run" in never_started["content"]) == ("call-1", True)
    quirks = next(event for event in load(tmp_path, "s").events if event.data.get("quirks")).data["quirks"]
    assert {"empty-identity", "synthetic-id"} <= {quirk["kind"] for quirk in quirks}
    chat.check(load(tmp_path, "s").messages())
