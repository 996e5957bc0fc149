"""When would a job end, had it another speed or length on the course that it took in a replay?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.prediction.own_luck import ends_with
from autoscaler.simulation.engine.prediction.past import RecentPast
from autoscaler.simulation.engine.prediction.prediction import Effort, predict
from autoscaler.simulation.engine.replay.settings import HotRescale
from autoscaler.simulation.engine.replay.simulator import Replay
from tests.planning.builders import NOW, cluster, running, waiting
from tests.simulation.workloads import LINEAR, model, settings

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob
    from autoscaler.planning.speed.throughput import ThroughputModel
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob

KNOWN = ScalingModel(throughput=LINEAR.model, measured_workers=4, measured_batch=64)
FAST, HALF_AS_FAST = LINEAR.model, model(0.02)
AT_ONCE = HotRescale(stall=0.0, joiner_start=0.0, first_start=0.0)


def replayed(*jobs: PlannedJob, seconds: float, samples: float = 20_000.0) -> list[ReplayedJob]:
    """What becomes of jobs on two GPUs that make 100 samples a second each."""
    simulation = Replay.from_state(
        cluster(*jobs, nodes=(2,)),
        settings(rescale=AT_ONCE),
        profiles={job.job_id: LINEAR for job in jobs},
        samples={job.job_id: samples for job in jobs},
    )
    simulation.run_until(NOW + seconds)
    for one in simulation.world.jobs:
        one.advance(simulation.world.now)
    return list(simulation.world.jobs)


def end_with(job: ReplayedJob, model: ThroughputModel, samples: float) -> float | None:
    (end,) = ends_with(job, [model], [samples])
    return end


def steady() -> PlannedJob:
    return running("a", 2, min_workers=2, max_workers=2, scaling=KNOWN)


@pytest.mark.parametrize(
    ("speed", "samples", "ends_after"),
    [
        (FAST, 20_000.0, 100.0),
        (FAST, 10_000.0, 50.0),
        (FAST, 60_000.0, 300.0),  # it would have gone on as it went
        (HALF_AS_FAST, 20_000.0, 200.0),
        (HALF_AS_FAST, 5_000.0, 50.0),
    ],
)
@pytest.mark.parametrize("seconds", [60.0, 500.0], ids=["still running", "ended"])
def test_a_job_ends_where_its_own_work_is_done(
    seconds: float, speed: ThroughputModel, samples: float, ends_after: float
) -> None:
    (job,) = replayed(steady(), seconds=seconds)
    assert end_with(job, speed, samples) == pytest.approx(NOW + ends_after, rel=1e-6)


def test_a_job_goes_through_the_sizes_that_it_had() -> None:
    """The first ends after 50 s, and the second has both GPUs from then on."""
    first = running("a", 1, min_workers=1, max_workers=1, scaling=KNOWN)
    second = running("b", 1, min_workers=1, max_workers=2, scaling=KNOWN)
    simulation = Replay.from_state(
        cluster(first, second, nodes=(2,)),
        settings(rescale=AT_ONCE),
        profiles={"a": LINEAR, "b": LINEAR},
        samples={"a": 5_000.0, "b": 35_000.0},
    )
    simulation.run_until(NOW + 1_000.0)
    _, job = simulation.world.jobs
    grew_at = next(span.since for span in job.history if span.workers == 2)
    alone = 100.0 * (grew_at - NOW)
    assert end_with(job, FAST, alone / 2) == pytest.approx(NOW + alone / 200)
    assert end_with(job, FAST, 35_000.0) == pytest.approx(job.finished_at)
    assert end_with(job, FAST, alone + 60_000.0) == pytest.approx(grew_at + 300.0, rel=0.05)


def test_nothing_is_said_of_a_job_that_never_came_to_train() -> None:
    _, behind = replayed(
        steady(), waiting("b", min_workers=2, max_workers=2, scaling=KNOWN), seconds=60.0
    )
    assert end_with(behind, FAST, 1.0) is None


def test_where_replays_are_few_ranges_are_as_wide_as_where_they_are_many() -> None:
    doubtful = replace(
        KNOWN,
        deviations=tuple(
            tuple(off * (i == j) for j in range(7)) for off in (0.3, -0.3) for i in range(7)
        ),
    )
    job = replace(steady(), scaling=doubtful, remaining_samples=20_000)
    few = Effort(horizon_seconds=600.0, planned_jobs=100)
    many = Effort(horizon_seconds=600.0, planned_jobs=20_000)
    widths = []
    for effort in (few, many):
        span = predict(
            cluster(job, nodes=(2,)), past=RecentPast(), rescale=AT_ONCE, effort=effort, seed=1
        )["a"].finish
        assert span is not None
        assert span.p10 is not None
        assert span.p90 is not None
        widths.append(span.p90 - span.p10)
    assert 0.5 < widths[0] / widths[1] < 2.0
