"""From told steps follow points of a curve, a measured step time and a length."""

from __future__ import annotations

import json
import math

import pytest

from autoscaler.script_reports.pace import GenerationThroughput
from autoscaler.script_reports.report_lines import ScriptReport


def pace(**known: object) -> GenerationThroughput:
    return GenerationThroughput(**{"generation": 3, "workers": 2, "global_batch_size": 32, **known})  # type: ignore[arg-type]


def steps(*told: tuple[float, int]) -> list[ScriptReport]:
    return [ScriptReport(at=at, step=step) for at, step in told]


def test_the_first_line_is_where_steps_begin_to_be_timed() -> None:
    one = pace()
    one.take(steps((100, 40)), counts_lines=False)
    assert one.measurement is None
    one.take(steps((110, 60), (120, 80)), counts_lines=False)
    measured = one.measurement
    assert measured is not None
    assert (measured.workers, measured.global_batch_size) == (2, 32)
    assert (measured.steps, measured.step_seconds) == (40, 0.5)


def test_points_have_the_speed_since_the_line_before() -> None:
    points = pace().take(steps((100, 0), (110, 20)), counts_lines=False)
    assert [(p.step, p.samples, p.step_seconds, p.samples_per_second) for p in points] == [
        (0, 0, 0.0, 0.0),
        (20, 640, 0.5, 64.0),
    ]
    assert {p.generation for p in points} == {3}


def test_there_is_at_most_one_point_a_second() -> None:
    told = [ScriptReport(at=100 + n / 100, step=n, values={"loss": float(n)}) for n in range(1000)]
    points = pace().take(told, counts_lines=False)
    assert len(points) == 10
    assert (points[-1].step, points[-1].values) == (999, {"loss": 999.0})


def test_a_script_that_tells_samples_is_measured_in_batches_of_the_platform() -> None:
    one = pace()
    told = [ScriptReport(at=100, step=0, samples=0), ScriptReport(at=110, step=10, samples=640)]
    points = one.take(told, counts_lines=False)
    assert one.measurement is not None
    assert one.measurement.step_seconds == pytest.approx(0.5)  # its steps of 64 take a second
    assert points[-1].samples == 640
    assert points[-1].samples_per_second == pytest.approx(64.0)


@pytest.mark.parametrize(("samples", "total"), [(None, 32 * 500), (6400, 64 * 500)])
def test_with_its_number_of_steps_the_length_is_known(samples: int | None, total: int) -> None:
    one = pace()
    one.take([ScriptReport(at=1, step=100, samples=samples, total_steps=500)], counts_lines=False)
    assert one.total_samples == total


def test_a_step_that_goes_back_begins_anew() -> None:
    one = pace()
    one.take(steps((100, 50), (110, 60), (111, 20), (121, 30)), counts_lines=False)
    assert one.measurement is not None
    assert (one.measurement.steps, one.measurement.step_seconds) == (10, 1.0)


def test_lines_that_name_no_step_are_counted_and_not_timed() -> None:
    one = pace()
    told = [ScriptReport(at=at, values={"loss": 1.0}) for at in (10.0, 20.0, 30.0)]
    points = one.take(told, counts_lines=True)
    assert [(p.step, p.samples, p.samples_per_second) for p in points] == [
        (1, 0, 0.0), (2, 0, 0.0), (3, 0, 0.0),
    ]  # fmt: skip
    assert (one.measurement, one.total_samples) == (None, None)


def test_a_line_without_a_step_belongs_to_the_newest() -> None:
    told = [
        ScriptReport(at=10.0, values={"early": 1.0}),
        ScriptReport(at=11.0, step=5, values={"loss": 2.0}),
        ScriptReport(at=12.0, values={"accuracy": 0.5}),
    ]
    (point,) = pace().take(told, counts_lines=False)
    assert (point.step, point.values) == (5, {"loss": 2.0, "accuracy": 0.5})


def test_it_goes_on_from_what_was_remembered() -> None:
    whole, first = pace(), pace()
    told = [ScriptReport(at=100 + n, step=10 * n, values={"loss": math.nan}) for n in range(6)]
    whole.take(told, counts_lines=False)
    first.take(told[:3], counts_lines=False)
    remembered = json.dumps(first.to_json(), allow_nan=False)
    second = GenerationThroughput.from_json(json.loads(remembered))
    second.take(told[3:], counts_lines=False)
    assert second.measurement == whole.measurement
