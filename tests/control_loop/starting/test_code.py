"""Where does a worker find its job's code? Where its host shows it, and it starts there."""

from __future__ import annotations

from pathlib import Path

from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.worker_host import Launch, Mount

from jobs.models import Job
from tests.control_loop.world import World

DIGEST = "0123456789abcdef" * 4


def started(world: World, job: Job) -> tuple[Launch, Launch]:
    """The launches of the coordinator and of the worker."""
    world.wish(job, 1)
    world.tick()
    coordinator, worker = (f"{job.id}-{role}" for role in ("coordinator", "1-1"))
    return world.host.launch_of(coordinator), world.host.launch_of(worker)


def snapshot(world: World, job: Job) -> Path:
    return world.state_dir / "code" / str(job.team_id) / DIGEST


def test_a_process_sees_the_snapshot_where_it_is_and_starts_there(world: World) -> None:
    job = world.job(code={"digest": DIGEST})
    coordinator, worker = started(world, job)
    folder = snapshot(world, job)
    mount = Mount(source=folder, target=str(folder), is_writable=False)
    assert mount in worker.mounts
    assert worker.workdir == str(folder)
    assert mount not in coordinator.mounts


def test_a_container_sees_it_as_code(world: World) -> None:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image="localhost/worker:test"
    )
    job = world.job(code={"digest": DIGEST})
    _, worker = started(world, job)
    assert worker.mounts[-1] == Mount(
        source=snapshot(world, job), target="/code", is_writable=False
    )
    assert worker.workdir == "/code"


def test_whoever_names_a_folder_starts_there_all_the_same(world: World) -> None:
    _, worker = started(world, world.job(code={"digest": DIGEST}, workdir="/elsewhere"))
    assert worker.workdir == "/elsewhere"


def test_without_code_all_is_as_it_was(world: World) -> None:
    _, worker = started(world, world.job())
    assert worker.workdir is None
    assert all(mount.is_writable for mount in worker.mounts)
