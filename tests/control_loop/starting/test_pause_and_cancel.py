"""People and the planner stop jobs; stopped ones give everything back."""

from __future__ import annotations

from jobs.commands.control import cancel, pause, resume
from tests.control_loop.world import World, claims, fresh, live_workers, states


def test_a_paused_job_leaves_on_its_own_and_resumes(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    pause(job_id=job.id, actor="ada", reason="lunch")
    world.tick()
    assert coordinator.sync()["action"] == "stop"
    assert world.host.stops == []  # a checkpoint is being written
    for worker in live_workers(job):
        world.host.exit(worker, 83)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    paused = fresh(job)
    assert (paused.state, paused.reason) == ("paused", "paused_by_user")
    assert paused.message == "Paused by ada: lunch."
    assert claims() == set()
    world.tick()
    resume(job_id=job.id, actor="ada")
    world.tick()
    again = fresh(job)
    assert (again.state, again.attempt) == ("starting", 1)
    assert live_workers(job) == [f"{job.id}-1-3", f"{job.id}-1-4"]


def test_a_cancelled_job_is_stopped_at_once_with_its_grace_period(world: World) -> None:
    job = world.job(elastic={"grace_period": "12s"})
    coordinator = world.running(job, 2)
    workers = live_workers(job)
    cancel(job_id=job.id, actor="ada")
    world.tick()
    assert world.host.stops == [(worker, 12.0) for worker in workers]
    world.tick()
    world.stays(coordinator)
    assert fresh(job).state == "cancelled"
    assert claims() == set()
    assert world.host.list().processes == ()


def test_a_deaf_worker_is_killed_after_the_grace_period(world: World) -> None:
    job = world.job(elastic={"grace_period": "12s"})
    world.running(job, 1)
    worker = live_workers(job)[0]
    world.host.deaf.add(worker)
    cancel(job_id=job.id, actor="ada")
    world.tick(2)
    assert claims() != set()
    world.clock.advance(13)
    world.tick()
    assert claims() == set()


def test_a_job_cancelled_while_it_starts_never_runs(world: World) -> None:
    job = world.job()
    world.wish(job, 2)
    world.tick()
    cancel(job_id=job.id, actor="ada")
    world.tick(2)
    world.clock.advance(6)
    world.tick(2)
    assert states(job) == ["starting", "stopping", "cancelled"]


def test_a_job_that_completes_while_it_pauses_is_completed(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    pause(job_id=job.id, actor="ada")
    world.host.exit(live_workers(job)[0], 0)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    assert fresh(job).state == "completed"


def test_the_planner_pauses_a_job_which_then_waits_again(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    world.wish(job, 0)
    world.tick()
    assert (fresh(job).state, fresh(job).ends_as) == ("stopping", "queued")
    for worker in live_workers(job):
        world.host.exit(worker, 83)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    assert (fresh(job).state, fresh(job).attempt) == ("queued", 1)
    assert fresh(job).not_before is None


def test_a_stopping_job_is_shown_as_giving_everything_back(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    pause(job_id=job.id, actor="ada")
    world.tick()
    seen = world.planner.job(job)
    assert seen.allocation is not None
    assert seen.target is not None
    assert (seen.allocation.workers, seen.target.workers) == (2, 0)
