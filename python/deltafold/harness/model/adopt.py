"""Adoption: every stored event upgraded and held against the eight message rules.

Section 4.6 of the specification. Only three event types are checked; that is what lets a poisoned log be
written and then refused.
"""

from __future__ import annotations

from typing import Final

from deltafold.harness.js import UNDEFINED, JsError, JsonValue, JsValue, Record, as_record, equal, to_text
from deltafold.harness.model import legacy
from deltafold.harness.model.errors import UnsupportedError
from deltafold.reference.identity import accept

MESSAGE_TYPES: Final = ("user/message", "assistant/message", "tool/result")
_UPGRADED_TYPES: Final = ("turn/start", "turn/end", "steering/message", *MESSAGE_TYPES)
KNOWN_TYPES: Final = frozenset(
    {
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/chunk",
        "assistant/message",
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "llm/retry",
        "llm/retry-started",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "schedule/change",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/descriptor",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/code-dispatch",
        "tool/code-dispatch-start",
        "tool/result",
        "turn/end",
        "turn/start",
        "user/message",
        "web/deepseek-search-llm-request",
    }
)
"""The event vocabulary of the reader (section 4.11)."""


def filled(value: JsValue) -> bool:
    """Tell whether a value is a non-empty string, the only thing that counts as an identity (I1)."""
    return accept(value) is not None


def message_of(event: Record) -> JsValue:
    """Return the message that an event carries, wherever its type keeps it."""
    data = event.get("data", UNDEFINED)
    if event.get("type") == "user/message":
        return data
    record = as_record(data)
    return UNDEFINED if record is None else record.get("message", UNDEFINED)


def has_provider_and_model(value: JsValue) -> bool:
    """Tell whether a value names a provider and a model."""
    record = as_record(value)
    return record is not None and filled(record.get("provider")) and filled(record.get("model"))


def message_problem(event: Record) -> str | None:
    """Return the words of the first message rule that an event breaks, None when it keeps all of them."""
    kind = event.get("type")
    if kind not in MESSAGE_TYPES:
        return None
    message = as_record(message_of(event))
    if message is None or not filled(message.get("id")):
        return "lacks an identified message"
    role = "assistant" if kind == "assistant/message" else "user"
    if message.get("role") != role:
        return f'message must have role "{role}"'
    return _body_problem(str(kind), message)


def _body_problem(kind: str, message: Record) -> str | None:
    """Judge source and content, which come after identity and role."""
    source = as_record(message.get("source"))
    if source is None or not filled(source.get("kind")):
        return "message has invalid source"
    content = message.get("content")
    if not isinstance(content, list):
        return "message has invalid content"
    if kind == "assistant/message":
        whole = source["kind"] == "model" and has_provider_and_model(source)
        return None if whole else "message must have model source"
    return _result_problem(source, content) if kind == "tool/result" else None


def _result_problem(source: Record, content: list[JsonValue]) -> str | None:
    if source["kind"] != "tool" or not filled(source.get("callId")):
        return "message must have tool source"
    block = as_record(content[0]) if len(content) == 1 else None
    if block is None or block.get("type") != "tool-result" or not isinstance(block.get("content"), list):
        return "message must contain one tool-result block"
    if not equal(block.get("toolCallId", UNDEFINED), source["callId"]):
        return "message has mismatched tool call ids"
    return None


def assert_message(event: Record) -> None:
    """Raise JsError where an event breaks a message rule."""
    problem = message_problem(event)
    if problem is not None:
        raise JsError(f"session event at seq {to_text(event.get('seq', UNDEFINED))} {problem}")


def upgrade(event: Record, session: str, message_ids: dict[int, str]) -> Record:
    """Apply the legacy upgrades to one event in the reader's order; raises JsError."""
    if event.get("type") not in _UPGRADED_TYPES:
        return event
    event = legacy.upgrade_turn_start(event, session)
    event = legacy.upgrade_turn_end(event, session)
    event = legacy.upgrade_steering(event, session)
    return legacy.upgrade_message(event, session, message_ids)


def adopt(events: list[Record], session: str) -> list[Record]:
    """Upgrade and check the whole prefix; raises JsError."""
    legacy.assert_supported(events, session)
    message_ids: dict[int, str] = {}
    adopted: list[Record] = []
    for seq, event in enumerate(events):
        current = upgrade(event, session, message_ids)
        assert_message(current)
        message = as_record(message_of(current))
        identity = None if message is None else message.get("id")
        if isinstance(identity, str):
            message_ids[seq] = identity
        adopted.append(current)
    return adopted


def assert_known(events: list[Record], session: str, path: str) -> None:
    """Refuse an event type that this reader does not know, unless marked ignorable.

    Raises UnsupportedError.
    """
    for event in events:
        kind = event.get("type", UNDEFINED)
        if (isinstance(kind, str) and kind in KNOWN_TYPES) or event.get("ignorable") is True:
            continue
        seq = to_text(event.get("seq", UNDEFINED))
        raise UnsupportedError(
            f'session "{session}" contains event type "{to_text(kind)}" (seq {seq})'
            " unknown to this harness and not marked ignorable; refusing to interpret the log"
            f" — it was likely written by a newer harness (raw log: {path})"
        )
