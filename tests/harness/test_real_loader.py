"""The published packages themselves: they open what was repaired, and answer as the model does.

`npm.py` says what is needed; where that cannot be had, everything here skips and says why.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltafold.cli import main
from deltafold.harness.document import open_document
from deltafold.harness.js import JsError
from deltafold.harness.layout import index_root
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model import errors, listing, reader
from deltafold.harness.repair import backup
from deltafold.harness.repair.draft import Options
from deltafold.harness.repair.plan import make_plan
from tests.harness import mutate, npm, samples
from tests.harness.samples import place_of
from tests.support import FIXED_SEED, RANDOM_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltafold.harness.document import Document
    from deltafold.harness.layout import Place

COUNT = 1500 if "DELTAFOLD_HARNESS_LONG" in os.environ else 40
Request = dict[str, Any]


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Request]], list[Any]]:
    """What the published packages answer to a list of requests."""
    folder = npm.folder(tmp_path_factory)
    node, reason = npm.prepare(folder)
    if reason is not None:
        pytest.skip(reason)
    script = folder / "loader.mjs"
    script.write_text((Path(__file__).parent / "loader.mjs").read_text())

    def ask(requests: list[Request]) -> list[Any]:
        body = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run(
            [node, str(script)], cwd=folder, input=body, capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def opened(place: Place) -> Document:
    return open_document(Path(place.path).read_bytes(), place.compression, DEFAULT_LIMITS)


def model(request: Request) -> dict[str, Any]:
    """What the model answers to a request."""
    index = index_root(request["root"])
    rules = listing.RootRules(index)
    found: dict[str, Any] = {"list": listing.list_answer(index, request["compression"], opened)}
    place = next(
        place
        for place in index.places
        if (place.session, place.compression) == (request["sid"], request["compression"])
    )
    around = rules.fault(request["compression"]) or rules.duplicate(place)
    if around is not None:
        return {**found, "inspect": errors.answer(around), "readFrom0": errors.answer(around)}
    document = opened(place)
    found["inspect"] = reader.answer(document, place)
    try:
        found["readFrom0"] = {"ok": reader.read_from_start(document, place)}
    except JsError as error:
        found["readFrom0"] = errors.answer(error)
    return found


def request_for(path: Path, sid: str, compression: str, *ops: str) -> Request:
    return {"root": str(path), "sid": sid, "compression": compression, "ops": list(ops)}


def test_all_samples_are_answered_alike(real: Callable[[list[Request]], list[Any]], tmp_path: Path) -> None:
    requests = []
    for name, case in samples.CASES.items():
        samples.copy(name, tmp_path / name)
        requests.append(
            request_for(tmp_path / name, case["sid"], case["compression"], "list", "inspect", "readFrom0")
        )
    answers = real(requests)
    differing = [
        (name, answer, model(request))
        for name, request, answer in zip(samples.CASES, requests, answers, strict=True)
        if answer != model(request)
    ]
    assert differing == []


def test_check_shows_word_for_word_what_the_packages_answer(
    real: Callable[[list[Request]], list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All 112 samples by `check --json` itself, those without a given outcome too."""
    requests, shown = [], []
    for name, case in samples.CASES.items():
        path = samples.copy(name, tmp_path / name)
        main(["harness", "check", "--json", str(path)])
        result = json.loads(capsys.readouterr().out)
        shown.append((name, {key: result[key] for key in ("ok", "error", "message") if key in result}))
        requests.append(request_for(tmp_path / name, case["sid"], case["compression"], "inspect"))
    answers = real(requests)
    assert len(answers) == 112
    for (name, found), answer in zip(shown, answers, strict=True):
        wanted = json.loads(json.dumps(answer["inspect"]).replace(str(tmp_path / name), "<ROOT>"))
        assert found == wanted, name


@pytest.mark.usefixtures("quick")
def test_every_repaired_sample_opens(
    real: Callable[[list[Request]], list[Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the command, with the backup left beside the log: it is no session to the real reader."""
    requests, plans = [], []
    for name, case in samples.CASES.items():
        path = samples.copy(name, tmp_path / name)
        main(["harness", "repair", "--apply", "--json", "--cwd", "/home/demo", str(path)])
        plan = json.loads(capsys.readouterr().out)
        if "done" in plan:
            assert (path.parent / backup.FOLDER / plan["done"]["backup"] / path.name).is_file()
            ops = ("list", "inspect", "load", "inspect")
            requests.append(request_for(tmp_path / name, case["sid"], case["compression"], *ops))
            plans.append((name, case["sid"], plan))
    answers = real(requests)
    assert len(plans) >= 79
    for (name, sid, plan), answer in zip(plans, answers, strict=True):
        assert answer["inspect"] == plan["after"], name
        assert answer["load"] == plan["after"], name
        assert answer["list"] == {"ok": [sid]}, name


@pytest.mark.parametrize("seed", [FIXED_SEED, RANDOM_SEED])
def test_mutated_sessions_are_answered_alike_and_open_when_repaired(
    seed: int, real: Callable[[list[Request]], list[Any]], tmp_path: Path
) -> None:
    """Seeded damage: model and packages agree on each session, and what a plan repaired they open."""
    chance = random.Random(seed)
    plain = [
        name for name, case in samples.CASES.items() if case["compression"] == "none" and "layout" not in name
    ]
    requests, repaired = [], []
    for number in range(COUNT):
        name = chance.choice(plain)
        lines = mutate.mutate_lines(chance, samples.data(name).split(b"\n")[:-1] or [b""])
        compression = chance.choice(["none", "none", "zstd"])
        data = mutate.encode(chance, lines) if compression == "zstd" else mutate.finish(chance, lines)
        sid = samples.CASES[name]["sid"]
        for kind in ("damaged", "mended"):
            folder = tmp_path / kind / str(number) / "--home-demo--" / sid
            folder.mkdir(parents=True)
        file = "session.jsonl" + (".zstd" if compression == "zstd" else "")
        damaged, mended = (tmp_path / kind / str(number) for kind in ("damaged", "mended"))
        (damaged / "--home-demo--" / sid / file).write_bytes(data)
        requests.append(request_for(damaged, sid, compression, "list", "inspect", "readFrom0"))
        target = mended / "--home-demo--" / sid / file
        options = Options(fork=chance.choice([None, "first", "last"]), cwd="/home/demo")
        plan = make_plan(data, place_of(str(target)), options, DEFAULT_LIMITS)
        if plan.data is not None:
            target.write_bytes(plan.data)
            repaired.append((plan, request_for(mended, sid, compression, "inspect")))
    answers = real([*requests, *(request for _, request in repaired)])
    for request, answer in zip(requests, answers, strict=False):
        assert answer == model(request), (seed, request)
    for (plan, request), answer in zip(repaired, answers[len(requests) :], strict=True):
        assert answer["inspect"] == plan.after, (seed, request)
    assert len(repaired) > COUNT // 3
