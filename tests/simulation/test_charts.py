"""Are charts well-formed pictures with sensible axes?"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from autoscaler.plots.axis import Axis, lay
from autoscaler.plots.line_chart import LineChart, Series
from autoscaler.plots.svg import steps
from autoscaler.plots.units import Unit, written
from autoscaler.simulation.engine.comparison.comparison import Comparison, run_of
from autoscaler.simulation.engine.report.page import page, verdict
from tests.simulation.made_results import record, result, sample


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0123, "0.0123 s"),
        (59.6, "1 min"),
        (192, "3 min 12 s"),
        (3599.9, "1 h"),
        (7500, "2 h 5 min"),
        (3 * 86400 + 4 * 3600, "3 d 4 h"),
        (None, "–"),  # noqa: RUF001 - what the page shows
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float | None, words: str) -> None:
    assert written(seconds, Unit.SECONDS) == words


@pytest.mark.parametrize(("number", "words"), [(0, "0"), (12_345.6, "12,346"), (0.5, "0.5")])
def test_a_number_has_three_significant_digits(number: float, words: str) -> None:
    assert written(number) == words


def test_ticks_of_a_time_axis_are_round_times() -> None:
    side = lay(Axis(unit=Unit.SECONDS), [0, 7200], start=0, end=720)
    assert [words for _, words in side.ticks()] == ["0 s", "30 min", "1 h", "1 h 30 min", "2 h"]


def test_a_logarithmic_axis_gives_each_decade_the_same_room() -> None:
    side = lay(Axis(is_logarithmic=True), [1, 100], start=0, end=200)
    assert side.position(10) == pytest.approx(100)
    assert [words for _, words in side.ticks()] == ["1", "10", "100"]


@pytest.mark.parametrize("values", [[], [0.0], [5.0, 5.0], [float("nan"), 1.0]])
def test_an_axis_can_be_laid_for_any_values(values: list[float]) -> None:
    for is_logarithmic in (False, True):
        side = lay(Axis(is_logarithmic=is_logarithmic), values, start=0, end=100)
        assert side.ticks()


def test_a_staircase_holds_each_value_until_the_next() -> None:
    assert steps([(0, 1), (5, 3)]) == [(0, 1), (5, 1), (5, 3)]


def test_a_chart_is_a_file_of_its_own_that_any_browser_reads() -> None:
    chart = LineChart(
        description="a < b & c",
        series=[Series(name=f"<{n}>", points=((0, 1), (1, n)), slot=n) for n in range(12)],
        x=Axis(label="time"),
        y=Axis(label="GPUs"),
        limit=("all", 20.0),
    )
    root = ET.fromstring(chart.drawn().document())  # noqa: S314 - our own text
    assert root.tag.endswith("svg")


def test_the_report_needs_nothing_from_elsewhere_and_names_every_policy() -> None:
    runs = [
        run_of(name, result(record("<b>"), usage=(sample(0, 4),)), gpus=4)
        for name in ("throughput", "completion_time")
    ]
    text = page(Comparison(trace="<i>", gpus=4, runs=tuple(runs)), conditions=[("tick", "<5>")])
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "<i>" not in text
    assert "<b>" not in text
    assert text.count("completion_time") > 1


def test_the_verdict_names_the_soonest_and_the_latest_policy() -> None:
    runs = [
        run_of("good", result(record(finished_at=50.0)), gpus=1),
        run_of("bad", result(record(finished_at=100.0)), gpus=1),
    ]
    comparison = Comparison(trace="t", gpus=1, runs=tuple(runs))
    said = verdict(comparison)
    assert "under good, after 50 s on average. Under bad they took 2 times as long" in said
