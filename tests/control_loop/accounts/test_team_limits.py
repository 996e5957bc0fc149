"""Which jobs wait when their team, or one of its users, may run no more at once?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from tenancy.models import Team, TeamLimits

from autoscaler.planning import planner
from jobs.models import Job, Quarantine
from tests.control_loop.world import World, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def limit(team: str, **limits: int) -> None:
    TeamLimits.objects.update_or_create(team=Team.objects.get(name=team), defaults=limits)


def queued(world: World, *names: str, **fields: Any) -> list[Job]:
    """Jobs that the planner would start at once."""
    jobs = [world.job(name) for name in names]
    for job in jobs:
        Job.objects.filter(pk=job.pk).update(**fields)
        world.wish(job, 1)
    return jobs


def states(*jobs: Job) -> list[str]:
    return [fresh(job).state for job in jobs]


def test_jobs_beyond_the_limit_wait_in_order_and_say_so(world: World) -> None:
    limit("vision", max_running_jobs=2)
    runs = world.job("runs")
    world.running(runs, 1)
    first, second, third = queued(world, "first", "second", "third")
    Job.objects.filter(pk=third.pk).update(priority=60)
    world.tick()
    assert states(third, first, second) == ["starting", "queued", "queued"]
    assert fresh(first).reason == "team_job_limit"
    assert fresh(first).message == (
        "Team vision may run 2 jobs at once (`max_running_jobs`), and as many run or come before"
        " this one. It starts after one of them has ended, or when a lead of a team above or an"
        " admin raises the limit."
    )
    for process in [one for one in world.host.running() if one.startswith(runs.id)]:
        world.host.exit(process, 0)
    world.tick(3)
    assert states(runs, first, second) == ["completed", "starting", "queued"]
    limit("vision", max_running_jobs=3)
    world.tick()
    assert states(second) == ["starting"]


def test_a_limit_covers_the_teams_below(world: World) -> None:
    Team.objects.filter(name="language").update(parent=Team.objects.get(name="vision"))
    limit("vision", max_running_jobs=1)
    world.running(world.job("above"), 1)
    (below,) = queued(world, "below", team=Team.objects.get(name="language"))
    world.tick()
    assert (fresh(below).state, fresh(below).reason) == ("queued", "team_job_limit")
    assert fresh(below).message.startswith("Team vision may run 1 job at once")


def test_what_one_user_runs_keeps_nobody_else_waiting(world: World) -> None:
    limit("vision", max_running_jobs_per_user=1)
    first, second = queued(world, "first", "second")
    (other,) = queued(world, "other", submitted_by="vision/ci")
    world.tick()
    assert states(first, second, other) == ["starting", "queued", "starting"]
    assert fresh(second).message.startswith(
        "Whoever submitted it may run 1 job at once in team vision (`max_running_jobs_per_user`)"
    )


def test_what_one_user_may_hold_is_kept_to_by_the_planner(world: World) -> None:
    limit("vision", max_gpus_per_user=1)
    planned = replace(world, planner=planner.plan)  # type: ignore[arg-type]
    world.running(world.job("runs"), 1)
    (mine,) = queued(world, "mine")
    (other,) = queued(world, "other", submitted_by="vision/ci")
    planned.tick()
    assert states(mine, other) == ["queued", "starting"]
    assert fresh(mine).reason == "waiting_for_user_limit"
    assert fresh(mine).message.startswith(
        "Waits for 1 GPU: whoever submitted it uses 1 of at most 1 GPU in team vision"
        " (max_gpus_per_user)."
    )
    limit("vision", max_gpus_per_user=2)
    planned.tick()
    assert states(mine) == ["starting"]


def test_a_job_that_can_never_start_takes_no_place_from_others(world: World) -> None:
    limit("vision", max_running_jobs=1)
    (never,) = queued(world, "never", explanation={"reason": "exceeds_limit"}, priority=90)
    (able,) = queued(world, "able")
    world.tick()
    assert states(never, able) == ["queued", "starting"]


def test_a_job_that_the_planner_cannot_reckon_with_takes_no_place_from_others(
    world: World,
) -> None:
    limit("vision", max_running_jobs=1)
    runs = world.job("runs")
    world.running(runs, 1)
    (broken,) = queued(world, "broken", reason="planning_failed", priority=90)
    Quarantine.objects.create(
        job=broken,
        part=Quarantine.Part.PLANNING,
        failures=9,
        since=world.clock(),
        retry_at=world.clock() + timedelta(days=1),
        error="",
    )
    (able,) = queued(world, "able")
    world.tick(2)
    assert states(broken, able) == ["queued", "queued"]
    for process in [one for one in world.host.running() if one.startswith(runs.id)]:
        world.host.exit(process, 0)
    world.tick(3)
    assert states(runs, broken, able) == ["completed", "queued", "starting"]


def test_a_tick_asks_as_much_for_one_job_that_waits_as_for_many(
    make_world: Callable[..., World],
) -> None:
    world = make_world()
    limit("vision", max_running_jobs=1, gpu_hours_per_month=1000)
    world.running(world.job("runs"), 1)

    def statements(*names: str) -> list[list[str]]:
        queued(world, *names)
        ticks = []
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                world.tick()
            ticks.append([one["sql"].split(" WHERE ")[0][:60] for one in captured])
        return ticks

    queued(world, "fills-the-guarantee")
    world.tick()
    few, many = statements("one"), statements(*(f"of-many-{number}" for number in range(12)))
    assert few == many
