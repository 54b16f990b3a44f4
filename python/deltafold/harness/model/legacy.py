"""Old event shapes: the upgrades that the reader makes in memory, and the shapes it refuses.

Section 4.6 of the specification. Every function returns the event itself where nothing applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deltafold.harness.js import (
    UNDEFINED,
    JsError,
    JsonValue,
    JsValue,
    Record,
    as_int,
    as_record,
    get,
    is_number,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection

_PLAIN_REASONS: Final = ("completed", "blocked", "max-tokens", "interrupted")
_FAILURE_OPTIONAL: Final = {"status": (int, float), "providerRetryAfterMs": (int, float), "requestId": (str,)}


def assert_supported(events: list[Record], session: str) -> None:
    """Refuse the vocabulary of early logs that cannot be replayed; raises JsError."""
    for retired in ("request/header-delta", "mode/set"):
        for event in events:
            if event.get("type") == retired:
                seq = to_text(event.get("seq", UNDEFINED))
                raise JsError(f'session "{session}" contains unsupported legacy {retired} event at seq {seq}')
    for event in events:
        if event.get("type") != "request/header":
            continue
        if get(event.get("data", UNDEFINED), "reason") == "fallback":
            raise JsError(
                f'session "{session}" contains unsupported legacy request/header reason "fallback"'
                f" at seq {to_text(event.get('seq', UNDEFINED))}"
            )


def has_only(record: Record, required: Collection[str], optional: Collection[str] = ()) -> bool:
    """Tell whether a record has every required key and no key beyond the optional ones."""
    return all(key in required or key in optional for key in record) and all(
        key in record for key in required
    )


def legacy_message_id(session: str, seq: JsValue) -> str:
    """Return the id that the reader gives a message written before messages had one."""
    return f"legacy-message:{session}:{to_text(seq)}"


def _malformed(session: str, what: str, event: Record) -> JsError:
    seq = to_text(event.get("seq", UNDEFINED))
    return JsError(f'session "{session}" contains malformed pre-react-loop {what} at seq {seq}')


def _positive(value: JsValue) -> bool:
    number = as_int(value)
    return number is not None and number >= 1


def upgrade_turn_start(event: Record, session: str) -> Record:
    """Drop the trigger of an old turn/start; raises JsError for a malformed one."""
    data = as_record(event.get("data", UNDEFINED))
    if event.get("type") != "turn/start" or data is None or "trigger" not in data:
        return event
    trigger = as_record(data["trigger"])
    kind = None if trigger is None else trigger.get("kind")
    if (
        not _positive(data.get("turn"))
        or not has_only(data, ("turn", "trigger"))
        or not isinstance(kind, str)
        or not kind
    ):
        raise _malformed(session, "turn/start", event)
    return {**event, "data": {"turn": data["turn"]}}


def upgrade_turn_end(event: Record, session: str) -> Record:
    """Bring the reason of an old turn/end into today's shape; raises JsError for a malformed one."""
    data = as_record(event.get("data", UNDEFINED))
    if event.get("type") != "turn/end" or data is None:
        return event
    reason = as_record(data.get("reason"))
    whole = _positive(data.get("turn")) and has_only(data, ("turn", "reason"))
    if not whole or reason is None or not isinstance(reason.get("kind"), str):
        raise _malformed(session, "turn/end", event)
    upgraded = _upgraded_reason(reason)
    if upgraded is None:
        raise _malformed(session, "turn/end", event)
    return event if upgraded is reason else {**event, "data": {**data, "reason": upgraded}}


def _upgraded_reason(reason: Record) -> Record | None:
    """Return the reason in today's shape, the same object where it is current, None where malformed."""
    kind = reason["kind"]
    if kind in _PLAIN_REASONS:
        return reason if has_only(reason, ("kind",)) else None
    if kind == "aborted" and "reason" in reason:
        return reason
    if kind in ("aborted", "disposed"):
        cause = "legacy" if kind == "aborted" else "disposed"
        return {"kind": "aborted", "reason": {"kind": cause}} if has_only(reason, ("kind",)) else None
    if kind == "error" and "error" not in reason:
        return _upgraded_error(reason)
    return reason


def _upgraded_error(reason: Record) -> Record | None:
    step = as_int(reason.get("step", UNDEFINED))
    if step is None or step < 0:
        return None
    failure = as_record(reason.get("failure"))
    if failure is not None and has_only(reason, ("kind", "step", "failure")) and _is_failure(failure):
        return {"kind": "error", "error": failure}
    keys = ("kind", "step", "message") if "code" not in reason else ("kind", "step", "message", "code")
    message, code = reason.get("message"), reason.get("code", "UNKNOWN")
    if not has_only(reason, keys) or not isinstance(message, str) or not isinstance(code, str):
        return None
    return {"kind": "error", "error": {"message": message, "code": code}}


def _is_failure(failure: Record) -> bool:
    if not has_only(failure, ("message", "code"), _FAILURE_OPTIONAL):
        return False
    if not isinstance(failure["message"], str) or not isinstance(failure["code"], str):
        return False
    numbers = all(is_number(failure[key]) for key in ("status", "providerRetryAfterMs") if key in failure)
    return numbers and isinstance(failure.get("requestId", ""), str)


def upgrade_steering(event: Record, session: str) -> Record:
    """Turn the removed steering/message into a user/message; raises JsError for a malformed one."""
    if event.get("type") != "steering/message":
        return event
    data = as_record(event.get("data", UNDEFINED))
    if data is None or as_int(data.get("turn")) is None:
        raise _malformed(session, "steering/message", event)
    wrapped = as_record(data.get("message"))
    if wrapped is not None and has_only(data, ("turn", "message")):
        return {**event, "type": "user/message", "data": wrapped}
    if not has_only(data, ("turn", "content", "source")):
        raise _malformed(session, "steering/message", event)
    message: Record = {key: value for key, value in data.items() if key != "turn"}
    message["id"] = legacy_message_id(session, event.get("seq", UNDEFINED))
    message["role"] = "user"
    return {**event, "type": "user/message", "data": message}


def upgrade_message(event: Record, session: str, message_ids: dict[int, str]) -> Record:
    """Give a message from before identities its wrapper and its id."""
    data = as_record(event.get("data", UNDEFINED))
    if data is None:
        return event
    kind = event.get("type")
    if kind == "user/message":
        return _upgrade_user(event, data, session)
    if kind == "assistant/message":
        return _upgrade_assistant(event, data, session)
    if kind == "tool/result":
        return _upgrade_result(event, data, session, message_ids)
    return event


def _upgrade_user(event: Record, data: Record, session: str) -> Record:
    if any(key in data for key in ("id", "role", "message")) or "content" not in data or "source" not in data:
        return event
    identity: Record = {"id": legacy_message_id(session, event.get("seq", UNDEFINED)), "role": "user"}
    return {**event, "data": {**data, **identity}}


def _upgrade_assistant(event: Record, data: Record, session: str) -> Record:
    if "message" in data or "content" not in data or "provenance" not in data:
        return event
    source: Record = {**(as_record(data["provenance"]) or {}), "kind": "model"}
    message: Record = {
        "id": legacy_message_id(session, event.get("seq", UNDEFINED)),
        "role": "assistant",
        "content": data["content"],
        "source": source,
    }
    rest: Record = {key: value for key, value in data.items() if key not in ("content", "provenance")}
    return {**event, "data": {**rest, "message": message}}


def _upgrade_result(event: Record, data: Record, session: str, message_ids: dict[int, str]) -> Record:
    if "message" in data or not all(key in data for key in ("callId", "content", "isError")):
        return event
    call_id = data["callId"]
    block: Record = {
        "type": "tool-result",
        "toolCallId": call_id,
        "content": data["content"],
        "isError": data["isError"],
    }
    content: list[JsonValue] = [block]
    message: Record = {"role": "user", "content": content, "source": {"kind": "tool", "callId": call_id}}
    replaced = _replacement_start(event)
    if replaced is None:
        message["id"] = legacy_message_id(session, event.get("seq", UNDEFINED))
    elif replaced in message_ids:
        message["id"] = message_ids[int(replaced)]
    rest: Record = {key: value for key, value in data.items() if key not in ("callId", "content", "isError")}
    return {**event, "data": {**rest, "message": message}}


def _replacement_start(event: Record) -> int | float | None:
    operation = as_record(event.get("surfaceOp", UNDEFINED))
    if operation is None or operation.get("op") != "replace":
        return None
    start = operation.get("start")
    return start if isinstance(start, (int, float)) and not isinstance(start, bool) else None
