"""A job that shows no sign of life: told first, then ended."""

from __future__ import annotations

import pytest

from concertina_worker.protocol import MemberPhase
from jobs.models import Event
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, fresh, kinds, live_workers


def wait(world: World, coordinator: Coordinator, *, minutes: float) -> None:
    """Time goes by, and the coordinator has nothing new to say."""
    world.clock.advance(60 * minutes)
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


@pytest.mark.parametrize("sign", ["step", "line"])
def test_any_sign_of_life_counts(world: World, sign: str) -> None:
    job = world.job()
    coordinator = world.running(job, 1)
    for number in range(1, 3):
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


def test_a_script_that_hangs_after_its_last_epoch_is_ended_as_completed(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    workers = live_workers(job)
    over = dict.fromkeys(workers, MemberPhase.FINISHED)
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
