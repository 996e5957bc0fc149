"""A recorded workload in, the known summary out."""

from __future__ import annotations

import pytest

from autoscaler.simulation.engine.replay.settings import Failures
from autoscaler.simulation.engine.replay.simulator import run
from tests.simulation.workloads import job, pool, settings, trace

# One GPU each, so that nothing is left to the planner: whoever came first starts first.
WORKLOAD = trace(
    *(
        job(f"j{number:02}", at=40.0 * number, samples=6_000.0 * (1 + number * 7 % 10))
        for number in range(16)
    )
)


# fmt: off
GOLDEN_STARTS = [
    0.0, 40.0, 80.0, 120.0, 160.0, 270.0, 410.0, 550.0,
    620.0, 660.0, 730.0, 820.0, 930.0, 1070.0, 1180.0, 1220.0,
]
# fmt: on


def test_sixteen_jobs_queue_for_four_gpus() -> None:
    result = run(WORKLOAD, settings(pool(4)))
    completion = [record.completion_seconds or 0.0 for record in result.jobs]
    assert [record.first_started_at for record in result.jobs] == GOLDEN_STARTS
    assert result.ended_at == pytest.approx(1750.0)
    assert sum(completion) / len(completion) == pytest.approx(606.25)
    assert sum(record.gpu_seconds for record in result.jobs) == pytest.approx(
        sum(j.samples / 100 + 30 for j in WORKLOAD.jobs)
    )


def test_failures_cost_exactly_the_work_since_the_last_checkpoints() -> None:
    failing = Failures(node_mtbf_seconds=1500.0, node_repair_seconds=60.0, checkpoint_seconds=50.0)
    result = run(WORKLOAD, settings(pool(4), failures=failing))
    for record, submitted in zip(result.jobs, WORKLOAD.jobs, strict=True):
        assert record.finished_at is not None
        trained = (record.gpu_seconds / submitted.min_workers) - record.stall_seconds
        needed = submitted.samples / submitted.min_workers / 100
        assert needed - 1e-6 <= trained <= needed + 50.0 * record.losses + 1e-6
    assert sum(record.losses for record in result.jobs) > 0
