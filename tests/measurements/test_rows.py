"""The table's arithmetic, and that every row can be prepared and run."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benches import chart, rows
from benches.__main__ import as_markdown, judge
from benches.callgrind.counts import Verdict, verdict
from benches.rounds import Timing, measure
from benches.rows import OURS, Contest, NotHere, Result, Row


def result(ours, *, at_most=False, floor=5.0):
    """A result in which the other took one second."""
    row = Row("any", lambda _engine: Contest({}, 1), 30, floor, at_most=at_most)
    return Result(row, 1, Timing({OURS: (ours,) * 3, "slow": (2.0,) * 3, "fast": (1.0,) * 3}))


def test_ratio_is_against_the_fastest_other() -> None:
    assert result(0.1).against == "fast"
    assert result(0.1).ratio == pytest.approx(10)
    assert result(3.0, at_most=True).ratio == pytest.approx(3)


def test_ratio_is_the_median_of_the_rounds() -> None:
    timing = Timing({"a": (1.0, 10.0, 8.0), "b": (1.0, 2.0, 2.0)})
    assert timing.ratio("a", "b") == pytest.approx(4)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (result(0.1), 0),
        (result(0.25), 1),
        (result(3.0, at_most=True, floor=4.0), 0),
        (result(5.0, at_most=True, floor=4.0), 1),
        (result(9.0, floor=None), 0),
    ],
)
def test_floors_decide(given, code) -> None:
    assert judge([given]) == code


def test_a_run_without_rows_fails() -> None:
    assert judge([]) == 1


def test_targets_are_those_of_the_project() -> None:
    assert [row.target for row in rows.ROWS] == [30, 20, 30, 12, 12, 6, 8, 15, 3000, 4, 1.9]
    assert all(row.floor is None or row.at_most or row.floor <= row.target for row in rows.ROWS)


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_contenders_run(row) -> None:
    try:
        contest = row.prepare("reference")
    except NotHere as reason:
        pytest.skip(str(reason))
    assert OURS in contest.contenders
    assert len(contest.contenders) >= 2
    assert contest.chunks > 1000


def test_measure_runs_everyone_in_every_round() -> None:
    seen = []
    timing = measure({"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 3)
    assert {name: len(rounds) for name, rounds in timing.rounds.items()} == {"a": 3, "b": 3}
    assert {"a", "b"} == set(seen)


def test_markdown_has_a_line_a_row() -> None:
    table = as_markdown([result(0.1), result(0.2)], 9)
    assert table.count("| any |") == 2


def test_charts_are_well_formed() -> None:
    values = [("deltafold & co", 0.1), ("another <library>", 250.0)]
    for svg in (chart.bars("title", values, frozenset({"deltafold & co"})), chart.line("title", values)):
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 (our own text)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (1000, Verdict.SAME),
        (1029, Verdict.SAME),
        (1031, Verdict.GREW),
        (969, Verdict.SHRANK),
        (None, Verdict.NEW),
    ],
)
def test_instruction_counts_decide(counted, expected) -> None:
    known = {} if counted is None else {"x": 1000}
    assert verdict("x", counted or 7, known) is expected
