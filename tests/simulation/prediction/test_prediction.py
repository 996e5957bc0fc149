"""Are starts and finishes predicted, with honest ranges, at a bounded cost?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.prediction.past import PastJob, RecentPast
from autoscaler.simulation.engine.prediction.prediction import (
    Effort,
    JobPrediction,
    affordable,
    predict,
)
from autoscaler.simulation.engine.prediction.ranges import Range
from autoscaler.simulation.engine.prediction.uncertainty import draw
from autoscaler.simulation.engine.replay.settings import HotRescale
from tests.planning.builders import NOW, cluster, running, waiting
from tests.simulation.workloads import model

EFFORT = Effort(horizon_seconds=600.0, planned_jobs=8_000)
AT_ONCE = HotRescale(stall=0.0, joiner_start=0.0, first_start=0.0)
CERTAIN = ScalingModel(throughput=model(), measured_workers=4, measured_batch=64)
DOUBTFUL = replace(
    CERTAIN,
    deviations=tuple(
        tuple(off * (i == j) for j in range(7)) for off in (0.3, -0.3) for i in range(7)
    ),
)


def busy(
    name: str, *, seconds: float, workers: int = 4, scaling: ScalingModel = CERTAIN
) -> PlannedJob:
    """A job that holds its workers for so long: each trains 100 samples per second."""
    return running(
        name,
        workers,
        min_workers=workers,
        max_workers=workers,
        remaining_samples=int(seconds * 100 * workers),
        scaling=scaling,
        measurements=(),
    )


def predict_from(
    state: ClusterState, past: RecentPast | None = None, seed: int = 0
) -> dict[str, JobPrediction]:
    return dict(predict(state, past=past, rescale=AT_ONCE, effort=EFFORT, seed=seed))


def from_now(span: Range | None) -> tuple[float, float, float]:
    assert span is not None
    assert span.p10 is not None
    assert span.p50 is not None
    assert span.p90 is not None
    return (span.p10 - NOW, span.p50 - NOW, span.p90 - NOW)


@pytest.mark.parametrize(
    ("jobs", "affords"),
    [(1, (19, 30)), (20, (19, 30)), (60, (9, 30)), (200, (3, 31)), (1000, (3, 6))],
)
def test_a_look_has_as_many_replays_as_it_affords_and_no_more_plans_than_are_enough(
    jobs: int, affords: tuple[int, int]
) -> None:
    state = cluster(*(waiting(f"j{number}") for number in range(jobs)))
    assert affordable(state, RecentPast(), Effort()) == affords


def test_a_running_job_ends_when_its_work_is_done() -> None:
    low, middle, high = from_now(predict_from(cluster(busy("a", seconds=100)))["a"].finish)
    assert middle == pytest.approx(100, rel=0.05)
    assert 85 < low < middle < high < 115


def test_a_waiting_job_starts_when_the_one_before_it_has_ended() -> None:
    state = cluster(busy("a", seconds=100), waiting("b", min_workers=4))
    predictions = predict_from(state)
    assert predictions["a"].start is None
    _, start, _ = from_now(predictions["b"].start)
    _, end, _ = from_now(predictions["a"].finish)
    assert end <= start <= end + 10


def test_a_job_that_waits_for_data_starts_no_sooner_than_that_is_there() -> None:
    """Meanwhile others use the GPUs: `b` starts when `a` ends, and `c` after it."""
    late = waiting("late", min_workers=4, scaling=CERTAIN, remaining_samples=4_000)
    state = cluster(
        busy("a", seconds=100),
        replace(late, ready_at=NOW + 300.0),
        waiting("b", min_workers=4, scaling=CERTAIN, remaining_samples=4_000),
    )
    predictions = predict_from(state)
    low, middle, _ = from_now(predictions["late"].start)
    assert 300 <= low <= middle <= 310
    assert from_now(predictions["late"].finish)[0] >= middle + 5
    assert from_now(predictions["b"].start)[2] < 130


@pytest.mark.parametrize("ready_at", [math.inf, NOW, NOW - 60.0])
def test_of_a_job_whose_data_nobody_can_tell_when_comes_no_start_is_promised(
    ready_at: float,
) -> None:
    """Nor where it should have been there by now."""
    lost = waiting("lost", min_workers=1, scaling=CERTAIN, remaining_samples=100)
    predictions = predict_from(cluster(busy("a", seconds=100), replace(lost, ready_at=ready_at)))
    start, finish = predictions["lost"].start, predictions["lost"].finish
    assert start is not None
    assert finish is not None
    assert {start.p10, start.p50, start.p90, finish.p10, finish.p50} == {None}
    assert from_now(predictions["a"].finish)[1] == pytest.approx(100, rel=0.05)


def test_a_job_that_was_measured_little_has_a_wider_range() -> None:
    sure = from_now(predict_from(cluster(busy("a", seconds=100)))["a"].finish)
    unsure = from_now(predict_from(cluster(busy("a", seconds=100, scaling=DOUBTFUL)))["a"].finish)
    assert unsure[2] - unsure[0] > 2 * (sure[2] - sure[0])


def test_jobs_that_will_come_make_a_waiting_job_later() -> None:
    """Those that come are as likely to be put first as the one that is there."""
    urgent = waiting("old", "language", min_workers=4, priority=90, scaling=CERTAIN)
    past = RecentPast(ended=(PastJob(job=urgent, samples=40_000, run_seconds=100),))
    busier = replace(past, arrivals_per_second=1 / 30)
    state = cluster(
        busy("a", seconds=60), waiting("b", min_workers=4), quotas={"language": (4, None)}
    )
    alone, crowded = predict_from(state, past)["b"].start, predict_from(state, busier)["b"].start
    assert alone is not None
    assert crowded is not None
    assert alone.p90 is not None
    assert crowded.p90 is None or crowded.p90 > alone.p90


def test_a_job_of_unknown_length_is_taken_for_one_that_ended_lately() -> None:
    ended = PastJob(job=waiting("old", scaling=CERTAIN), samples=6_000, run_seconds=60)
    state = cluster(waiting("a", max_workers=1))
    low, middle, high = from_now(predict_from(state, RecentPast(ended=(ended,)))["a"].finish)
    assert 30 < middle < 120
    assert high > 1.5 * low


def test_nothing_is_predicted_of_a_length_that_nobody_knows() -> None:
    prediction = predict_from(cluster(waiting("a")))["a"]
    assert prediction.finish is None
    assert from_now(prediction.start)[2] <= EFFORT.horizon_seconds


def test_what_is_later_than_was_looked_ahead_has_no_number() -> None:
    span = predict_from(cluster(busy("a", seconds=10_000)))["a"].finish
    assert span == Range(p10=None, p50=None, p90=None)


def test_the_same_question_has_the_same_answer_and_another_seed_another() -> None:
    state = cluster(busy("a", seconds=100, scaling=DOUBTFUL))
    assert predict_from(state) == predict_from(state)
    assert predict_from(state, seed=1) != predict_from(state)


def test_most_outcomes_of_possible_worlds_fall_into_the_range() -> None:
    """The truth is drawn from the same distribution: about 80 % should be within 10 to 90 %."""
    state = cluster(busy("a", seconds=100, scaling=DOUBTFUL))
    low, _, high = from_now(predict_from(state)["a"].finish)
    outcomes = [
        from_now(
            predict(
                state, rescale=AT_ONCE, effort=replace(EFFORT, replays=1, fewest_replays=1), seed=n
            )["a"].finish
        )[1]
        for n in range(1, 61)
    ]
    held = sum(low <= outcome <= high for outcome in outcomes)
    assert 0.6 * len(outcomes) <= held <= 0.97 * len(outcomes)


def test_however_often_jobs_come_a_bounded_number_of_them_is_replayed() -> None:
    """The work and the memory of a prediction are bounded, whatever tenants submit."""
    state = cluster(busy("a", seconds=100))
    short = PastJob(job=waiting("short", scaling=CERTAIN), samples=100.0, run_seconds=1.0)
    past = RecentPast(ended=(short,), arrivals_per_second=1e3, arrivals_seen=10**6)
    drawn = draw(state, past, np.random.default_rng(1), horizon_seconds=7 * 86_400.0)
    assert 50 < len(drawn.arrivals) < 150
    assert drawn.arrivals[-1].submitted_at < NOW + 1  # the first of them


def test_an_empty_cluster_has_nothing_to_predict() -> None:
    assert predict(cluster()) == {}
