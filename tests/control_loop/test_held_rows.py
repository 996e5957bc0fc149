"""Does a tick go on for the other jobs while somebody holds the row of one?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from autoscaler.control_loop import accounting
from jobs.models import Job

from .conftest import World, fresh, live_workers

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def holding(job: Job) -> Iterator[None]:
    """Its row is held over another connection, as a report does that takes for ever."""
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT 1 FROM jobs_job WHERE id = %s FOR NO KEY UPDATE", [job.id])
            yield
    finally:
        other.close()


def test_a_job_whose_row_is_held_waits_and_the_others_start(world: World) -> None:
    held, other = world.job("held"), world.job("other")
    for job in (held, other):
        world.wish(job, 1)
    with holding(held):
        world.tick()
        assert (fresh(held).state, fresh(other).state) == ("queued", "starting")
    world.tick()
    assert fresh(held).state == "starting"


def test_a_running_job_whose_row_is_held_keeps_no_other_from_being_attended(world: World) -> None:
    held, other = world.job("held"), world.job("other")
    for job in (held, other):
        world.running(job, 1)
    for job in (held, other):
        world.host.exit(live_workers(job)[0], 1)
    with holding(held):
        world.tick()
        assert (fresh(held).failures, fresh(other).failures) == (0, 1)
    world.tick()
    assert fresh(held).failures == 1


def test_gpu_time_is_counted_of_all_jobs_whose_rows_are_free(world: World) -> None:
    held, other = world.job("held"), world.job("other")
    for job in (held, other):
        world.running(job, 1)
    before = {job.id: fresh(job).gpu_seconds for job in (held, other)}
    world.clock.advance(100)
    with holding(held):
        accounting.update_gpu_seconds(before, world.clock())
        assert fresh(held).gpu_seconds == before[held.id]
        assert fresh(other).gpu_seconds > before[other.id] + 90
