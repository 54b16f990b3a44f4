"""Closing an interrupted turn with ordinary records, so that every provider accepts what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.journal.assistant import result_entry

if TYPE_CHECKING:
    from deltafold.journal.state import State
    from deltafold.journal.writer import Entry

OUTCOME_UNKNOWN = "outcome-unknown"
NOT_STARTED = "not-started"
INTERRUPTED = "interrupted"

TEXTS = {
    OUTCOME_UNKNOWN: "The program stopped while this call was running. Whether it took effect is not known.",
    NOT_STARTED: "The program stopped before this call was started. It did not run.",
}
"""What the model is told of each."""


def open_results(state: State) -> list[Entry]:
    """Return the error results of the calls that have none.

    Their true outcome where it is known, and never an invented one.
    """
    entries: list[Entry] = []
    for call in state.open_calls:
        error = OUTCOME_UNKNOWN if call.started else NOT_STARTED
        entries.append(result_entry(call.call_id, TEXTS[error], error=error))
    return entries


def close_turn(state: State, reason: str = INTERRUPTED) -> list[Entry]:
    """Return the records that close the open turn; none when no turn is open."""
    if state.turn is None:
        return []
    return [*open_results(state), ("turn/end", {"turn": state.turn, "reason": reason})]
