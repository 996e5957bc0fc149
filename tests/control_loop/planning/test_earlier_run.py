"""Is a job that has only waited planned by what an earlier run of the same training measured?"""

from __future__ import annotations

from dataclasses import replace

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from jobs.models import Job, Measurement
from tests.control_loop.conftest import World, live_workers


def begin_with_measurements(job: Job) -> None:
    """As if an earlier run of the same training had made them."""
    Job.objects.filter(pk=job.pk).update(earlier_run="earlier")
    Measurement.objects.bulk_create(
        Measurement(
            job=job,
            workers=workers,
            global_batch_size=32,
            steps=50,
            step_seconds=0.02 + 0.4 / workers,
            gpu_type=job.pool.gpu_type,
            is_of_earlier_run=True,
        )
        for workers in (1, 4)
    )


def test_a_job_starts_large_where_an_earlier_run_scaled(world: World) -> None:
    loop = replace(world.loop(), planner=planner.plan, check=invariants.check)
    job = world.job(batch={"global_batch_size": 32})
    begin_with_measurements(job)
    assert loop.run_once()
    assert len(live_workers(job)) == 4


def test_while_it_waits_its_measurements_are_read_once(world: World) -> None:
    job = world.job()
    begin_with_measurements(job)

    def planned() -> int:
        """How many times the measurements are read for a snapshot."""
        with CaptureQueriesContext(connection) as statements:
            seen = cluster_state(list(observe.planned_jobs({})), timezone.now())
        (of_job,) = seen.state.jobs
        assert of_job.scaling is not None
        assert of_job.scaling.measured_workers == 4
        return sum('FROM "jobs_measurement"' in one["sql"] for one in statements)

    assert planned() == 1
    assert planned() == 0
