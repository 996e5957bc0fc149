"""Do the curves of a report show what the samples say?"""

from __future__ import annotations

import pytest

from autoscaler.simulation.engine.results import timeline
from tests.simulation.made_results import record, result, sample, span


def test_a_level_is_averaged_over_each_stretch_of_time() -> None:
    usage = (sample(0, 4), sample(15, 0), sample(30, 2))
    curve = timeline.mean_levels(
        result(usage=usage, ended_at=40.0), lambda s: s.gpus_used, until=40.0, bins=4
    )
    assert curve == ((5.0, 4.0), (15.0, 2.0), (25.0, 0.0), (35.0, 2.0))


def test_nothing_is_used_after_a_simulation_ended() -> None:
    run = result(usage=(sample(0, 4),), ended_at=20.0)
    curve = timeline.mean_levels(run, lambda s: s.gpus_used, until=40.0, bins=2)
    assert [level for _, level in curve] == [4.0, 0.0]


def test_the_completion_curve_ends_at_the_share_of_jobs_that_finished() -> None:
    jobs = [record(str(n), finished_at=float(n)) for n in range(1, 31)]
    jobs += [record(f"late {n}", finished_at=None) for n in range(10)]
    curve = timeline.completion_curve(jobs, points=8)
    assert len(curve) <= 9
    assert curve[0] == (1.0, pytest.approx(1 / 40))
    assert curve[-1] == (30.0, pytest.approx(30 / 40))


def test_a_job_waits_from_its_submission_to_its_first_start() -> None:
    jobs = [record(first_started_at=10.0), record("b", submitted_at=20.0, first_started_at=None)]
    curve = timeline.queue_levels(jobs, started_at=0.0, until=40.0, bins=4)
    assert [level for _, level in curve] == [1.0, 0.0, 1.0, 1.0]


def test_a_paused_job_holds_nothing_in_between() -> None:
    job = record(history=(span(0, 2), span(10, 0), span(30, 4)), finished_at=50.0)
    assert timeline.spans(job, until=100.0) == ((0, 10, 2), (30, 50.0, 4))
