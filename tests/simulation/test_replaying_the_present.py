"""Does a simulation that begins with a snapshot go on where the cluster stands?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler.planning.snapshot.cluster_state import Allocation
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.replay.simulator import Replay
from tests.planning.builders import NOW, cluster, running, waiting
from tests.simulation.workloads import LINEAR, settings

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
