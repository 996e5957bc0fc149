"""A job's coordinator is kept alive as long as there is somebody to coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cluster.in_memory_host import InMemoryHost
from cluster.worker_host import ProcessListing, ProcessRole

from concertina_worker.protocol import Env, ExitCode
from jobs.commands import control
from jobs.models import Job
from tests.control_loop.world import World, fresh, kinds, live_workers


def starts(world: World, job: Job) -> int:
    """Of its coordinators."""
    labels = [launch.labels for launch in world.host.launches]
    return sum(one.job_id == job.id and one.role is ProcessRole.COORDINATOR for one in labels)


@dataclass
class KeepsWhatEnded(InMemoryHost):
    """A host that hides what it is to forget, and cannot remove it: its name stays taken."""

    hidden: set[str] = field(default_factory=set)

    def forget(self, process_id: str) -> None:
        self.hidden.add(process_id)

    def list(self) -> ProcessListing:
        found = super().list()
        seen = (p for p in found.processes if p.labels.process_id not in self.hidden)
        return replace(found, processes=tuple(seen))


def test_a_killed_coordinator_is_started_again_on_the_same_port(world: World) -> None:
    job = world.job()
    world.running(job, 2)
    before = world.host.launch_of(f"{job.id}-coordinator")
    world.host.exit(f"{job.id}-coordinator", -9)
    world.tick()
    restarted = world.host.launch_of(f"{job.id}-1-coordinator")
    assert restarted.env == {**before.env, Env.COORDINATOR_TERM: "1"}
    assert f"{job.id}-1-coordinator" in world.host.running()
    assert "coordinator_restarted" in kinds(job)
    assert fresh(job).state == "running"
    assert len(live_workers(job)) == 2
    world.tick()
    assert f"{job.id}-coordinator" not in world.host.list().by_id()


def test_it_does_not_wait_for_the_removal_of_the_one_before(world: World) -> None:
    world.host = KeepsWhatEnded(clock=world.clock)
    job = world.job()
    world.running(job, 1)
    world.host.exit(f"{job.id}-coordinator", -9)
    world.tick(2)
    assert f"{job.id}-1-coordinator" in world.host.running()


def test_nor_does_one_of_a_job_that_paused_and_is_resumed(world: World) -> None:
    world.host = KeepsWhatEnded(clock=world.clock)
    job = world.job()
    world.running(job, 1)
    control.pause(job_id=job.id, actor="ada")
    world.host.exit(live_workers(job)[0], 83)
    world.host.exit(f"{job.id}-coordinator", 0)
    world.tick(2)
    assert fresh(job).state == "paused"
    control.resume(job_id=job.id, actor="ada")
    world.tick(2)
    assert f"{job.id}-1-coordinator" in world.host.running()


def test_one_that_dies_again_and_again_is_started_less_often(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    for term in ("", "1-"):
        world.host.exit(f"{job.id}-{term}coordinator", 1)
        world.tick(3)
    assert starts(world, job) == 2
    world.clock.advance(3)
    world.tick()
    assert starts(world, job) == 3


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


def test_two_jobs_never_share_a_port(world: World) -> None:
    jobs = [world.job(f"job-{number}") for number in range(4)]
    for job in jobs:
        world.wish(job, 1)
    world.tick()
    assert len({fresh(job).coordinator_port for job in jobs}) == 4


def test_a_coordinator_that_died_before_its_last_word_is_started_again_to_say_it(
    world: World,
) -> None:
    job = world.job()
    world.running(job, 1)
    world.host.exit(f"{job.id}-coordinator", -9)
    world.host.exit(live_workers(job)[0], 0)
    world.tick(2)
    assert fresh(job).state == "stopping"
    assert f"{job.id}-1-coordinator" in world.host.running()
    world.host.exit(f"{job.id}-1-coordinator", 0)
    world.tick()
    assert fresh(job).state == "completed"
