"""What deltas fold to. The fold knows texts, calls and choices; it does not know providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltafold.errors import MalformedToolCall
from deltafold.events import Finish, ToolCallEnd, ToolCallStart, Usage
from deltafold.reference.arguments import repeated_suffix
from deltafold.reference.build import makes_ids, tool_call
from deltafold.reference.call import Call, ToolDelta
from deltafold.reference.choice import TEXTS, ChoiceState
from deltafold.reference.extras import Extras
from deltafold.reference.identity import Router, synthetic_id
from deltafold.reference.place import Budget, QuirkLog
from deltafold.reference.text import Text, clean, clean_value, weigh

if TYPE_CHECKING:
    from deltafold.completion import End
    from deltafold.errors import DeltafoldError
    from deltafold.policy import Limits, Policy
    from deltafold.reference.emitter import Emitter
    from deltafold.reference.extras import ReportLone
    from deltafold.reference.place import Place


class Fold:
    """The response so far. Errors are raised; what they interrupt stays as far as it came (P7)."""

    def __init__(self, policy: Policy, limits: Limits, place: Place, emitter: Emitter) -> None:
        """Begin with an empty response."""
        self.policy = policy
        self.limits = limits
        self.place = place
        self.emitter = emitter
        self.quirks = QuirkLog(place)
        self.budget = Budget(limits, place)
        self.id: str | None = None
        self.model: str | None = None
        self.created: int | float | None = None
        self.usage: dict[str, Any] | None = None
        self.extra = Extras(self.budget, place, self._lone_reporter(None))
        self.choices: dict[int, ChoiceState] = {}
        self._call_count = 0
        self.block_count = 0
        self.marked = False
        self.end: End = "open"
        self.error: DeltafoldError | None = None

    # texts and kept members

    def choice(self, index: int) -> ChoiceState:
        """Give a choice, opened when it is new."""
        choice = self.choices.get(index)
        if choice is None:
            if len(self.choices) >= self.limits.choices:
                raise self.place.limit("choices", self.limits.choices, "choices in the response")
            choice = self.choices[index] = ChoiceState(index)
            choice.router = Router(
                self.policy, choice.calls, lambda delta, held: self._open(choice, delta, held=held)
            )
            choice.extra = Extras(self.budget, self.place, self._lone_reporter(index))
            choice.logprobs = Extras(self.budget, self.place, self._lone_reporter(index))
        return choice

    def text(self, choice: ChoiceState, kind: str, fragment: str, part: Text | None = None) -> None:
        """Fold a fragment of a text, or of a part of it; an empty one says nothing (X1)."""
        if not fragment:
            return
        self.note_late(choice)
        visible, lone = (choice.texts[kind] if part is None else part).prepare(fragment)
        self.quirks.report("lone-surrogate", choice.index, count=lone)
        if visible:
            self.budget.spend(weigh(visible))
            self._show(choice, kind, visible, part)

    def end_text(self, choice: ChoiceState, kind: str, part: Text | None = None) -> None:
        """End a text, or a part of it: a surrogate that waits becomes U+FFFD (P5)."""
        visible = (choice.texts[kind] if part is None else part).flush()
        self.quirks.report("lone-surrogate", choice.index, count=len(visible))
        if visible:
            self._show(choice, kind, visible, part)

    def _show(self, choice: ChoiceState, kind: str, visible: str, part: Text | None) -> None:
        choice.texts[kind].append(visible)
        if part is not None:
            part.append(visible)
        self.emitter.delta(kind, choice.index, visible)

    def take_origin(self, response_id: str, model: str, created: float | None) -> None:
        """Take the first non-empty id and model, and the first creation time that is not zero (X5)."""
        self.id = self.id or self.clean(response_id) or None
        self.model = self.model or self.clean(model) or None
        self.created = self.created or created or None

    def clean(self, text: str, choice: int | None = None, call: int | None = None) -> str:
        """Replace the lone surrogates of a string that is no fragment (P5)."""
        if not self.place.surrogates:
            return text
        text, lone = clean(text)
        self.quirks.report("lone-surrogate", choice, call, count=lone)
        return text

    def clean_kept(self, value: Any, choice: int | None = None) -> Any:  # noqa: ANN401
        """Replace the lone surrogates in a JSON value that is kept as sent (P5)."""
        if not self.place.surrogates:
            return value
        value, lone = clean_value(value)
        self.quirks.report("lone-surrogate", choice, count=lone)
        return value

    def finish_reason(self, choice: ChoiceState, reason: str) -> None:
        """Let the last non-empty reason stand (E1)."""
        reason = self.clean(reason, choice.index)
        if not reason:
            return
        if choice.finish_reason not in {None, reason}:
            self.quirks.report(
                "finish-repeated", choice.index, detail=f"{choice.finish_reason}, then {reason}"
            )
        if choice.finish_reason != reason:
            self.emitter.put(Finish(choice.index, reason))
        if choice.finish_reason is None:
            choice.finish_frame = self.place.frame
        choice.finish_reason = reason

    def accept_usage(self, usage: dict[str, Any]) -> None:
        """Let the last usage stand (U1)."""
        self.usage = usage
        self.emitter.put(Usage(usage))

    def _lone_reporter(self, choice: int | None, call: int | None = None) -> ReportLone:
        def report(lone: int) -> None:
            self.quirks.report("lone-surrogate", choice, call, count=lone)

        return report

    def note_late(self, choice: ChoiceState) -> None:
        """Report a delta that comes in a later frame than the finish reason, once a frame (E1)."""
        frame = self.place.frame
        if choice.finish_frame is None or frame in {None, choice.finish_frame, choice.late_frame}:
            return
        choice.late_frame = frame
        self.quirks.report("delta-after-finish", choice.index)

    # calls

    def tool_delta(self, choice: ChoiceState, delta: ToolDelta) -> Call | None:
        """Fold one tool entry into the call that it goes to (I4 to I7)."""
        self.note_late(choice)
        self.see_id(choice, delta)
        call, quirk = choice.router.route(delta)
        position = None if call is None else call.position
        for kind, detail in delta.remarks:
            self.quirks.report(kind, choice.index, position, detail)
        if quirk:
            self.quirks.report(quirk, choice.index, position, delta.arguments if call is None else "")
        if call is not None:
            self.fold_into(choice, call, delta)
        return call

    def open_call(self, choice: ChoiceState, delta: ToolDelta) -> Call:
        """Open a call where the wire itself says that one begins; `fold_into` follows."""
        self.note_late(choice)
        self.see_id(choice, delta)
        return self._open(choice, delta, held=False)

    def fold_into(self, choice: ChoiceState, call: Call, delta: ToolDelta) -> None:
        """Fold identity, arguments and kept members of a delta into its call."""
        if delta.kind == "custom" and call.kind == "function" and not call.name and not call.text:
            call.kind = "custom"
        self._identify(choice, call, delta)
        self.append_arguments(choice, call, delta.arguments)
        keep = call.extra.put if delta.is_whole else call.extra.append
        for key, value in delta.extra.items():
            keep(key, value)

    def append_arguments(self, choice: ChoiceState, call: Call, fragment: str) -> None:
        """Append a fragment of a call's arguments, and show what may be shown (A1, I11)."""
        visible, lone = call.text.prepare(fragment)
        self.quirks.report("lone-surrogate", choice.index, call.position, count=lone)
        if visible:
            self.budget.spend(weigh(visible))
            call.append(visible)
        if call.started:
            if visible:
                self.emitter.delta("arguments", choice.index, visible, call.position)
        elif not call.held and call.id and call.name and self.policy.identity == "first":
            self._start(choice, call, call.id)

    def take_fallback(self, call: Call, value: str) -> None:
        """Keep arguments that count when none are streamed (W2)."""
        self.budget.spend(weigh(value))
        call.fallback = value

    def take_snapshot(self, choice: ChoiceState, call: Call, value: str, *, done: bool) -> None:
        """Keep what arguments are said to be as a whole, when the call begins or when it is done (W3).

        It is compared when the call ends. Of a call that has ended the value stands only if none came before.
        """
        value = self.clean(value, choice.index, call.position)
        if not value:
            return
        if call.ended:
            if value != call.arguments:
                self.quirks.report("snapshot-differs", choice.index, call.position)
            if value != call.arguments and not call.done_snapshot:
                self.budget.spend(weigh(value))
                call.standing, call.status = value, None
            return
        former = call.done_snapshot if done else call.begun_snapshot
        self.budget.spend(weigh(value) - weigh(former))
        if done:
            call.done_snapshot = value
        else:
            call.begun_snapshot = value

    def see_id(self, choice: ChoiceState, delta: ToolDelta) -> None:
        """Note an id that the wire gave, so that none is made that equals it (I10)."""
        if delta.id and delta.id not in choice.wire_ids:
            self.budget.spend(weigh(delta.id))
            choice.wire_ids.add(delta.id)

    def _open(self, choice: ChoiceState, delta: ToolDelta, *, held: bool) -> Call:
        if self._call_count >= self.limits.calls:
            raise self.place.limit("calls", self.limits.calls, "tool calls in the response")
        self._call_count += 1
        position = len(choice.calls)
        extra = Extras(self.budget, self.place, self._lone_reporter(choice.index, position))
        call = Call(position, delta, extra, self.limits.depth)
        call.held = held
        call.blocks_before = self.block_count
        choice.calls.append(call)
        return call

    def _identify(self, choice: ChoiceState, call: Call, delta: ToolDelta) -> None:
        """Take an accepted id and name, or leave those that stand (I1, I3, I12)."""
        replace = self.policy.identity == "last"
        if delta.id and call.id not in {None, delta.id}:
            self.quirks.report("id-changed", choice.index, call.position, f"{call.id}, then {delta.id}")
        if delta.id and delta.id != call.id and (call.id is None or replace):
            call.id = delta.id
            choice.router.learn(call)
        if delta.name and call.name not in {None, delta.name}:
            self.quirks.report("name-changed", choice.index, call.position, f"{call.name}, then {delta.name}")
        if delta.name and delta.name != call.name and (call.name is None or replace):
            self.budget.spend(weigh(delta.name) - weigh(call.name or ""))
            call.name = delta.name

    def _start(self, choice: ChoiceState, call: Call, call_id: str) -> None:
        call.started = True
        self.emitter.put(ToolCallStart(choice.index, call.position, call_id, call.name or ""))
        if call.text:
            self.emitter.delta("arguments", choice.index, str(call.text), call.position)

    # ends

    def close_call(self, choice: ChoiceState, call: Call) -> None:
        """End a call whose block or item has ended, which proves it (A3, A4)."""
        if not call.ended:
            self._refuse_missing_id(choice, call)
            call.closed = True
            self._end_call(choice, call)

    def _end_call(self, choice: ChoiceState, call: Call) -> None:
        call.ended = True
        self._complete_arguments(choice, call)
        call_id = self._final_id(choice, call)
        if not call.started:
            self._start(choice, call, call_id)
        ended = tool_call(self, choice, call)
        call.status = ended.status
        if (
            call.kind != "custom"
            and ended.status != "complete"
            and repeated_suffix(call.arguments, call.depth)
        ):
            self.quirks.report("arguments-repeated", choice.index, call.position)
        self.emitter.put(ToolCallEnd(choice.index, call.position, ended))

    def _refuse_missing_id(self, choice: ChoiceState, call: Call) -> None:
        """Raise for a call without id where the policy refuses it (I12)."""
        if self.policy.missing_id == "reject" and call.id is None and call.kind != "legacy-function":
            raise MalformedToolCall(
                f"call {call.position} of choice {choice.index} never got an id",
                kind="missing-id",
                frame=self.place.frame,
                offset=self.place.offset,
            )

    def fail(self, error: DeltafoldError) -> None:
        """Stop at an error: nothing more is folded and no call ends (P7)."""
        self.error = error
        self.end = "done" if self.marked else "cut"

    def finish(self) -> None:
        """End the texts and calls of the whole response, once its end is known (E3)."""
        choices = [self.choices[index] for index in sorted(self.choices)]
        for choice in choices:
            for call in choice.calls:
                self._refuse_missing_id(choice, call)
        for choice in choices:
            for call in choice.calls:
                self._drop_repetition(choice, call)
        finished = bool(choices) and all(choice.finish_reason for choice in choices)
        self.end = "done" if self.marked else "finished" if finished else "cut"
        if self.end == "finished":
            self.quirks.report("no-done")
        if self.end == "cut":
            self.quirks.report("stream-cut")
        for choice in choices:
            self._finish_choice(choice)
        self.extra.flush()

    def _finish_choice(self, choice: ChoiceState) -> None:
        for kind in TEXTS:
            self.end_text(choice, kind)
        choice.extra.flush()
        calls = [call for call in choice.calls if not call.dropped]
        for call in calls:
            if not call.ended:
                self._end_call(choice, call)
        if choice.finish_reason == "stop" and calls:
            self.quirks.report("finish-stop-with-calls", choice.index)

    def _drop_repetition(self, choice: ChoiceState, call: Call) -> None:
        """Decide on a second call of a known id (I7)."""
        if not call.held:
            return
        call.held = False
        earlier = [
            other for other in choice.calls[: call.position] if other.id == call.id and not other.dropped
        ]
        if any(other.name == call.name and other.arguments == call.arguments for other in earlier):
            call.dropped = True
            self.quirks.report("call-repeated", choice.index, call.position)
        else:
            self.quirks.report("duplicate-id", choice.index, call.position, call.id or "")

    def _complete_arguments(self, choice: ChoiceState, call: Call) -> None:
        """End the text of a call: what waits is shown, snapshots fill it or are compared (P5, W2, W3)."""
        visible = call.text.flush()
        self.quirks.report("lone-surrogate", choice.index, call.position, count=len(visible))
        if not call.text and not visible:
            visible = call.done_snapshot or call.begun_snapshot or call.fallback
        snapshots = {call.begun_snapshot, call.done_snapshot} - {"", str(call.text) + visible}
        if snapshots:
            self.quirks.report("snapshot-differs", choice.index, call.position)
        if call.done_snapshot in snapshots:
            call.standing = call.done_snapshot
        if visible:
            call.append(visible)
            if call.started:
                self.emitter.delta("arguments", choice.index, visible, call.position)

    def _final_id(self, choice: ChoiceState, call: Call) -> str:
        """Give the id, made from the position where none came (I10)."""
        if call.id is not None:
            return call.id
        if not makes_ids(self.policy, call):
            return ""
        call.synthetic = synthetic_id(choice, call)
        if call.kind != "legacy-function":
            self.quirks.report("synthetic-id", choice.index, call.position)
        return call.synthetic
