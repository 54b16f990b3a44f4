"""`deltafold journal`: check, show, export, replay and repair sessions.

Exit codes of all: 0 clean, 1 a torn tail only, 2 damage (or a difference, for `replay`), 3 cannot be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltafold.cli import journal_repair
from deltafold.cli.journal_common import Progress, add_places, over_targets, print_json
from deltafold.cli.terminal import complain, escape, print_lines, shortened
from deltafold.journal import quarantine
from deltafold.journal.check import EXIT_CODES, Report, check
from deltafold.journal.reader import Reader, refuse_unknown_format
from deltafold.journal.replay import Replayed, replay
from deltafold.journal.survey import Survey

if TYPE_CHECKING:
    import argparse

    from deltafold.cli import Subparsers
    from deltafold.journal.record import Event
    from deltafold.journal.targets import Target

HELP = (
    "Check, show, export, replay, repair sessions. Exit: 0 clean, 1 torn tail only, 2 damage, 3 unreadable."
)
_WIDTH = 100


def register(subparsers: Subparsers) -> None:
    """Add `journal` and its verbs."""
    parser = subparsers.add_parser(
        "journal", help="check, show, export, replay and repair sessions", description=HELP
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, run, help_text in (
        ("check", run_check, "say of every session whether it can be read, and what is wrong"),
        ("show", run_show, "the conversation, for people"),
        ("export", run_export, "everything that can be decoded, one JSON object a line, with its faults"),
        ("replay", run_replay, "fold the raw streams again and compare with what was recorded"),
        ("quarantine", run_quarantine, "what was refused, and why"),
    ):
        verb = verbs.add_parser(name, help=help_text, description=help_text)
        add_places(verb)
        verb.set_defaults(run=run)
    journal_repair.register(verbs)


def run_check(options: argparse.Namespace) -> int:
    """Check; a summary line at the end for people."""
    counts: dict[str, int] = dict.fromkeys(EXIT_CODES, 0)

    def work(target: Target, progress: Progress) -> int:
        progress.beside_output = True
        report = check(target, progress)
        counts[report.status] += 1
        progress.clear()
        if options.json:
            print_json(report.to_dict())
        else:
            print_lines(report_lines(report))
        return report.exit_code

    code = over_targets(options, work)
    if not options.json and sum(counts.values()) != 1:
        said = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        print_lines([f"{sum(counts.values())} sessions: {said or 'none'}"])
    return code


def report_lines(report: Report) -> list[str]:
    """A report for people: one line when there is nothing to say, then what and what to do."""
    state = "a turn is open" if report.interrupted else "at rest"
    live = ", a writer is live" if report.live else ""
    sizes = f"{report.records} records, {report.size} bytes"
    head = f"{report.status:10} {escape(report.session)}: {sizes}, {state}{live}"
    lines = [head]
    if report.status == "unreadable":
        lines.append(f"    {escape(report.error or '')}")
    elif report.status != "clean":
        lines.append(f"    file {escape(report.location)}")
    for fault in report.faults:
        seq = "" if fault.seq is None else f"seq {fault.seq}, "
        lines.append(f"    {fault.rule} {fault.kind}: {seq}byte {fault.offset}: {escape(fault.reason)}")
        lines.append(f"        -> {fault.advice}")
    if report.fault_count > len(report.faults):
        lines.append(f"    ... and {report.fault_count - len(report.faults)} more")
    lines += [f"    note: {escape(note)}" for note in report.notes]
    return lines


def run_show(options: argparse.Namespace) -> int:
    """Show every record in a line or two."""

    def work(target: Target, progress: Progress) -> int:
        with target.read() as log:
            reader = Reader(log)
            for event in reader.events():
                progress(event.seq, reader.size)
                if options.json:
                    print_json({"session": log.session, "seq": event.seq, "time": event.time} | _told(event))
                else:
                    print_lines(shown(event))
            if reader.torn:
                complain(f"{target.label}: {reader.torn} bytes of a torn tail are not shown")
        return EXIT_CODES["torn"] if reader.torn else 0

    return over_targets(options, work)


def _told(event: Event) -> dict[str, Any]:
    return {"type": event.type, "data": event.data}


def shown(event: Event) -> list[str]:
    """A record for people."""
    data = event.data
    head = f"{event.seq:>6} {event.time[:19]}  {event.type:18}"
    match event.type:
        case "user/message" | "assistant/message":
            message = data["message"]
            lines = [f"{head} {shortened(_text_of(message.get('content')), _WIDTH)}"]
            for call in message.get("tool_calls", ()):
                body = call[call["type"]]
                given = body.get("arguments", body.get("input", ""))
                asked = f"{escape(body['name'])}({shortened(given, _WIDTH)})"
                lines.append(f"{'':>8}asks for {asked} as {escape(call['id'])}")
            return lines
        case "tool/call":
            return [f"{head} {escape(data['name'])} as {escape(data['call_id'])}"]
        case "tool/result":
            wrong = f" [{escape(data.get('error', 'error'))}]" if data["is_error"] else ""
            return [f"{head} {escape(data['call_id'])}{wrong} {shortened(_text_of(data['content']), _WIDTH)}"]
        case _:
            return [f"{head} {shortened(json.dumps(data, ensure_ascii=False), _WIDTH)}"]


def _text_of(content: Any) -> str:  # noqa: ANN401
    if isinstance(content, str):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def run_export(options: argparse.Namespace) -> int:
    """Export every piece of a log, whatever its state; always JSON lines."""
    from deltafold.journal.faults import FaultFinder  # noqa: PLC0415  (only here)

    def work(target: Target, progress: Progress) -> int:
        code = 0
        with target.read() as log:
            refuse_unknown_format(log)
            finder = FaultFinder(log.session)
            for number, piece in enumerate(Survey(log).pieces()):
                progress(number, piece.end)
                faults = list(finder.faults([piece]))
                row: dict[str, Any] = {"session": log.session, "offset": piece.offset, "bytes": piece.size}
                if piece.event is not None:
                    event = piece.event
                    row |= {"seq": event.seq, "time": event.time, "type": event.type, "data": event.data}
                else:
                    row["text"] = piece.data.decode("utf-8", "replace")
                row["faults"] = [
                    {"kind": fault.kind, "rule": fault.rule, "reason": fault.reason} for fault in faults
                ]
                print_json(row)
                torn = [fault.kind == "torn-tail" for fault in faults]
                code = max(code, EXIT_CODES["torn" if all(torn) else "damaged"] if torn else 0)
        return code

    return over_targets(options, work)


def run_replay(options: argparse.Namespace) -> int:
    """Fold the raw streams again."""

    def work(target: Target, progress: Progress) -> int:
        code = 0
        with target.read() as log:
            for row in replay(log, progress):
                if row.outcome not in {"same", "unused"}:
                    code = EXIT_CODES["damaged"]
                if options.json:
                    names = ("outcome", "stream", "seq", "reason", "recorded", "folded")
                    print_json({"session": log.session} | {name: getattr(row, name) for name in names})
                else:
                    print_lines(replayed_lines(log.session, row))
        return code

    return over_targets(options, work)


def replayed_lines(session: str, row: Replayed) -> list[str]:
    """One raw stream's outcome for people."""
    where = "" if row.seq is None else f" seq {row.seq}"
    lines = [f"{row.outcome:8} {escape(session)}{where} {escape(row.stream)} {escape(row.reason)}".rstrip()]
    if row.outcome == "differs":
        lines.append(f"    recorded {shortened(json.dumps(row.recorded, ensure_ascii=False), _WIDTH)}")
        lines.append(f"    folded   {shortened(json.dumps(row.folded, ensure_ascii=False), _WIDTH)}")
    return lines


def run_quarantine(options: argparse.Namespace) -> int:
    """Show what was refused."""

    def work(target: Target, _progress: Progress) -> int:
        code = 0
        with target.read() as log:
            for entry in quarantine.entries(log, Survey(log).known_salt()):
                code = max(code, 0 if entry.intact else EXIT_CODES["damaged"])
                names = ("time", "rule", "reason", "type", "event", "text", "stream", "offset", "intact")
                if options.json:
                    print_json({"session": log.session} | {name: getattr(entry, name) for name in names})
                    continue
                said = entry.text if entry.event is None else json.dumps(entry.event, ensure_ascii=False)
                broken = "" if entry.intact else " (does not verify)"
                head = f"{escape(entry.time[:19])} {escape(entry.rule)} {escape(entry.type)}{broken}"
                print_lines([f"{head}: {escape(entry.reason)}", f"    {shortened(said or '', _WIDTH)}"])
        return code

    return over_targets(options, work)
