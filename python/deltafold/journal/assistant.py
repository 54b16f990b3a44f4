"""From a `Completion` to what the journal writes of it.

The message, and the answers to the calls that must not run.

A call that was never named cannot stand in a history (J2), so it goes to quarantine and a note says so. A
call whose arguments are no strict object stands there with empty arguments (J7) and is answered as an error.
All of it is decided here, in one place, from the one `ToolCall`; so id and name are the same in message, call
and result.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from deltafold.completion import Choice, Completion, ToolCall
from deltafold.journal import values
from deltafold.journal.history import NATIVE
from deltafold.journal.state import CUT_REASONS

if TYPE_CHECKING:
    from deltafold.journal.writer import Entry

T = TypeVar("T")
CHAT: Final = "openai-chat"
_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class Answer:
    """What is written of one response.

    `entries` are the assistant message and, behind it, the error results of the calls that must not run.
    `runnable` are the calls that may, with the ids that the message has for them; `unnamed` those that were
    left out, and `note` what the model is told about them once all others have their results.
    """

    entries: tuple[Entry, ...]
    runnable: tuple[ToolCall, ...]
    unnamed: tuple[ToolCall, ...]
    note: Entry | None


def answer_of(completion: Completion, stream: dict[str, Any] | None) -> Answer | None:
    """Return what is written of a response, or None when nothing came of it before it was cut."""
    choice = next((choice for choice in completion.choices if choice.index == 0), None)
    if choice is None or _is_nothing(choice, completion):
        return None
    named = _with_unique_ids([call for call in choice.tool_calls if call.name])
    unnamed = tuple(call for call in choice.tool_calls if not call.name)
    data: dict[str, Any] = {
        "message": message_of(completion, choice, named),
        "finish_reason": choice.finish_reason,
    }
    if completion.usage:
        data["usage"] = completion.usage
    if stream is not None:
        data["stream"] = stream
    if completion.quirks:
        data["quirks"] = [_quirk(quirk) for quirk in completion.quirks]
    refusals = [not_run(call, completion, choice) for call in named if not may_run(call)]
    note = _note(unnamed) if unnamed else None
    runnable = tuple(call for call in named if may_run(call))
    entries: list[Entry] = [("assistant/message", data), *refusals]
    if note is not None and not runnable:
        entries.append(note)
    return Answer(tuple(entries), runnable, unnamed, note if runnable else None)


def _is_nothing(choice: Choice, completion: Completion) -> bool:
    said = choice.content or choice.reasoning or choice.refusal or choice.tool_calls or completion.blocks
    return not said and completion.end == "cut"


def _with_unique_ids(calls: list[ToolCall]) -> list[ToolCall]:
    """Give a later call of a colliding id one of its own (J3): `id-2`, `id-3`, ... by order, as I10 does."""
    taken = {call.id for call in calls}
    seen: set[str] = set()
    unique: list[ToolCall] = []
    for call in calls:
        new = call.id
        number = 1
        while new in seen or (number > 1 and new in taken):
            number += 1
            new = f"{call.id}-{number}"
        seen.add(new)
        unique.append(call if new == call.id else like(ToolCall, call, id=new))
    return unique


def may_run(call: ToolCall) -> bool:
    """Whether a call may run: A5, and arguments that a record can hold (J7)."""
    return call.executable and recorded_arguments(call) == call.arguments


def recorded_arguments(call: ToolCall) -> str:
    """Return a call's arguments as the history holds them: as sent where J7 allows it, else empty."""
    if call.kind == "custom" or values.is_strict_object(call.arguments):
        return call.arguments
    return ""


def message_of(completion: Completion, choice: Choice, calls: list[ToolCall]) -> dict[str, Any]:
    """Return the chat message of a response with these calls; the form of another wire is kept beside it."""
    message: dict[str, Any]
    if completion.wire == CHAT:
        bare = like(Completion, completion, choices=(like(Choice, choice, tool_calls=()),)).to_message()
        message = dict(bare) if isinstance(bare, dict) else {}
    else:
        message = {"role": "assistant", "content": choice.content or ""}
        message[NATIVE] = _own_form(completion, choice, calls)
    if calls:
        message["tool_calls"] = [_entry(call) for call in calls]
        message["content"] = message.get("content") or None
    return message


def _own_form(completion: Completion, choice: Choice, calls: list[ToolCall]) -> dict[str, Any]:
    """Return the blocks of a response that are no calls, and how many of them stand before each call."""
    blocks: list[dict[str, Any]] = []
    before: dict[int, int] = {call.position: call.blocks_before for call in choice.tool_calls}
    waiting = iter(choice.tool_calls)
    for block in completion.blocks:
        if block.get("type") == "tool_use":
            call = next(waiting, None)
            if call is not None:
                before[call.position] = len(blocks)
        else:
            blocks.append(block)
    return {"wire": completion.wire, "value": blocks, "before": [before[call.position] for call in calls]}


def like(kind: type[T], value: Any, **changes: Any) -> T:  # noqa: ANN401  (a value of either engine)
    """Return a value of the plain Python class with the members of one of either engine, but for these."""
    members = {member.name: getattr(value, member.name) for member in fields(cast("Any", kind))}
    return kind(**(members | changes))


def _entry(call: ToolCall) -> dict[str, Any]:
    arguments = recorded_arguments(call)
    body = {"name": call.name, "input" if call.kind == "custom" else "arguments": arguments}
    kind = "custom" if call.kind == "custom" else "function"
    return {**call.extra, "id": call.id, "type": kind, kind: body}


def call_entry(call: ToolCall) -> Entry:
    """Return the `tool/call` of a call that may run."""
    return "tool/call", {"call_id": call.id, "name": call.name, "arguments": call.arguments}


def result_entry(call_id: str, content: Any, *, error: str | None = None, is_error: bool = False) -> Entry:  # noqa: ANN401
    """Return a `tool/result`; `error` is a short name of what went wrong."""
    data: dict[str, Any] = {
        "call_id": call_id,
        "content": content,
        "is_error": is_error or error is not None,
        "source": {"kind": "tool", "call_id": call_id},
    }
    if error is not None:
        data["error"] = error
    return "tool/result", data


def not_run(call: ToolCall, completion: Completion, choice: Choice) -> Entry:
    """Return the error result that answers a call that must not run, and says why."""
    why = reason_not_run(call, completion, choice)
    text = f"This call was not run: {why}."
    if recorded_arguments(call) != call.arguments:
        text += f" What came of its arguments: {_short(call.arguments)}"
    return result_entry(call.id, text, error="not-executable")


def reason_not_run(call: ToolCall, completion: Completion, choice: Choice) -> str:
    """Say why a call must not run."""
    if call.status == "unnamed":
        return "it came without a name"
    if call.status == "truncated":
        return "its arguments were cut off" + (
            " because the stream broke" if completion.end == "cut" else _finish(choice)
        )
    if call.status == "invalid" or recorded_arguments(call) != call.arguments:
        return "its arguments are not one JSON object"
    if completion.error is not None or completion.end == "cut":
        return "the response broke off before its end"
    return f"the response was cut{_finish(choice)}"


def _finish(choice: Choice) -> str:
    reason = choice.finish_reason or ""
    return f" (finish reason {reason})" if reason.lower() in CUT_REASONS else ""


def _note(unnamed: tuple[ToolCall, ...]) -> Entry:
    """Return the note about calls that had no name.

    With no call to answer, it is the user's side that says it.
    """
    lines = [f"{len(unnamed)} tool call(s) of the last answer were not run: they came without a name."]
    lines += [f"Arguments: {_short(call.arguments)}" for call in unnamed[:8]]
    return "user/message", {"message": {"role": "user", "content": "\n".join(lines)}}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _quirk(quirk: Any) -> dict[str, Any]:  # noqa: ANN401  (of either engine)
    return {name: getattr(quirk, name) for name in ("kind", "count", "frame", "choice", "call", "detail")}
