"""`deltafold journal repair` and `restore`: a plan in words and as a diff; with `--apply`, done.

Exit codes: 0 nothing to do or done, 1 a plan that was not applied, 2 blocked or refused, 3 cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltafold.cli.journal_common import add_places, over_targets, print_json
from deltafold.cli.terminal import escape, print_lines, shortened
from deltafold.errors import DeltafoldError
from deltafold.journal import record
from deltafold.journal.repair.apply import Done, apply_plan, backups, restore
from deltafold.journal.repair.plan import plan_repair

if TYPE_CHECKING:
    import argparse

    from deltafold.cli import Subparsers
    from deltafold.cli.journal_common import Progress
    from deltafold.journal.repair.model import Change, Plan
    from deltafold.journal.targets import Target

PLANNED, REFUSED = 1, 2
_WIDTH = 160
_CHANGES_SHOWN = 200


def register(verbs: Subparsers) -> None:
    """Add the two verbs."""
    about = "plan the repair of sessions; change nothing unless --apply is given"
    repair = verbs.add_parser("repair", help=about, description=about)
    add_places(repair)
    repair.add_argument("--apply", action="store_true", help="carry the plan out, with a backup")
    repair.add_argument("--keep", choices=("first", "last"), help="where two logs forked, the one to keep")
    repair.add_argument(
        "--checkpoint",
        action="store_true",
        help="cut behind the last turn before the fault instead of mending",
    )
    repair.set_defaults(run=run_repair)
    about = "put the backup of a repair back, byte for byte"
    back = verbs.add_parser("restore", help=about, description=about)
    add_places(back)
    back.add_argument("--backup", metavar="NAME", help="this backup (default: the newest)")
    back.add_argument("--list", action="store_true", help="only list the backups")
    back.set_defaults(run=run_restore)


def run_repair(options: argparse.Namespace) -> int:
    """Plan, and apply where asked."""

    def work(target: Target, progress: Progress) -> int:
        plan = plan_repair(target, keep=options.keep, to_checkpoint=options.checkpoint, progress=progress)
        done: Done | None = None
        refused: str | None = None
        if options.apply and plan.blocked is None:
            try:
                done = apply_plan(plan)
            except DeltafoldError as error:
                refused = str(error)
        if options.json:
            outcome = {
                "applied": done is not None,
                "refused": refused,
                "backup": done.backup if done else None,
            }
            changes = [change.to_dict() | change.diff() for change in plan.changes]
            print_json(plan.to_dict() | {"changes": changes} | outcome)
        else:
            print_lines(plan_lines(plan, done, refused))
        if plan.blocked is not None or refused is not None:
            return REFUSED
        return PLANNED if plan.changes and done is None else 0

    return over_targets(options, work)


def plan_lines(plan: Plan, done: Done | None, refused: str | None) -> list[str]:
    """A plan for people: what, why, and the lines before and after."""
    name = escape(plan.session or plan.target.label)
    if plan.healthy:
        return [f"healthy    {name}: nothing to repair"]
    lines = [f"{'repaired' if done else 'plan':10} {name}: {len(plan.changes)} change(s), {plan.size} bytes"]
    for change in plan.changes[:_CHANGES_SHOWN]:
        lines += change_lines(change)
    if len(plan.changes) > _CHANGES_SHOWN:
        lines.append(f"    ... and {len(plan.changes) - _CHANGES_SHOWN} more")
    if plan.renumbered:
        lines.append(f"    {plan.renumbered} later record(s) only get another seq")
    if plan.asides:
        lines.append(f"    {len(plan.asides)} to quarantine.jsonl")
    if plan.blocked is not None:
        lines.append(f"    blocked: {escape(plan.blocked)}")
    lines += [f"    choice: {escape(choice)}" for choice in plan.choices if done is None]
    if refused is not None:
        lines.append(f"    refused: {escape(refused)}")
    if done is not None:
        lines.append(f"    backup: {escape(done.backup)}")
    elif plan.blocked is None and refused is None:
        lines.append("    nothing was changed; carry it out with --apply")
    return lines


def change_lines(change: Change) -> list[str]:
    """One change and its diff."""
    seq = "" if change.seq is None else f"seq {change.seq}, "
    place = "" if change.offset is None else f"byte {change.offset}: "
    lines = [f"    {change.kind} ({change.action}) {seq}{place}{escape(change.why)}"]
    if change.before is not None:
        lines.append(f"        - {shortened(change.before.decode('utf-8', 'replace').rstrip(), _WIDTH)}")
    if change.after is not None:
        after = {"type": change.after.type, "data": change.after.data}
        lines.append(f"        + {shortened(record.dump(after).decode('utf-8'), _WIDTH)}")
    return lines


def run_restore(options: argparse.Namespace) -> int:
    """Restore, or list what could be."""

    def work(target: Target, _progress: Progress) -> int:
        if options.list:
            names = backups(target)
            if options.json:
                print_json({"session": target.session, "backups": names})
            else:
                print_lines(
                    [f"{escape(target.label)}: {len(names)} backup(s)", *(f"    {name}" for name in names)]
                )
            return 0
        done = restore(target, options.backup)
        if options.json:
            print_json({"session": target.session, "sha256": done.sha256, "kept": done.backup})
        else:
            kept = f"what was there is kept in {escape(done.backup)}"
            print_lines([f"restored   {escape(target.label)}: sha256 {done.sha256}; {kept}"])
        return 0

    return over_targets(options, work)
