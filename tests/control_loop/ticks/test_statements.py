"""How many statements does a tick make? As many however many jobs train, or workers end."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.control_loop.observe.for_planner.cluster_view import ended_jobs
from jobs.models import Job
from tests.control_loop.conftest import Coordinator, World, live_workers

pytestmark = pytest.mark.django_db(transaction=True)


def statements(world: World, *, jobs: int) -> list[str]:
    """Of a tick while so many jobs more train."""
    new = [world.job(f"one-of-{jobs}-{number}") for number in range(jobs)]
    for job in new:
        world.wish(job, 1)
    world.tick()
    for job in new:
        Coordinator(job.id).train()
    world.tick(2)
    with CaptureQueriesContext(connection) as captured:
        world.tick()
    return [one["sql"].split(" FROM ")[-1].split(" WHERE ")[0][:80] for one in captured]


def test_a_tick_asks_about_all_jobs_that_train_at_once(make_world: Callable[..., World]) -> None:
    world = make_world(nodes=(20,))
    assert statements(world, jobs=2) == statements(world, jobs=18)


def test_what_a_tick_asks_of_ended_jobs_does_not_read_all_that_ever_ended(world: World) -> None:
    job = world.job()
    yesterday = world.clock.now - timedelta(days=1)
    ended = {"state": "completed", "state_since": yesterday, "finished_at": yesterday}
    old = [copy(job) for _ in range(500)]
    for number, one in enumerate(old):
        one.id, one.name = f"old{number}", f"old-{number}"
        vars(one).update(ended)
    Job.objects.bulk_create(old)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs_job")
    lately = ended_jobs(world.clock.now - timedelta(minutes=1))
    assert "state_since" in lately.explain()
    assert "Seq Scan on jobs_job" not in lately.explain()


@pytest.mark.parametrize("signal", [-9, 1])
def test_the_ends_of_all_workers_of_a_job_take_as_many_statements_as_that_of_one(
    make_world: Callable[..., World], signal: int
) -> None:
    world = make_world(nodes=(20,))

    def loss(workers: int) -> list[str]:
        """All statements but the look at the lease that comes before each order to the host."""
        job = world.job(f"of-{workers}", elastic={"max_workers": 8})
        world.running(job, workers)
        for worker in live_workers(job):
            world.host.exit(worker, signal)
        with CaptureQueriesContext(connection) as captured:
            world.tick()
        assert live_workers(job) == []
        world.wish(job, 0)
        world.tick(2)
        counted = (one["sql"] for one in captured if "control_loop_lease" not in one["sql"])
        return [sql.split(" ")[0] for sql in counted]

    assert loss(1) == loss(7)
