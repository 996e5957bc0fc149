"""Does a tick go on for the other jobs while somebody holds the row of one?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.db import connection

from autoscaler.control_loop.carry_out import accounting
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.models import Event, Job, Quarantine
from tests.control_loop.world import World, fresh, live_workers

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


def test_a_running_job_whose_row_is_held_keeps_no_other_from_being_reconciled(world: World) -> None:
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


class Unlucky(Exception):
    """What a planner meets in a job's data."""


def tick_in_which_fails(world: World, failing: Job, *, deleted: Job | None = None) -> None:
    """The planner cannot look into one job; meanwhile somebody deletes another."""

    def plan(state: ClusterState) -> Plan:
        if deleted is not None:
            delete(deleted)
        if any(job.job_id == failing.id for job in state.jobs):
            raise Unlucky
        return world.planner(state)

    assert replace(world.loop(), planner=plan).run_once()


def delete(job: Job) -> None:
    Event.objects.filter(job=job).delete()
    Job.objects.filter(pk=job.pk).delete()


def test_a_held_row_of_a_job_that_cannot_be_planned_keeps_no_other_from_starting(
    world: World,
) -> None:
    failing, other = world.job("failing"), world.job("other")
    world.wish(other, 1)
    with holding(failing):
        tick_in_which_fails(world, failing)
        assert fresh(other).state == "starting"
        assert not Quarantine.objects.exists()
    tick_in_which_fails(world, failing)
    assert Quarantine.objects.get().job_id == failing.id


def test_a_job_that_cannot_be_planned_and_is_deleted_meanwhile_keeps_no_other_from_starting(
    world: World,
) -> None:
    failing, other = world.job("failing"), world.job("other")
    world.wish(other, 1)
    tick_in_which_fails(world, failing, deleted=failing)
    assert fresh(other).state == "starting"


def test_a_job_that_is_deleted_before_it_starts_keeps_no_other_from_starting(
    world: World,
) -> None:
    failing, gone, other = (world.job(name) for name in ("failing", "gone", "other"))
    for job in (gone, other):
        world.wish(job, 1)
    tick_in_which_fails(world, failing, deleted=gone)
    assert fresh(other).state == "starting"
