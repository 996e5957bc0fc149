"""What do ticks write down of who holds GPUs, what there is, and what is promised?"""

from __future__ import annotations

from datetime import timedelta

import pytest
from cluster.models import Node
from tenancy.models import Quota, Team

from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountsClock,
    CapacitySpan,
    HeldSpan,
    PromiseSpan,
    UnseenSpan,
)
from autoscaler.gpu_accounts.recording import LONGEST_LABELS
from jobs.models import Generation, Job, Worker
from jobs.worker_phase import WorkerPhase
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, live_workers

pytestmark = pytest.mark.django_db(transaction=True)


def held() -> list[tuple[int, int, bool]]:
    """GPUs, how many of them start, and whether they are held now; in the order of time."""
    rows = HeldSpan.objects.order_by("id").values_list("gpus", "starting_gpus", "until")
    return [(gpus, starting, until is None) for gpus, starting, until in rows]


def test_what_a_job_holds_is_written_down_with_each_change_and_only_then(world: World) -> None:
    job = world.job(labels={"project": "digits"})
    coordinator = world.running(job, 1)
    world.tick(3)
    world.wish(job, 2)
    world.tick(2)
    assert held()[-1] == (2, 1, True)
    coordinator.train()
    world.tick(2)
    assert held()[-1] == (2, 0, True)
    assert held()[0] == (1, 1, False)
    former, last = list(HeldSpan.objects.order_by("id"))[-2:]
    assert former.until == last.since
    account = AccountedJob.objects.get()
    assert (account.job, account.pool, account.team) == (job.id, "default", "vision")
    assert (account.user, account.name, account.labels) == ("ada", "digits", job.labels)


def costs() -> tuple[float, float]:
    """Seconds of stall and GPU-seconds of lost work, as written down of what is held now."""
    last = HeldSpan.objects.get(until=None)
    return round(last.stall_seconds, 3), round(last.lost_gpu_seconds, 3)


def switched(job: Job, workers: int, *, stall: float = 0.0, lost: float = 0.0) -> None:
    """The job reported another generation, which cost so many seconds."""
    last = Generation.objects.filter(job=job).order_by("number").last()
    assert last is not None
    Generation.objects.filter(job=job, ended_at=None).update(ended_at=last.began_at)
    last.pk, last.number, last.workers = None, last.number + 1, workers
    last.stall_seconds, last.lost_work_seconds = stall, lost
    last.save()
    Job.objects.filter(pk=job.pk).update(generation=last.number)


def test_a_switch_is_written_down_with_what_it_cost(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    world.wish(job, 2)
    world.tick()
    coordinator.train()
    switch = Generation.objects.filter(job=job, number__gt=1)
    assert switch.update(stall_seconds=1.5, lost_work_seconds=7.0) == 1
    world.tick(2)
    assert costs() == (1.5, 7.0), "one GPU had trained what is lost"


def test_lost_work_is_of_all_gpus_that_had_done_it(world: World) -> None:
    job = world.job()
    world.running(job, 3)
    switched(job, 1, lost=7.0)
    world.tick()
    assert costs() == (0.0, 21.0)


def test_each_of_several_switches_between_two_ticks_counts(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    switched(job, 1, stall=2.0, lost=7.0)
    switched(job, 2, stall=3.0, lost=10.0)
    world.tick()
    assert costs() == (5.0, 7.0 * 2 + 10.0 * 1)
    world.clock.advance(10)
    switched(job, 2)
    world.tick()
    assert costs() == (0.0, 0.0), "once"


def test_work_that_was_lost_with_all_workers_counts_once_the_job_is_back(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    for worker in live_workers(job):
        world.host.exit(worker, -9)
    world.planner.wishes.clear()
    world.tick()
    world.clock.advance(60)
    world.tick(3)
    assert not HeldSpan.objects.filter(until=None).exists()
    world.wish(job, 1)
    world.tick()
    Coordinator(job.id).train()
    Generation.objects.filter(job=job, number=2).update(stall_seconds=60.0, lost_work_seconds=7.0)
    world.tick()
    assert costs() == (0.0, 14.0), "it held nothing while it stood still"


def test_a_stall_goes_on_when_something_else_changes(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    switched(job, 2, stall=30.0)
    world.tick()
    world.clock.advance(10)
    Job.objects.filter(pk=job.pk).update(priority=7)
    world.tick()
    assert costs()[0] == pytest.approx(20.0, abs=0.1)


def test_a_stall_in_which_all_workers_started_is_not_counted_twice(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    Worker.objects.filter(job=job).update(phase=WorkerPhase.STARTING)
    world.tick()
    world.clock.advance(20)
    Worker.objects.filter(job=job).update(phase=WorkerPhase.TRAINING)
    switched(job, 2, stall=30.0)
    world.tick()
    assert costs() == (0.0, 0.0)


def test_a_renamed_team_pays_for_no_switch_again(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    switched(job, 2, lost=7.0)
    world.tick()
    Team.objects.filter(name="vision").update(name="sight")
    world.tick()
    assert HeldSpan.objects.get(until=None).job.team == "sight"
    assert costs() == (0.0, 0.0)
    switched(job, 2, lost=1.0)
    world.tick()
    assert costs() == (0.0, 2.0)


def test_accounts_outlive_the_job_and_its_pool_by_their_names(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    Job.objects.filter(pk=job.pk).update(labels={"new": "label", "long": "x" * LONGEST_LABELS})
    world.tick()
    assert AccountedJob.objects.get().labels == {}, "kept for ever, of every job that comes"
    world.wish(job, 0)
    for worker in list(world.host.running()):
        world.host.exit(worker, 0)
    world.tick(3)
    Job.objects.all().delete()
    assert held()[-1] == (1, 0, False)
    assert AccountedJob.objects.get().job == job.id


def test_capacities_and_promises_are_written_down_when_they_change(world: World) -> None:
    world.tick(2)
    Node.objects.create(pool=Node.objects.get().pool, name="n2", gpus=3)
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1, limit_gpus=3)
    language = Team.objects.get(name="language")
    Team.objects.create(name="speech", parent=language)
    world.tick(2)
    capacities = CapacitySpan.objects.order_by("id")
    assert [(one.gpus, one.until is None) for one in capacities] == [(4, False), (7, True)]
    promised = PromiseSpan.objects.filter(until=None).order_by("team")
    assert list(promised.values_list("team", "parent", "guaranteed_gpus", "limit_gpus")) == [
        ("language", "", 2, None),
        ("speech", "language", 0, None),
        ("vision", "", 1, 3),
    ]


def test_where_the_clock_steps_back_time_stands_still_for_the_accounts(world: World) -> None:
    world.tick()
    before = AccountsClock.objects.get().at
    world.clock.advance(-1800)
    world.wish(world.job(), 1)
    world.tick()
    assert AccountsClock.objects.get().at == before
    assert HeldSpan.objects.get().since == before
    world.clock.advance(3600)
    world.tick()
    assert AccountsClock.objects.get().at > before + timedelta(minutes=29)


def test_what_is_lost_while_time_stands_still_counts_when_it_goes_on(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    world.clock.advance(-1800)
    switched(job, 2, stall=2.0, lost=7.0)
    world.tick()
    Job.objects.filter(pk=job.pk).update(priority=7)
    world.tick()
    assert costs() == (2.0, 14.0)


def test_a_time_in_which_nobody_looked_is_written_down(world: World) -> None:
    world.tick()
    world.clock.advance(60)
    world.tick()
    assert not UnseenSpan.objects.exists()
    before = AccountsClock.objects.get().at
    world.clock.advance(900)
    world.tick()
    span = UnseenSpan.objects.get()
    assert (span.since, span.until) == (before, AccountsClock.objects.get().at)
