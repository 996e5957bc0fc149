"""A job that shows no sign of life: told first, then ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from autoscaler.reconciling.signs_of_life import Due, due
from concertina_worker.protocol import WorkerPhase
from jobs.models import Event, Job

from .conftest import Coordinator, World, fresh, kinds, live_workers

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("quiet", "told", "expected"),
    [
        pytest.param(10, None, None, id="hardly quiet"),
        pytest.param(30, None, Due.TELL, id="half of the time"),
        pytest.param(300, None, Due.TELL, id="nobody looked for long"),
        pytest.param(300, 29, None, id="told a moment ago"),
        pytest.param(60, 30, Due.END, id="all of the time"),
        pytest.param(10, 40, None, id="told of an earlier silence"),
        pytest.param(31, 40, Due.TELL, id="quiet once more"),
    ],
)
def test_nobody_is_ended_without_a_warning(
    quiet: int, told: int | None, expected: Due | None
) -> None:
    told_at = None if told is None else NOW - timedelta(minutes=told)
    since = NOW - timedelta(minutes=quiet)
    assert due(since=since, told_at=told_at, now=NOW, timeout=3600) is expected


def wait(world: World, coordinator: Coordinator | None, *, minutes: float) -> None:
    """Time goes by, and the coordinator has nothing new to say."""
    world.clock.advance(60 * minutes)
    if coordinator:
        coordinator.sync()
    world.tick()


def test_a_hot_job_that_stands_still_is_told_of_then_starts_again(world: World) -> None:
    job = world.job(elastic={"progress_timeout": "20m"})
    coordinator = world.running(job, 1)
    wait(world, coordinator, minutes=9)
    assert "no_progress" not in kinds(job)
    wait(world, coordinator, minutes=2)
    told = Event.objects.get(job=job, kind="no_progress")
    assert "No step was made and no line written since" in told.message
    assert "20m after that it counts as failed" in told.message
    wait(world, coordinator, minutes=11)
    again = fresh(job)
    assert (again.ends_as, again.reason, again.failures) == ("queued", "no_progress", 1)


def test_one_that_always_stands_still_fails_and_says_what_to_do(world: World) -> None:
    job = world.job(max_restarts=0)
    coordinator = world.running(job, 1)
    wait(world, coordinator, minutes=31)
    wait(world, coordinator, minutes=31)
    failed = fresh(job)
    assert (failed.ends_as, failed.reason) == ("failed", "no_progress")
    assert "Raise `elastic.progress_timeout`" in failed.message


@pytest.mark.parametrize("sign", ["step", "line"])
def test_any_sign_of_life_counts(world: World, sign: str) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    for number in range(1, 6):
        world.clock.advance(25 * 60)
        if sign == "line":
            world.host.write(live_workers(job)[0], f"evaluated {number} of 1000")
            coordinator.sync()
        else:
            point = {"at": world.clock().timestamp(), "generation": 1, "step": number}
            coordinator.sync(metrics=[point])
        world.clock.advance(4)
        world.tick()
    assert fresh(job).state == "running"
    assert "no_progress" not in kinds(job)


def test_silence_of_the_service_is_not_that_of_the_job(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    wait(world, None, minutes=600)
    assert "no_progress" not in kinds(job)


def plain(world: World, **elastic: str) -> Job:
    job = world.job(elastic={"mode": "restart", **elastic}, max_restarts=0)
    world.wish(job, 1)
    world.tick(2)
    assert fresh(job).state == "running"
    return job


def test_a_plain_script_may_be_silent_but_its_people_are_told(world: World) -> None:
    job = plain(world)
    for _ in range(4):
        wait(world, None, minutes=31)
    assert (fresh(job).state, kinds(job).count("no_progress")) == ("running", 1)
    assert "left alone" in Event.objects.get(job=job, kind="no_progress").message


def test_unless_it_says_for_how_long(world: World) -> None:
    job = plain(world, progress_timeout="20m")
    wait(world, None, minutes=11)
    wait(world, None, minutes=11)
    assert (fresh(job).ends_as, fresh(job).reason) == ("failed", "no_progress")


@pytest.mark.parametrize("mode", ["auto", "hot", "fixed"])
def test_a_script_that_hangs_after_its_last_epoch_is_ended_as_completed(
    world: World, mode: str
) -> None:
    job = world.job(elastic={"mode": mode})
    coordinator = world.running(job, 2)
    workers = live_workers(job)
    over = dict.fromkeys(workers, WorkerPhase.FINISHED)
    coordinator.sync(over, finished=True)
    for _ in range(2):
        world.clock.advance(31 * 60)
        coordinator.sync(over, finished=True)
        world.tick()
    told = Event.objects.get(job=job, kind="no_progress")
    assert "training is over, but its script has neither ended nor written a line" in told.message
    ended = fresh(job)
    assert (ended.ends_as, ended.reason, ended.failures) == ("completed", "script_did_not_end", 0)
    assert "its work is done" in ended.message
    assert {worker for worker, _ in world.host.stops} == set(workers)


def test_work_behind_the_last_epoch_goes_on_while_it_writes(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    (worker,) = live_workers(job)
    coordinator.sync({worker: WorkerPhase.FINISHED}, finished=True)
    for _ in range(4):
        world.clock.advance(25 * 60)
        world.host.write(worker, "exporting")
        coordinator.sync({worker: WorkerPhase.FINISHED}, finished=True)
        world.tick()
    assert fresh(job).state == "running"
