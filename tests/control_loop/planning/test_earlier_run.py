"""Is a job that has only waited planned by what an earlier run of the same training measured?"""

from __future__ import annotations

from dataclasses import replace

from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from jobs.models import Job
from tests.control_loop.world import World, live_workers


def begin_with_measurements(job: Job) -> None:
    """As if an earlier run of the same training had made them."""
    known = [(job.pool.gpu_type, k, 1, 32, 50, 0.02 + 0.4 / k) for k in (1, 4)]
    Job.objects.filter(pk=job.pk).update(earlier_run="earlier", earlier_measurements=known)


def test_a_job_starts_large_where_an_earlier_run_scaled(world: World) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    job = world.job(batch={"global_batch_size": 32})
    begin_with_measurements(job)
    assert loop.run_once()
    assert len(live_workers(job)) == 4
