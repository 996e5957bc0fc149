"""Which jobs of an array wait when it may run no more at once?"""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from tenancy.models import Team, TeamLimits

from jobs.models import Job, JobArray
from tests.control_loop.accounts.test_team_limits import queued, states
from tests.control_loop.world import World, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def array_of(*jobs: Job, most: int | None) -> None:
    array = JobArray.objects.create(team=jobs[0].team, name="a", trials=len(jobs), max_running=most)
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(array=array, array_limit=most)


def test_trials_beyond_the_limit_wait_in_order_and_keep_nobody_else(world: World) -> None:
    first, second, third, alone = queued(world, "first", "second", "third", "alone")
    array_of(first, second, third, most=1)
    world.tick()
    assert states(first, second, third, alone) == ["starting", "queued", "queued", "starting"]
    assert fresh(second).reason == "array_limit"
    assert fresh(second).message == (
        "Its array may run 1 job at once (`max_running`), and as many run or come before this one."
        " It starts after one of them has ended."
    )
    for process in [one for one in world.host.running() if one.startswith(first.id)]:
        world.host.exit(process, 0)
    world.tick(3)
    assert states(first, second, third) == ["completed", "starting", "queued"]


def test_a_trial_that_waits_for_its_team_takes_no_place_of_another_array(world: World) -> None:
    TeamLimits.objects.create(team=Team.objects.get(name="vision"), max_running_jobs=2)
    one, two, other, more = queued(world, "one", "two", "other", "more")
    array_of(one, two, most=1)
    array_of(other, more, most=1)
    world.tick()
    assert states(one, two, other, more) == ["starting", "queued", "starting", "queued"]
    assert (fresh(two).reason, fresh(more).reason) == ("array_limit", "array_limit")


def test_a_tick_takes_as_many_statements_for_many_trials_as_for_few(world: World) -> None:
    def statements(*names: str) -> int:
        jobs = queued(world, *names)
        array_of(*jobs, most=1)
        world.tick(2)
        with CaptureQueriesContext(connection) as queries:
            world.tick()
        return len(queries)

    few = statements("a", "b")
    Job.objects.all().delete()
    assert statements("c", *(f"d{number}" for number in range(12))) <= few
