"""The engines side by side: the same case at different cuts must give the same of everything."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from tests.cases import calls_of
from tests.outcomes import Outcome, options_of, plain, run
from tests.support import engine_of, pieces, public, random_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.differential.generate import Case


@dataclass(frozen=True)
class Engine:
    """An engine under a name, with the keyword arguments that make it that one."""

    name: str
    module: Any
    options: dict[str, Any]


def engines() -> list[Engine]:
    """Native with its fast path, native without it, and the reference."""
    reference = Engine("reference", engine_of("reference"), {})
    if public().IMPLEMENTATION != "native":
        return [reference]
    native = engine_of("native")
    return [
        Engine("native", native, {"_fast": True}),
        Engine("native without fast path", native, {"_fast": False}),
        reference,
    ]


@dataclass(frozen=True)
class Run:
    """Which engine, at which cut, and what it gave."""

    engine: str
    cut: str
    outcome: dict[str, Any]


def runs(case: Case, cut_seed: str, which: list[Engine]) -> Iterator[Run]:
    """Every engine once, each at its own cut; where there is one engine, that one at two cuts."""
    source = Random(cut_seed)
    look_back = source.random() < 0.1
    snapshot_at = source.randrange(len(case.body) + 1) if source.random() < 0.1 else None
    whole_first = source.randrange(len(which))
    for number, engine in enumerate([*which, *which[:1]] if len(which) == 1 else which):
        whole = number == whole_first
        cut = "whole" if whole else f"random_sizes({cut_seed + str(number)!r})"
        sizes = iter([len(case.body) + 1]) if whole else random_sizes(cut_seed + str(number))
        yield Run(
            engine.name, cut, outcome_of(engine, case, sizes, look_back=look_back, snapshot_at=snapshot_at)
        )


def outcome_of(
    engine: Engine, case: Case, sizes: Iterator[int], *, look_back: bool, snapshot_at: int | None
) -> dict[str, Any]:
    """Everything that is compared, as plain values; an exception that is none of ours is one of them."""
    options = {**options_of({"options": case.options}), **engine.options}
    try:
        outcome = run(engine.module, pieces(case.body, sizes), **options)
        found = outcome.plain()
        found["pending"] = None
        if look_back:
            found["derived"] = derived(outcome)
        if snapshot_at is not None:
            found["snapshot"] = snapshot_of(engine, case.body[:snapshot_at], options)
    except Exception as error:  # noqa: BLE001 (a crash is a difference like any other)
        return {"crash": f"{type(error).__name__}: {error}"}
    return found


def snapshot_of(engine: Engine, body: bytes, options: dict[str, Any]) -> Any:
    """What the first bytes show: the events, the snapshot, and the error that is then pending."""
    assembler = engine.module.Assembler(coalesce=False, **options)
    events = [plain(event) for event in assembler.feed(body)]
    return [events, plain(assembler.snapshot()), plain(assembler.error)]


def derived(outcome: Outcome) -> list[Any]:
    """What the methods of the completion and of its calls give."""
    completion = outcome.completion
    found: list[Any] = [message_of(completion), plain(without_details(completion.to_dict()))]
    for call in calls_of(completion):
        parsed = plain(call.parse()) if call.status == "complete" and call.kind != "custom" else None
        found.append([plain(call.partial()), call.recovered(), parsed])
    return found


def without_details(members: dict[str, Any]) -> dict[str, Any]:
    """`to_dict()` without what is for people: the details of quirks and the text of an error."""
    quirks = [
        {name: value for name, value in quirk.items() if name != "detail"} for quirk in members["quirks"]
    ]
    error = members["error"] and {
        name: value for name, value in members["error"].items() if name != "message"
    }
    return {**members, "quirks": quirks, "error": error}


def message_of(completion: Any) -> Any:
    try:
        return plain(completion.to_message())
    except public().MalformedToolCall as error:
        return error.kind


def difference(found: list[Run]) -> str | None:
    """The first difference between the first run and another one, in words; None where there is none."""
    first = found[0]
    for other in found[1:]:
        if other.outcome != first.outcome:
            left, right = f"{first.engine} ({first.cut})", f"{other.engine} ({other.cut})"
            return f"{left} against {right}:\n{first_difference(first.outcome, other.outcome, 'outcome')}"
    return None


def first_difference(left: Any, right: Any, path: str) -> str:
    """Where two plain values part, and both sides of it."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in {**left, **right}:
            if left.get(name, "absent") != right.get(name, "absent"):
                return first_difference(left.get(name, "absent"), right.get(name, "absent"), f"{path}.{name}")
    if isinstance(left, list) and isinstance(right, list):
        for at, (one, other) in enumerate(zip(left, right, strict=False)):
            if one != other:
                return first_difference(one, other, f"{path}[{at}]")
        if len(left) != len(right):
            return f"{path}: {len(left)} against {len(right)} elements\n  {left!r}\n  {right!r}"
    return f"{path}\n  {left!r}\n  {right!r}"


def compare(case: Case, cut_seed: str, which: list[Engine]) -> str | None:
    """What the engines disagree about, or None."""
    return difference(list(runs(case, cut_seed, which)))


def kind_of(found: str | None) -> str | None:
    """Where two runs part, without the places in lists: differences of one kind are mostly one fault."""
    return None if found is None else PLACES.sub("[]", found.splitlines()[1].partition(":")[0])


PLACES = re.compile(r"\[\d+\]")


def minimise(case: Case, cut_seed: str, which: list[Engine], attempts: int = 3000) -> Case:
    """A smaller case with a difference of the same kind: fewer options, fewer bytes."""
    wanted = kind_of(compare(case, cut_seed, which))
    for name in list(case.options):
        smaller = replace(case, options={key: x for key, x in case.options.items() if key != name})
        if kind_of(compare(smaller, cut_seed, which)) == wanted:
            case = smaller
    size = len(case.body) // 2
    while size >= 1:
        at = 0
        while at < len(case.body) and attempts > 0:
            attempts -= 1
            smaller = replace(case, body=case.body[:at] + case.body[at + size :])
            if kind_of(compare(smaller, cut_seed, which)) == wanted:
                case = smaller
            else:
                at += size
        size //= 2
    return case
