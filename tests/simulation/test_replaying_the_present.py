"""Does a simulation that begins with a snapshot go on where the cluster stands?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler.planning.snapshot.cluster_state import Allocation
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.replay.settings import CheckpointRestart
from autoscaler.simulation.engine.replay.simulator import Replay
from tests.planning.builders import NOW, cluster, running, waiting
from tests.simulation.workloads import LINEAR, model, settings

KNOWN = ScalingModel(throughput=LINEAR.model, measured_workers=4, measured_batch=64)


def test_running_jobs_go_on_at_once_with_the_work_they_have_left() -> None:
    now = running("now", 2, max_workers=2, min_workers=2, scaling=KNOWN)
    result = Replay.from_state(
        cluster(now, nodes=(2,)), settings(), profiles={"now": LINEAR}, samples={"now": 20_000.0}
    ).run()
    (record,) = result.jobs
    assert record.finished_at == pytest.approx(NOW + 100.0)
    assert record.rescales == 0
    assert result.started_at == NOW


def test_waiting_jobs_start_when_those_before_them_have_ended() -> None:
    now = running("now", 2, max_workers=2, min_workers=2, scaling=KNOWN)
    later = waiting("later", min_workers=2, max_workers=2, scaling=KNOWN)
    result = Replay.from_state(
        cluster(now, later, nodes=(2,)),
        settings(),
        profiles={"now": LINEAR, "later": LINEAR},
        samples={"now": 20_000.0, "later": 20_000.0},
    ).run()
    assert result.jobs[1].first_started_at == pytest.approx(NOW + 100.0)
    assert result.jobs[1].finished_at == pytest.approx(NOW + 100.0 + 30.0 + 100.0)


def test_a_change_under_way_leads_where_it_was_meant_to() -> None:
    target = Allocation(workers_by_node=(("n1", 1),), global_batch_size=64)
    moving = running("moving", 2, max_workers=2, scaling=KNOWN, can_rescale=False, target=target)
    fixed = replace(moving, min_workers=1, max_workers=1)
    result = Replay.from_state(
        cluster(fixed, nodes=(2,)),
        settings(),
        profiles={"moving": LINEAR},
        samples={"moving": 10_000.0},
    ).run()
    (record,) = result.jobs
    assert record.history[0].workers == 1
    assert record.finished_at == pytest.approx(NOW + 1.0 + 100.0)


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ({"last_rescaled_at": NOW - 40.0}, 20.0),
        ({"last_rescaled_at": NOW - 200.0}, 60.0),  # that one is over: another is under way
        ({"started_at": NOW - 25.0}, 5.0),
        ({"started_at": None}, 60.0),
    ],
)
def test_a_job_stands_still_for_the_rest_of_a_start_or_change_under_way(
    changed: dict[str, float | None], left: float
) -> None:
    """A start takes 30 s here, a restart 60 s."""
    moving = running(
        "moving",
        1,
        max_workers=1,
        scaling=KNOWN,
        can_rescale=False,
        **{"started_at": 0.0} | changed,
    )
    result = Replay.from_state(
        cluster(moving, nodes=(1,)),
        settings(rescale=CheckpointRestart(seconds=60.0, first_start=30.0)),
        profiles={"moving": LINEAR},
        samples={"moving": 10_000.0},
    ).run()
    assert result.jobs[0].finished_at == pytest.approx(NOW + left + 100.0)


def test_jobs_grow_as_soon_as_they_may_where_plans_become_rare() -> None:
    """Twice the batch each time it has settled; a step takes a second with any batch."""
    fixed = replace(model(1e-6), compute_fixed=1.0)
    batch = BatchRange(base=64, minimum=64, maximum=4096)
    known = ScalingModel(throughput=fixed, measured_workers=1, measured_batch=64)
    growing = running("growing", 1, max_workers=1, batch=batch, scaling=known, measurements=())
    often, rarely = (
        Replay.from_state(
            cluster(replace(growing, remaining_samples=600_000), nodes=(1,)),
            settings(tick_seconds=5.0, tick_growth=growth),
            profiles={"growing": replace(LINEAR, model=fixed, batch=batch)},
            samples={"growing": 600_000.0},
        ).run()
        for growth in (0.0, 0.3)
    )
    assert rarely.jobs[0].rescales == often.jobs[0].rescales == 6
    assert rarely.jobs[0].finished_at == pytest.approx(often.jobs[0].finished_at, abs=10.0)
    assert rarely.plans < often.plans
