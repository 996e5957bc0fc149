"""What becomes of a team's jobs when its GPU-hours of the month are used up, and who is told?"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tenancy.models import Team, TeamLimits

from autoscaler.gpu_accounts.models import AccountedJob, ClosedHour, HeldSpan, TeamDay
from autoscaler.gpu_accounts.reading.months import gpu_hours_of_month
from concertina_worker.protocol import ExitCode
from jobs.commands import control
from jobs.models import Event, Job
from tests.control_loop.accounts.noon import GPU_HOUR
from tests.control_loop.clocks import StandingClock
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, live_workers

pytestmark = pytest.mark.django_db(transaction=True)
NOVEMBER = date(2026, 11, 1)
DECEMBER = date(2026, 12, 1)
TENTH = datetime(2026, 11, 10, 12, tzinfo=UTC)


@pytest.fixture
def clock(clock: StandingClock) -> StandingClock:
    """It is in the middle of a month."""
    clock.now = TENTH
    return clock


def budget(team: str, gpu_hours: float | None, then: str = "no_new") -> None:
    TeamLimits.objects.update_or_create(
        team=Team.objects.get(name=team),
        defaults={"gpu_hours_per_month": gpu_hours, "when_used_up": then},
    )


def used(team: str, gpu_hours: float, *, month: date = NOVEMBER) -> None:
    """Its jobs have held so many GPU-hours since the month began."""
    TeamDay.objects.update_or_create(
        day=month, pool="default", team=team, defaults={"borrowed": round(gpu_hours * GPU_HOUR)}
    )


def told(kind: str) -> list[str]:
    return list(Event.objects.filter(kind=kind).order_by("id").values_list("message", flat=True))


def waits(job: Job) -> bool:
    return (fresh(job).state, fresh(job).reason) == ("queued", "team_budget_used_up")


def test_no_queued_job_starts_and_those_that_run_go_on(world: World) -> None:
    runs, comes = world.job("runs"), world.job("comes")
    world.running(runs, 1)
    budget("vision", 10)
    used("vision", 10)
    world.wish(comes, 1)
    world.tick(3)
    assert fresh(runs).state == "running"
    assert waits(comes)
    assert fresh(comes).message == (
        "Team vision has used up the 10 GPU-hours that it has in November 2026"
        " (`gpu_hours_per_month`). The job goes on by itself on 2026-12-01 at 00:00 UTC, or when an"
        " admin or a lead of a team above gives the team more."
    )
    budget("vision", 11)
    world.tick()
    assert fresh(comes).state == "starting"


def test_it_starts_by_itself_when_the_month_turns(world: World, clock: StandingClock) -> None:
    job = world.job()
    budget("vision", 10)
    used("vision", 12)
    world.wish(job, 1)
    world.tick()
    assert waits(job)
    clock.now = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
    world.tick()
    assert waits(job)
    clock.now = datetime(2026, 12, 1, tzinfo=UTC)
    world.tick()
    assert fresh(job).state == "starting"


def test_where_jobs_pause_their_people_are_told_before_and_they_go_on_by_themselves(
    world: World,
) -> None:
    job, foreign = world.job("ours"), world.job("theirs")
    Job.objects.filter(pk=foreign.pk).update(team=Team.objects.get(name="language"))
    coordinator = world.running(job, 2)
    world.running(foreign, 1)
    budget("vision", 10, "pause")
    used("vision", 10.5)
    world.tick()
    assert fresh(job).state == "running"
    (said,) = told("budget_used_up")
    assert said.startswith("Team vision has used 10.5 of the 10 GPU-hours that it has in November")
    world.tick()
    assert (fresh(job).state, fresh(job).ends_as) == ("stopping", "queued")
    assert Event.objects.get(job=job, new_state="stopping").data["gives_way"] is True
    leave(world, coordinator)
    assert waits(job)
    assert fresh(foreign).state == "running"
    world.tick(3)
    assert waits(job)
    budget("vision", 20, "pause")
    world.tick()
    assert fresh(job).state == "starting"
    assert fresh(job).failures == 0
    assert told("budget_used_up") == [said]


def test_no_job_pauses_because_its_people_once_heard_of_what_was_not_used(
    world: World, clock: StandingClock
) -> None:
    job = world.job()
    world.running(job, 1)
    budget("vision", 10, "pause")
    used("vision", 10.5)
    world.tick()
    assert len(told("budget_used_up")) == 1
    used("vision", 5)
    clock.now -= timedelta(minutes=1)  # it had leapt
    world.tick()
    used("vision", 10)
    clock.now += timedelta(minutes=1)
    world.tick()
    assert (fresh(job).state, len(told("budget_used_up"))) == ("running", 2)
    world.tick()
    assert fresh(job).state == "stopping"


def test_a_job_that_waits_for_the_budget_may_be_cancelled(world: World) -> None:
    job = world.job()
    budget("vision", 1)
    used("vision", 1)
    world.tick()
    assert waits(job)
    control.cancel(job_id=job.id, actor="ada")
    world.tick()
    assert fresh(job).state == "cancelled"


def test_each_threshold_is_told_of_once_in_a_month_and_again_of_another_budget(
    world: World, clock: StandingClock
) -> None:
    world.running(world.job(), 1)
    budget("vision", 10)
    used("vision", 7.9)
    world.tick(2)
    assert told("budget_warning") == []
    used("vision", 8)
    world.tick(3)
    assert len(told("budget_warning")) == 1
    used("vision", 10)
    world.tick(3)
    assert len(told("budget_used_up")) == 1
    budget("vision", 12)
    world.tick(3)
    assert (len(told("budget_warning")), len(told("budget_used_up"))) == (2, 1)
    clock.now = datetime(2026, 12, 1, 0, 1, tzinfo=UTC)
    used("vision", 9.7, month=DECEMBER)
    world.tick(3)
    assert (len(told("budget_warning")), len(told("budget_used_up"))) == (3, 1)


def test_a_budget_covers_the_teams_below(world: World) -> None:
    Team.objects.filter(name="language").update(parent=Team.objects.get(name="vision"))
    job = world.job()
    Job.objects.filter(pk=job.pk).update(team=Team.objects.get(name="language"))
    budget("vision", 10)
    budget("language", 9)
    used("vision", 6)
    used("language", 4)
    world.wish(job, 1)
    world.tick()
    assert waits(job)
    assert fresh(job).message.startswith("Team vision has used up")
    budget("vision", None)
    world.tick()
    assert fresh(job).state == "starting"


def test_what_is_held_in_the_running_hour_counts(world: World) -> None:
    held = AccountedJob.objects.create(
        job="a1", pool="default", team="vision", user="gone", name="digits"
    )
    hour = timedelta(hours=1)
    ClosedHour.objects.create(hour=TENTH - hour, capacities={})
    HeldSpan.objects.create(
        job=held, gpus=2, starting_gpus=0, priority=50, generation=1, since=TENTH - 3 * hour
    )
    HeldSpan.objects.create(  # of before the month, and closed
        job=AccountedJob.objects.create(
            job="a2", pool="default", team="vision", user="ada", name="older"
        ),
        gpus=4,
        starting_gpus=0,
        priority=50,
        generation=1,
        since=TENTH - 3 * hour,
        until=TENTH - hour / 2,
    )
    used("vision", 3)
    used("vision", 100, month=DECEMBER)
    used("language", 100)

    def hours(now: datetime) -> float:
        found = gpu_hours_of_month(["vision"], NOVEMBER, DECEMBER, now=now)
        assert set(found) == {"vision"}
        return found["vision"]

    assert hours(TENTH + hour / 2) == 3 + 2 * 0.5
    assert hours(TENTH - hour) == 3, "a clock that stepped back takes nothing away"


def leave(world: World, coordinator: Coordinator) -> None:
    """Its workers have written a checkpoint and end, and so does its coordinator."""
    for worker in live_workers(Job.objects.get(pk=coordinator.job_id)):
        world.host.exit(worker, ExitCode.RELEASED)
    world.host.exit(f"{coordinator.job_id}-coordinator", 0)
    world.tick(3)
