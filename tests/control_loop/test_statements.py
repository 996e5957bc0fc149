"""How many statements does a quiet tick make? As many for 18 jobs more as for 2."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from autoscaler.control_loop.cluster_view import ended_jobs
from jobs.models import Job

from .conftest import Coordinator, World

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
