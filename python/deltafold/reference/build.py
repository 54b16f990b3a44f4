"""The immutable values that a fold is given out as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold.completion import Choice, Completion, ToolCall
from deltafold.reference.arguments import shape_of, status_of
from deltafold.reference.extras import plain
from deltafold.reference.identity import synthetic_id

if TYPE_CHECKING:
    from deltafold.completion import IdSource, Status
    from deltafold.policy import Policy
    from deltafold.reference.call import Call
    from deltafold.reference.choice import ChoiceState
    from deltafold.reference.fold import Fold

CUT_REASONS = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_context_window_exceeded",
        "content_filter",
        "safety",
        "recitation",
        "incomplete",
        "error",
        "failed",
        "cancelled",
        "aborted",
    },
)
"""Finish reasons, in small letters, that say that the answer was cut (A5)."""


def tool_call(fold: Fold, choice: ChoiceState, call: Call) -> ToolCall:
    """Give a call as it stands; executable only once the response has ended well (A5)."""
    status = call.status or _status(fold, choice, call)
    call_id, source = _identity(fold, choice, call)
    ended_well = fold.end in {"done", "finished"} and fold.error is None
    cut = (choice.finish_reason or "").lower() in CUT_REASONS
    return ToolCall(
        choice=choice.index,
        position=call.position,
        index=call.index,
        id=call_id,
        name=call.name or "",
        arguments=call.arguments,
        kind=call.kind,
        id_source=source,
        status=status,
        executable=status == "complete" and ended_well and not cut,
        extra=call.extra.value(),
        item_id=call.item_id,
        blocks_before=call.blocks_before,
    )


def _status(fold: Fold, choice: ChoiceState, call: Call) -> Status:
    """Say what became of a call (A4); an open stream proves nothing but what its blocks or items ended."""
    if not call.name:
        return "unnamed"
    over = fold.end != "open"
    if not (call.closed or fold.marked or (over and choice.finish_reason)):
        return "truncated"
    if call.kind == "custom":
        return "complete"
    text = call.arguments
    return status_of(text, shape_of(text, call.depth), call.depth)


def _identity(fold: Fold, choice: ChoiceState, call: Call) -> tuple[str, IdSource]:
    """Give the id and where it is from; one is made at the end only, also at that of an error (I10)."""
    if call.id is not None:
        return call.id, "wire"
    if call.synthetic is None and fold.error is not None and makes_ids(fold.policy, call):
        call.synthetic = synthetic_id(choice, call)
    return ("", "none") if call.synthetic is None else (call.synthetic, "synthetic")


def makes_ids(policy: Policy, call: Call) -> bool:
    """Whether a call that never got an id is given one (I12); a legacy call is not refused."""
    if call.kind == "legacy-function":
        return policy.missing_id != "empty"
    return policy.missing_id == "synthesize"


def _choice(fold: Fold, choice: ChoiceState) -> Choice:
    return Choice(
        index=choice.index,
        content=choice.whole("content") or None,
        reasoning=choice.whole("reasoning") or None,
        refusal=choice.whole("refusal") or None,
        tool_calls=tuple(tool_call(fold, choice, call) for call in choice.calls if not call.dropped),
        finish_reason=choice.finish_reason,
        logprobs=choice.logprobs.value() or None,
        extra=choice.extra.value(),
        reasoning_member=choice.reasoning_member,
    )


def completion(fold: Fold, wire: str, blocks: list[dict[str, Any]]) -> Completion:
    """Give the response as it stands."""
    return Completion(
        wire=wire,
        id=fold.id,
        model=fold.model,
        created=fold.created,
        choices=tuple(_choice(fold, fold.choices[index]) for index in sorted(fold.choices)),
        usage=plain(fold.usage),
        end=fold.end,
        error=fold.error,
        quirks=fold.quirks.quirks(),
        blocks=tuple(blocks),
        extra=fold.extra.value(),
    )
