"""Are the figures of a simulation what they claim to be?"""

from __future__ import annotations

import pytest

from autoscaler.simulation.engine.comparison.comparison import FIGURES, run_of
from autoscaler.simulation.engine.results.summary import percentile, summarise
from tests.simulation.made_results import record, result, sample


def test_completion_times_are_those_of_finished_jobs_and_include_the_wait() -> None:
    short, long = record("a", finished_at=50.0), record("b", submitted_at=20.0, finished_at=220.0)
    unfinished = record("c", finished_at=None)
    summary = summarise(result(short, long, unfinished, ended_at=300.0), gpus=1)
    assert summary.mean_completion_seconds == 125.0
    assert (summary.done, summary.backlog, summary.dropped) == (2, 1, 0)
    assert summary.makespan_seconds == 220.0


def test_a_dropped_job_is_neither_done_nor_backlog() -> None:
    dropped = record(first_started_at=None, finished_at=None, dropped_at=5.0, gpu_seconds=0.0)
    summary = summarise(result(dropped), gpus=1)
    assert (summary.done, summary.backlog, summary.dropped) == (0, 0, 1)
    assert summary.mean_completion_seconds is None
    assert summary.makespan_seconds is None


def test_utilisation_is_the_share_of_all_gpu_time_that_was_held() -> None:
    jobs = [record(str(n), gpu_seconds=90.0) for n in range(2)]
    summary = summarise(result(*jobs, ended_at=100.0), gpus=4)
    assert summary.utilisation == pytest.approx(180 / 400)
    assert summary.gpu_hours == pytest.approx(180 / 3600)


def test_scaling_efficiency_weighs_each_sample_by_how_long_it_holds() -> None:
    usage = (sample(0, 1, speedup=1.0), sample(10, 4, speedup=2.0), sample(40, 0))
    summary = summarise(result(record(), usage=usage), gpus=4)
    assert summary.scaling_efficiency == pytest.approx((10 * 1 + 30 * 2) / (10 * 1 + 30 * 4))


def test_the_worst_fairness_is_that_of_the_job_that_fared_worst() -> None:
    jobs = [record("a", isolated_seconds=200.0), record("b", isolated_seconds=25.0)]
    assert summarise(result(*jobs), gpus=1).worst_fairness == 4.0


def test_an_empty_workload_has_no_figures_and_no_errors() -> None:
    summary = summarise(result(ended_at=0.0), gpus=4)
    assert summary.jobs == 0
    assert summary.mean_completion_seconds is None
    assert summary.utilisation == 0.0


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.001, 1.0)]
)
def test_a_percentile_is_a_value_that_occurred(share: float, expected: float) -> None:
    assert percentile([float(n) for n in range(100, 0, -1)], share) == expected


def test_the_best_of_a_column_is_its_lowest_or_highest_value() -> None:
    quick = run_of("quick", result(record(finished_at=50.0)), gpus=1)
    slow = run_of("slow", result(record(), record("b")), gpus=1)
    by_name = {figure.attribute: figure for figure in FIGURES}
    assert by_name["mean_completion_seconds"].best([quick, slow]) == 50.0
    assert by_name["done"].best([quick, slow]) == 2
    assert by_name["dropped"].best([quick, slow]) is None  # equal: nothing to be proud of
    assert by_name["gpu_hours"].best([quick, slow]) is None  # neither end is good
