"""`deltafold assemble FILE...`: what a recorded stream folds to, and which calls may be executed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deltafold.cli import folding, quirks
from deltafold.cli.terminal import ascii_json, escape, shortened, table

if TYPE_CHECKING:
    import argparse

    from deltafold import Choice, Completion, ToolCall
    from deltafold.cli import Subparsers
    from deltafold.cli.folding import Folded

WIDTH = 160
"""Characters of a text or of arguments that are shown without --full."""


def register(subparsers: Subparsers) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "assemble",
        help="fold recorded streams and show the calls",
        description="Fold recorded streams: which calls came, whether they may be executed, and why not. "
        "Exit code: 0 whole, 1 cut or ended in an error, 2 no usable input.",
    )
    folding.add_options(parser)
    parser.add_argument("--full", action="store_true", help="show texts and arguments whole")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fold and show every FILE."""
    return folding.run_over(options, lambda folded: shown(folded, options))


def shown(folded: Folded, options: argparse.Namespace) -> list[str]:
    """The lines for one FILE."""
    if options.json:
        return [json_line(folded)]
    if folded.completion is None:
        return [f"{escape(folded.name)}: unreadable"]
    width = 10**12 if options.full else WIDTH
    return completion_lines(folded.name, folded.completion, width)


def json_line(folded: Folded) -> str:
    """The members of `Completion.to_json()` after the file's name; printable ASCII alone."""
    name = ascii_json(json.dumps(folded.name))
    if folded.completion is None:
        error = json.dumps({"class": "OSError", "kind": "unreadable", "message": folded.unreadable})
        return f'{{"file":{name},"error":{error}}}'
    members = ascii_json(folded.completion.to_json().decode())
    return f'{{"file":{name},{members[1:]}'


def completion_lines(name: str, completion: Completion, width: int) -> list[str]:
    """A Completion for people."""
    facts = [completion.wire, completion.model, completion.id, f"end {completion.end}"]
    lines = [escape(name), "  " + " · ".join(escape(fact) for fact in facts if fact)]
    if (error := completion.error) is not None:
        place = "" if error.frame is None else f" (frame {error.frame}, byte {error.offset})"
        lines.append(f"  {type(error).__name__}, {error.kind}{place}: {shortened(error.message, width)}")
    for choice in completion.choices:
        lines += choice_lines(completion, choice, width)
    if not completion.choices:
        lines.append("  no choice came")
    return lines + quirks.summary_lines(completion)


def choice_lines(completion: Completion, choice: Choice, width: int) -> list[str]:
    """One choice: its texts, then its calls."""
    reason = (
        "no finish reason"
        if choice.finish_reason is None
        else f"finish reason {escape(choice.finish_reason)}"
    )
    lines = [f"  choice {choice.index}: {reason}"]
    for label, text in (
        ("reasoning", choice.reasoning),
        ("content", choice.content),
        ("refusal", choice.refusal),
    ):
        if text is not None:
            lines.append(f"    {label} ({len(text)} characters): {shortened(text, width)}")
    for call in choice.tool_calls:
        lines += call_lines(completion, choice, call, width)
    return lines


def call_lines(completion: Completion, choice: Choice, call: ToolCall, width: int) -> list[str]:
    """One call: who it is, whether it may be executed, and its arguments."""
    name = escape(call.name) or "(no name)"
    identity = f"{escape(call.id) or '(no id)'}{'' if call.id_source == 'wire' else f' ({call.id_source})'}"
    kind = "" if call.kind == "function" else f" {call.kind}"
    verdict = (
        "executable"
        if call.executable
        else f"NOT executable: {'; '.join(objections(completion, choice, call))}"
    )
    head = [f"call {call.position}{kind}", name, identity, call.status, verdict]
    return [*table([head], "    "), f"      {shortened(call.arguments, width) or '(no arguments)'}"]


STATUS_OBJECTIONS = {
    "unnamed": "it has no name",
    "truncated": "its arguments break off",
    "invalid": "its arguments are no JSON object",
}


def objections(completion: Completion, choice: Choice, call: ToolCall) -> list[str]:
    """Why a call may not be executed (A5), the call's own reason first."""
    found = [STATUS_OBJECTIONS[call.status]] if call.status in STATUS_OBJECTIONS else []
    if completion.error is not None:
        found.append("the response ended in an error")
    elif completion.end == "cut":
        found.append("the stream was cut")
    if not found and choice.finish_reason is not None:
        found.append(f"finish reason {escape(choice.finish_reason)} is a cut")
    return found
