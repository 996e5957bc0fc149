"""Scripts that know nothing of us: found out by waiting, rescaled by starting them again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autoscaler.planning.planner import plan
from jobs.models import Assignment, Generation, Job
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.world import World, claims, fresh, kinds, live_workers, states


def heard(job: Job) -> None:
    """The coordinator spoke just now, and no script had registered."""
    Coordinator(job.id).sync(is_registered=False)


def running_by_restart(world: World, workers: int, **spec: Any) -> Job:
    job = world.job(elastic={"mode": "restart", "grace_period": "7s"}, **spec)
    world.wish(job, workers)
    world.tick(2)
    assert fresh(job).state == "running"
    return job


def test_a_script_that_never_registers_is_run_in_restart_mode(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    world.clock.advance(61)
    heard(job)
    world.tick()
    running = fresh(job)
    assert (running.mode, running.state, running.generation) == ("restart", "running", 1)
    assert "mode_detected" in kinds(job)


def test_a_restart_job_trains_without_a_coordinator(world: World) -> None:
    job = running_by_restart(world, 2)
    assert world.host.running() == set(live_workers(job))
    generation = Generation.objects.get(job=job)
    assert (generation.number, generation.workers, generation.reason) == (1, 2, "fair_share")
    assert states(job) == ["starting", "running"]


def test_a_restart_job_grows_though_nobody_can_measure_it(world: World) -> None:
    job = running_by_restart(world, 1)
    world.clock.advance(3600)
    assert replace(world.loop(), planner=plan).run_once()
    wanted = Assignment.objects.filter(job=job).latest("revision")
    assert len(wanted.worker_ids) > 1


@pytest.mark.parametrize("workers", [1, 3])
def test_a_restart_rescale_ends_the_old_set_before_the_new_one_starts(
    world: World, workers: int
) -> None:
    job = running_by_restart(world, 2)
    old = live_workers(job)
    world.wish(job, workers)
    world.tick()
    rescaling = fresh(job)
    assert (rescaling.state, rescaling.revision) == ("rescaling", 2)
    assert world.host.stops == [(worker, 7.0) for worker in old]
    world.tick()
    new = live_workers(job)
    assert len(new) == workers
    assert not set(new) & set(old)
    assert world.host.launch_of(new[0]).env["WORLD_SIZE"] == str(workers)
    world.tick()
    running = fresh(job)
    assert (running.state, running.generation, running.rescales) == ("running", 2, 1)
    assert (running.failures, running.losses) == (0, 0)
    first, second = Generation.objects.filter(job=job).order_by("number")
    assert first.ended_at is not None
    assert second.workers == workers
    assert len(claims()) == workers


def test_a_restart_rescale_waits_for_a_deaf_worker(world: World) -> None:
    job = running_by_restart(world, 2)
    deaf = live_workers(job)[0]
    world.host.deaf.add(deaf)
    world.wish(job, 1)
    world.tick(2)
    assert live_workers(job) == [deaf]
    assert fresh(job).state == "rescaling"
    seen = world.planner.job(job)
    assert seen.target is not None
    assert (seen.can_rescale, seen.target.workers) == (False, 1)
    world.clock.advance(8)
    world.tick(2)
    assert fresh(job).state == "running"


def test_between_two_sets_the_job_keeps_its_place(world: World) -> None:
    job = running_by_restart(world, 2)
    for worker in live_workers(job):
        world.host.deaf.add(worker)
    world.wish(job, 4)
    world.tick()
    rival = world.job("rival")
    world.wish(rival, 1)
    world.clock.advance(8)
    world.tick()
    seen = world.planner.job(job)
    assert seen.target is not None
    assert seen.target.workers == 4


def test_a_restart_grow_waits_until_it_fits(world: World) -> None:
    rival = world.job("rival")
    world.running(rival, 2)
    job = running_by_restart(world, 2)
    world.wish(job, 3)
    world.tick()
    assert fresh(job).state == "running"


def test_one_lost_worker_of_a_restart_job_restarts_them_all(world: World) -> None:
    job = running_by_restart(world, 2)
    lost, other = live_workers(job)
    world.host.exit(lost, -9)
    world.tick()
    assert (fresh(job).ends_as, fresh(job).losses) == ("queued", 1)
    assert other in {process_id for process_id, _ in world.host.stops}
    world.tick(2)
    assert (fresh(job).state, fresh(job).attempt, fresh(job).failures) == ("running", 1, 0)
    assert not {lost, other} & set(live_workers(job))


def test_a_fixed_job_without_the_library_is_never_rescaled(world: World) -> None:
    job = world.job(elastic={"mode": "fixed"})
    world.wish(job, 2)
    world.tick()
    world.clock.advance(61)
    heard(job)
    world.tick()
    assert (fresh(job).mode, fresh(job).state) == ("restart", "running")
    world.wish(job, 1)
    world.tick()
    assert fresh(job).revision == 1
