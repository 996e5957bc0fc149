"""How long are jobs taken to be, and what of it is left?"""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest

from autoscaler.planning.snapshot.cluster_state import PlannedJob
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.prediction.lengths import KnownLengths, spread_of
from autoscaler.simulation.engine.prediction.past import JobProgress, PastJob, RecentPast
from autoscaler.simulation.engine.truth.profiles import Profile
from tests.planning.builders import NOW, cluster, running, waiting
from tests.simulation.workloads import model

SCALING = ScalingModel(throughput=model(), measured_workers=4, measured_batch=64)


def left(job: PlannedJob, past: RecentPast, *others: PlannedJob) -> list[float]:
    """The work left in a hundred possible worlds, in seconds of one worker."""
    lengths = KnownLengths.of(cluster(job, *others), past)
    profile = Profile(name=job.name, model=model(), batch=job.batch, samples=1.0)
    rng = np.random.default_rng(1)
    return sorted(lengths.left(job, profile, rng) / 100 for _ in range(100))


def ended(seconds: float, *, declared: float | None = None, **overrides: object) -> PastJob:
    return PastJob(
        job=waiting("old", scaling=SCALING, measurements=(), **overrides),
        samples=seconds * 100,
        run_seconds=seconds,
        declared_samples=None if declared is None else round(declared * 100),
    )


def test_a_job_beyond_its_declared_length_has_little_left_not_as_much_again() -> None:
    """The planner takes it for half done, so that declaring too little pays nobody."""
    job = running("a", 1, remaining_samples=1100, scaling=SCALING, measurements=())
    past = RecentPast(live={"a": JobProgress(samples=1100, declared_samples=1000)})
    assert median(left(job, past)) < 2.0


def test_declared_lengths_are_as_wrong_as_they_were_and_few_jobs_do_not_tell_how_wrong() -> None:
    job = waiting("a", remaining_samples=10_000, scaling=SCALING, measurements=())
    exact = left(job, RecentPast())
    users = tuple(ended(100 * factor, declared=100) for factor in (0.75, 0.9, 1.1, 1.25) * 7)
    wrong = left(job, RecentPast(ended=users))
    assert 88 < exact[10] < 100 < exact[90] < 112
    assert wrong[10] < 80
    assert wrong[90] > 120
    few = left(job, RecentPast(ended=(ended(90, declared=100), ended(110, declared=100))))
    many = left(job, RecentPast(ended=tuple(ended(100, declared=100) for _ in range(30))))
    assert few[98] > 112
    assert many[98] < 108


def test_of_a_script_that_reports_nothing_only_what_is_longer_than_it_ran_is_left() -> None:
    silent = {"is_measurable": False, "measurements": (), "remaining_samples": None}
    past = RecentPast(
        ended=tuple(
            PastJob(job=waiting("old", **silent), samples=0.0, run_seconds=seconds)
            for seconds in (100, 200, 1000)
        )
    )
    fresh = left(waiting("a", **silent), past)
    old = left(running("a", 1, started_at=NOW - 600, **silent), past)
    assert fresh[20] < 300
    assert median(old) == pytest.approx(400, rel=0.3)


def test_jobs_that_still_run_are_longer_than_what_they_have_done() -> None:
    """Of twenty jobs the ten short ones have ended: a new one is as likely one of the others."""
    past = RecentPast(
        ended=tuple(ended(100) for _ in range(10)),
        live={f"long{number}": JobProgress(samples=50_000) for number in range(10)},
    )
    live = [running(f"long{number}", 1, scaling=SCALING) for number in range(10)]
    assert left(waiting("a"), past)[80] < 200
    assert left(waiting("a"), past, *live)[60] > 400


def test_what_is_unfinished_is_spread_over_what_is_longer() -> None:
    known = spread_of([1.0, 2.0, 4.0], [1.5])
    assert dict(zip(known.values.tolist(), known.shares.tolist(), strict=True)) == pytest.approx(
        {1.0: 0.25, 2.0: 0.375, 4.0: 0.375}
    )
    longest = spread_of([1.0], [3.0])
    assert dict(zip(longest.values.tolist(), longest.shares.tolist(), strict=True)) == {
        1.0: 0.5,
        6.0: 0.5,
    }


def test_a_number_of_samples_says_nothing_of_a_speed_that_nobody_has_measured() -> None:
    """Others took 100 s; a thousand times their samples of another training may be as long."""
    past = RecentPast(ended=tuple(ended(100, declared=100) for _ in range(10)))
    unknown = waiting("a", remaining_samples=10_000_000)
    assert median(left(unknown, past)) == pytest.approx(100, rel=0.3)
    measured = waiting("a", remaining_samples=10_000_000, scaling=SCALING, measurements=())
    assert median(left(measured, past)) == pytest.approx(100_000, rel=0.1)
    assert median(left(unknown, RecentPast())) > 90_000
