"""A job's coordinator is kept alive as long as there is somebody to coordinate."""

from __future__ import annotations

from concertina_worker.protocol import ExitCode, WorkerPhase
from jobs.commands import control

from .conftest import World, fresh, kinds, live_workers


def starts(world: World, process_id: str) -> int:
    return sum(launch.labels.process_id == process_id for launch in world.host.launches)


def test_a_killed_coordinator_is_started_again_on_the_same_port(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    coordinator = f"{job.id}-coordinator"
    before = world.host.launch_of(coordinator)
    world.host.exit(coordinator, -9)
    world.tick()
    assert starts(world, coordinator) == 2
    assert world.host.launch_of(coordinator).env == before.env
    assert coordinator in world.host.running()
    assert "coordinator_restarted" in kinds(job)
    assert fresh(job).state == "running"
    assert len(live_workers(job)) == 2


def test_one_that_dies_again_and_again_is_started_less_often(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    coordinator = f"{job.id}-coordinator"
    for _ in range(2):
        world.host.exit(coordinator, 1)
        world.tick(3)
    assert starts(world, coordinator) == 2
    world.clock.advance(3)
    world.tick()
    assert starts(world, coordinator) == 3


def test_a_vanished_coordinator_is_started_again(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    world.host.lose(f"{job.id}-coordinator")
    world.tick()
    assert f"{job.id}-coordinator" in world.host.running()


def test_a_port_in_use_leads_to_another_one(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    world.tick()
    before = fresh(job).coordinator_port
    world.host.exit(f"{job.id}-coordinator", ExitCode.PORT_IN_USE)
    world.tick()
    assert fresh(job).reason == "port_in_use"
    world.clock.advance(6)
    world.tick(3)
    assert fresh(job).state == "starting"
    assert fresh(job).coordinator_port != before
    assert fresh(job).failures == 0


def test_a_coordinator_that_has_finished_is_left_alone(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick(2)
    assert starts(world, f"{job.id}-coordinator") == 1
    world.host.exit(live_workers(job)[0], 0)
    world.tick()
    assert fresh(job).state == "completed"


def test_two_jobs_never_share_a_port(world: World) -> None:
    jobs = [world.job(f"job-{number}") for number in range(4)]
    for job in jobs:
        world.wish(job, 1)
    world.tick()
    assert len({fresh(job).coordinator_port for job in jobs}) == 4


def test_a_coordinator_whose_workers_all_ran_to_the_end_is_not_started_again(world: World) -> None:
    job = world.job()
    coordinator = world.running(job, 2)
    coordinator.sync(dict.fromkeys(live_workers(job), WorkerPhase.FINISHED))
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick()
    world.clock.advance(60)  # its workers take long to write their last results
    world.tick()
    assert starts(world, f"{job.id}-coordinator") == 1
    assert "coordinator_restarted" not in kinds(job)


def test_a_coordinator_that_let_everybody_leave_is_not_started_again(world: World) -> None:
    job = world.job(elastic={"grace_period": "300s"})
    world.running(job, 2)
    control.pause(job_id=job.id, actor="ada")
    world.host.exit(f"{job.id}-coordinator", 0)
    world.clock.advance(60)
    world.tick()
    assert len(live_workers(job)) == 2
    assert "coordinator_restarted" not in kinds(job)


def test_one_that_was_asked_to_end_from_outside_is_started_again(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.clock.advance(6)
    world.tick()
    assert starts(world, f"{job.id}-coordinator") == 2
    assert "coordinator_restarted" in kinds(job)


def test_a_coordinator_that_died_before_its_last_word_is_started_again_to_say_it(
    world: World,
) -> None:
    job = world.job()
    world.running(job, 1)
    coordinator = f"{job.id}-coordinator"
    world.host.exit(coordinator, -9)
    world.host.exit(live_workers(job)[0], 0)
    world.tick(2)
    assert fresh(job).state == "stopping"
    assert coordinator in world.host.running()
    world.host.exit(coordinator, 0)
    world.tick()
    assert fresh(job).state == "completed"


def test_a_job_does_not_wait_for_ever_for_the_last_word(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    coordinator = f"{job.id}-coordinator"
    world.host.exit(live_workers(job)[0], 0)
    world.host.exit(coordinator, -9)
    world.tick(2)
    world.host.exit(coordinator, -9)
    world.clock.advance(30)
    world.tick(2)
    assert fresh(job).state == "completed"
