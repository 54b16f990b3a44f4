"""`deltafold harness check | show | export | repair | restore PATH...`.

Sessions of DeepSeek Harness, looked at and mended.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deltafold.cli.terminal import ascii_json, complain, escape, print_lines, shortened
from deltafold.harness.check import CLEAN, DAMAGED, TORN, UNREADABLE, Scan, SessionCheck
from deltafold.harness.js import stringify
from deltafold.harness.limits import DEFAULT_LIMITS, Limits, RefusedError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from deltafold.cli import Subparsers
    from deltafold.harness.document import Document
    from deltafold.harness.js import Record
    from deltafold.harness.layout import Place
    from deltafold.harness.repair.draft import Options
    from deltafold.harness.repair.plan import Plan

_PATHS: Final = "a session file, a session directory, or a whole root"
_PROGRESS_EVERY: Final = 100
_CODES: Final = {CLEAN: "clean", TORN: "torn tail", DAMAGED: "damaged", UNREADABLE: "unreadable"}
_PLAN_CODES: Final = {"healthy": 0, "left-alone": 0, "repairable": 1}


def register(subparsers: Subparsers) -> None:
    """Add the `harness` command and its five subcommands."""
    words = "check and repair sessions of DeepSeek Harness (log format v0)"
    parser = subparsers.add_parser("harness", help=words, description=words)
    commands = parser.add_subparsers(dest="harness_command", required=True, metavar="COMMAND")
    check = _command(
        commands, "check", "what the real reader would answer, and every fault with its place", _check
    )
    _command(commands, "show", "the conversation that a session holds, damaged or not", _show)
    _command(commands, "export", "every record that can be decoded, as JSON lines with their faults", _export)
    repair = _command(commands, "repair", "plan a repair; with --apply carry it out, after a backup", _repair)
    _command(commands, "restore", "put back what the last repair replaced", _restore)
    for command in (check, repair):
        command.add_argument(
            "--report", metavar="FILE", help="write a redacted report that can be attached to an issue"
        )
    repair.add_argument("--apply", action="store_true", help="carry the plan out")
    repair.add_argument("--fork", choices=("first", "last"), help="which branch of a fork is kept")
    repair.add_argument(
        "--checkpoint", action="store_true", help="cut behind the last turn before the first fault"
    )
    repair.add_argument("--cwd", metavar="DIR", help="working directory for a header that has to be rebuilt")


def _command(
    commands: Subparsers,
    name: str,
    words: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words, description=words)
    parser.add_argument("paths", nargs="+", metavar="PATH", help=_PATHS)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="largest file, text and line, in bytes")
    parser.add_argument(
        "--progress", action="store_true", help="show progress even where no terminal is attached"
    )
    parser.set_defaults(run=run)
    return parser


def _limits(args: argparse.Namespace) -> Limits:
    size: int | None = args.max_bytes
    if size is None:
        return DEFAULT_LIMITS
    return replace(DEFAULT_LIMITS, file_bytes=size, plain_bytes=size, line_bytes=size)


def _say(text: str) -> None:
    print_lines([escape(text)])


def _json(record: Record) -> None:
    """Write one line of pure ASCII, so that nothing in it can drive a terminal."""
    print_lines([ascii_json(stringify(record))])


class _Progress:
    """Counts on the standard error stream, where somebody looks or asked for it."""

    def __init__(self, *, wanted: bool) -> None:
        self.shown = wanted or sys.stderr.isatty()
        self.end = "\r" if sys.stderr.isatty() else "\n"

    def __call__(self, done: int, known: int) -> None:
        """Show how far the scan is, now and then."""
        if self.shown and (done % _PROGRESS_EVERY == 0 or done == known) and known > 1:
            sys.stderr.write(f"{done}/{known} sessions{self.end}")
            sys.stderr.flush()


def _scan(args: argparse.Namespace) -> Scan:
    return Scan(_limits(args), _Progress(wanted=args.progress))


def _missing(scan: Scan) -> int:
    for path in scan.empty:
        complain(f"no session at {path}")
    return UNREADABLE if scan.empty else CLEAN


def _verdict(answer: Record) -> str:
    ok = answer.get("ok")
    if isinstance(ok, dict):
        last = f", last {ok['last']}" if "last" in ok else ""
        return f"opens: {ok['events']} events{last}"
    return f"refused: {answer.get('error')}: {answer.get('message')}"


def _check(args: argparse.Namespace) -> int:
    scan = _scan(args)
    counts = dict.fromkeys(_CODES, 0)
    redacted: list[Record] = []
    single = len(args.paths) == 1
    for result in scan.run(args.paths):
        counts[result.code] += 1
        if args.report:
            redacted.append(_redact_check(result))
        if args.json:
            _json(result.to_dict())
        elif result.faults or result.code or (single and scan.known == 1):
            _print_check(result)
    if not args.json:
        _say(", ".join(f"{counts[code]} {words}" for code, words in _CODES.items()))
    reported = _write_report(args.report, redacted) if args.report else CLEAN
    return max(reported, _missing(scan), *(code for code, count in counts.items() if count), CLEAN)


def _print_check(result: SessionCheck) -> None:
    _say(f"{result.place.path}")
    _say(f"  {_verdict(result.answer)}")
    if result.alone is not None:
        _say(f"  by itself {_verdict(result.alone)}")
    if not result.listed:
        _say("  list() passes it over in silence")
    for fault in result.faults:
        places = [
            f"seq {fault.seq}" if fault.seq is not None else "",
            f"line {fault.line}" if fault.line else "",
        ]
        places.append(f"byte {fault.offset}" if fault.offset is not None else "")
        places.append(f"frame {fault.frame}" if fault.frame is not None else "")
        place = ", ".join(part for part in places if part)
        _say(f"  {fault.severity.value:8} {fault.kind}: {fault.detail}{f' ({place})' if place else ''}")


def _redact_check(result: SessionCheck) -> Record:
    from deltafold.harness.report import redact_check  # noqa: PLC0415  # loaded when asked for

    return redact_check(result)


def _write_report(path: str, sessions: list[Record]) -> int:
    """Write the report; where that fails say so, for what was done to the sessions is done."""
    text = json.dumps({"tool": "deltafold harness", "format": 1, "sessions": sessions}, indent=1)
    try:
        Path(path).write_text(text + "\n", encoding="ascii")
    except OSError as error:
        complain(f"no report was written: {error.strerror or error}")
        return UNREADABLE
    return CLEAN


def _documents(args: argparse.Namespace, scan: Scan) -> Iterator[tuple[Place, Document | None, SessionCheck]]:
    """Yield every session with its document, None where it cannot be read."""
    from deltafold.harness.check import examine, unreadable  # noqa: PLC0415
    from deltafold.harness.document import open_document  # noqa: PLC0415
    from deltafold.harness.source import read_place  # noqa: PLC0415

    for path in args.paths:
        places, _ = scan.places(path)
        if not places:
            scan.empty.append(path)
        for place in places:
            try:
                data = read_place(place, scan.limits).data
                document = open_document(data, place.compression, scan.limits)
                result = examine(document, place, None)
            except Exception as error:  # noqa: BLE001  # one bad file never hides the others
                yield place, None, unreadable(place, error)
            else:
                yield place, document, result


def _show(args: argparse.Namespace) -> int:
    from deltafold.harness.outline import outline  # noqa: PLC0415

    scan, code = _scan(args), CLEAN
    for _place, document, result in _documents(args, scan):
        code = max(code, result.code)
        entries = [] if document is None else list(outline(document, result.session))
        if args.json:
            _json({**result.to_dict(), "outline": [*entries]})
            continue
        _print_check(result)
        for entry in entries:
            _say(_shown(entry))
    return max(code, _missing(scan))


def _shown(entry: Record) -> str:
    details = [
        f"{key} {value}"
        for key, value in entry.items()
        if key not in ("seq", "time", "type", "text", "calls")
    ]
    calls = entry.get("calls")
    if isinstance(calls, list):
        details.extend(_shown_call(call) for call in calls if isinstance(call, dict))
    text = entry.get("text")
    if isinstance(text, str) and text:
        details.append(shortened(text, 80))
    return f"  {entry.get('seq')!s:>6}  {entry.get('type')!s:18} {'; '.join(details)}"


def _shown_call(call: Record) -> str:
    return f"call {call.get('id')!r} {call.get('name')!r} {shortened(str(call.get('arguments')), 60)}"


def _export(args: argparse.Namespace) -> int:
    from deltafold.harness.outline import export  # noqa: PLC0415

    scan, code = _scan(args), CLEAN
    for place, document, result in _documents(args, scan):
        code = max(code, result.code)
        if document is None:
            _json(result.to_dict())
            continue
        for entry in export(document, result.faults):
            _json({"path": place.path, **entry})
    return max(code, _missing(scan))


def _repair(args: argparse.Namespace) -> int:
    from deltafold.harness.repair.draft import Options  # noqa: PLC0415
    from deltafold.harness.report import redact_plan  # noqa: PLC0415

    scan, code = _scan(args), CLEAN
    options = Options(args.fork, args.checkpoint, args.cwd)
    redacted: list[Record] = []
    for place in _all_places(args.paths, scan):
        plan = _planned(place, options, scan.limits)
        scan.done += 1
        if scan.progress is not None:
            scan.progress(scan.done, scan.known)
        if isinstance(plan, SessionCheck):
            code = max(code, plan.code)
            _json(plan.to_dict()) if args.json else _print_check(plan)
            redacted.append(_redact_check(plan))
            continue
        code = max(code, _carry_out(args, plan, scan.limits))
        redacted.append(redact_plan(plan))
    reported = _write_report(args.report, redacted) if args.report else CLEAN
    return max(code, reported, _missing(scan))


def _all_places(paths: Iterable[str], scan: Scan) -> list[Place]:
    found: list[Place] = []
    for path in paths:
        places, _ = scan.places(path)
        if not places:
            scan.empty.append(path)
        found.extend(places)
    scan.known = len(found)
    return found


def _planned(place: Place, options: Options, limits: Limits) -> Plan | SessionCheck:
    from deltafold.harness.check import unreadable  # noqa: PLC0415
    from deltafold.harness.repair.plan import make_plan  # noqa: PLC0415
    from deltafold.harness.source import read_place  # noqa: PLC0415

    try:
        return make_plan(read_place(place, limits).data, place, options, limits)
    except Exception as error:  # noqa: BLE001  # one bad file never hides the others
        return unreadable(place, error)


def _carry_out(args: argparse.Namespace, plan: Plan, limits: Limits) -> int:
    """Show a plan, carry it out when asked, and return its exit code."""
    from deltafold.harness.repair.diff import diff, diff_lines  # noqa: PLC0415

    outcome: Record = {}
    code = _PLAN_CODES.get(plan.status, DAMAGED)
    if args.apply and plan.data is not None:
        outcome, code = _applied(plan, limits)
    entries = diff(plan.draft) if plan.draft is not None and plan.changes else []
    if args.json:
        shown = plan.to_dict()
        _json({**shown, **({"diff": [*entries]} if entries else {}), **outcome})
        return code
    if plan.status != "healthy" or len(args.paths) == 1:
        _print_plan(plan, outcome)
        for line in diff_lines(entries):
            _say(f"  {line}")
    return code


def _applied(plan: Plan, limits: Limits) -> tuple[Record, int]:
    from deltafold.harness.repair.apply import apply_plan, holds  # noqa: PLC0415

    try:
        return {"done": apply_plan(plan, limits).to_dict()}, CLEAN
    except RefusedError as error:
        return {"refused": {"kind": error.kind, "message": error.message}}, DAMAGED
    except Exception as error:  # noqa: BLE001  # one bad file never hides the others
        fresh = hashlib.sha256(plan.data or b"").hexdigest()
        return _failed(error, holds(plan.place.path, fresh, plan.sha256, limits)), UNREADABLE


def _failed(error: Exception, file: str) -> Record:
    """Say which error came, and whether the old file or the new one stands."""
    words = error.strerror if isinstance(error, OSError) else None
    return {"failed": {"message": words or f"{type(error).__name__}: {error}", "file": file}}


def _print_plan(plan: Plan, outcome: Record) -> None:
    _say(f"{plan.place.path}: {plan.status}")
    _say(f"  now {_verdict(plan.before)}")
    if plan.after is not None:
        _say(f"  then {_verdict(plan.after)}")
    for reason in plan.reasons:
        _say(f"  because {reason}")
    for change in plan.changes:
        place = (
            f"seq {change.seq}"
            if change.seq is not None
            else f"line {change.line}"
            if change.line
            else "file"
        )
        values = f" {change.old or ''} -> {change.new}" if change.new is not None else ""
        _say(f"  {change.origin:11} {place}: {change.kind} {change.member or ''}{values} ({change.why})")
    for lost in plan.lost:
        _say(f"  lost: {lost}")
    for choice in plan.choices():
        then = choice.get("then")
        opens = f"; then {_verdict(then)}" if isinstance(then, dict) and "ok" in then else ""
        _say(f"  choice: {choice['option']} keeps {choice['keeps']}{opens}")
    for key, value in outcome.items():
        _say(f"  {key}: {value}")


def _restore(args: argparse.Namespace) -> int:
    from deltafold.harness.repair.apply import restore_file  # noqa: PLC0415

    scan, code = _scan(args), CLEAN
    for place in _all_places(args.paths, scan):
        shown: Record = {"path": place.path}
        try:
            shown["done"] = restore_file(place.path, scan.limits).to_dict()
        except RefusedError as error:
            shown["refused"] = {"kind": error.kind, "message": error.message}
            code = max(code, CLEAN if error.kind == "no-backup" and len(args.paths) < scan.known else DAMAGED)
        except Exception as error:  # noqa: BLE001  # one bad file never hides the others
            shown |= _failed(error, "unknown")
            code = UNREADABLE
        if args.json:
            _json(shown)
        else:
            _say(f"{place.path}: {shown.get('done') or shown.get('refused') or shown.get('failed')}")
    return max(code, _missing(scan))
