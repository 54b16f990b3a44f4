"""Message for message: what the real reader answered for the samples is what the model answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deltafold.cli import main
from deltafold.harness.document import Document, open_document
from deltafold.harness.js import JsError
from deltafold.harness.layout import Place, index_root
from deltafold.harness.limits import DEFAULT_LIMITS
from deltafold.harness.model import errors, listing, reader
from tests.harness import samples


def opened(place: Place) -> Document:
    return open_document(Path(place.path).read_bytes(), place.compression, DEFAULT_LIMITS)


def relative(answer: Any, name: str) -> Any:
    return json.loads(json.dumps(answer).replace(str(samples.root(name)), "<ROOT>"))


def expected(answer: dict[str, Any], *, last: bool) -> dict[str, Any]:
    """A given answer without `tail`, which is checked apart, and `cause`, which repeats the message."""
    kept = {key: value for key, value in answer.items() if key != "cause"}
    if isinstance(kept.get("ok"), dict):
        dropped = ("tail",) if last else ("tail", "last")
        kept["ok"] = {key: value for key, value in kept["ok"].items() if key not in dropped}
    return kept


def answers(name: str) -> dict[str, Any]:
    """The four operations of the reader, by the model."""
    case = samples.CASES[name]
    index = index_root(str(samples.root(name)))
    rules = listing.RootRules(index)
    place = next(
        place
        for place in index.places
        if (place.session, place.compression) == (case["sid"], case["compression"])
    )
    around = rules.fault(case["compression"]) or rules.duplicate(place)
    found: dict[str, Any] = {"list": listing.list_answer(index, case["compression"], opened)}
    if around is not None:
        found["inspect"] = found["readFrom0"] = errors.answer(around)
        return relative(found, name)
    document = opened(place)
    try:
        inspection = reader.inspect(document, place)
        found["inspect"] = inspection.outcome()
        found["tail"] = [f"{event['seq']}:{event['type']}" for event in inspection.balanced[-4:]]
    except JsError as error:
        found["inspect"] = errors.answer(error)
    try:
        found["readFrom0"] = {"ok": reader.read_from_start(document, place)}
    except JsError as error:
        found["readFrom0"] = errors.answer(error)
    return relative(found, name)


def test_the_samples_are_all_there() -> None:
    assert len(samples.CASES) == 112
    assert len(samples.GIVEN) == 84


@pytest.mark.parametrize("name", samples.GIVEN)
def test_given_outcome(name: str) -> None:
    given = samples.CASES[name]["outcome"]
    found = answers(name)
    assert found["list"] == expected(given["list"], last=True)
    assert found["inspect"] == expected(given["inspect"], last=True)
    assert found["readFrom0"] == expected(given["readFrom0"], last=True)
    loaded = expected(found["inspect"], last=False)
    assert loaded == expected(given["load"], last=False)
    if "ok" in given["inspect"]:
        assert found["tail"] == given["inspect"]["ok"]["tail"]
        assert found["tail"] == given["load"]["ok"]["tail"]


@pytest.mark.parametrize("name", samples.GIVEN)
def test_the_command_gives_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["harness", "check", "--json", str(samples.file(name))])
    shown = json.loads(capsys.readouterr().out)
    given = expected(samples.CASES[name]["outcome"]["inspect"], last=True)
    assert {key: shown[key] for key in ("ok", "error", "message") if key in shown} == given
    listed = samples.CASES[name]["outcome"]["list"]
    assert shown.get("listed", True) is (listed.get("ok") != [])
    harmful = [fault["kind"] for fault in shown["faults"] if fault["severity"] != "note"]
    only_torn = all(kind in ("line-torn", "frame-torn") for kind in harmful)
    assert code == (2 if "error" in given or not only_torn else 1 if harmful else 0)


@pytest.mark.parametrize("name", samples.CASES)
def test_every_sample_has_an_answer_and_its_faults_name_a_refusal(name: str) -> None:
    found = answers(name)["inspect"]
    assert ("ok" in found) != ("error" in found)
    if "error" in found:
        assert found["message"]
