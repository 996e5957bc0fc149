"""Where do all workers of a job find its outputs, and when does what somebody deleted go?"""

from __future__ import annotations

from pathlib import Path

from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.worker_host import Launch, Mount
from storage.models import UnwantedResult
from storage.results import unwanted
from storage.results.folders import ResultFolder, Results

from concertina_worker.protocol import Env
from jobs.models import Job
from tests.control_loop.world import World


def outputs(world: World, job: Job) -> Path:
    return world.state_dir / "jobs" / job.id / "outputs"


def started(world: World, job: Job) -> list[Launch]:
    """The launches of both workers."""
    world.wish(job, 2)
    world.tick()
    return [world.host.launch_of(f"{job.id}-1-{number}") for number in (1, 2)]


def test_all_workers_see_one_folder_and_its_name(world: World) -> None:
    job = world.job()
    folder = outputs(world, job)
    for launch in started(world, job):
        assert Mount(source=folder, target=str(folder)) in launch.mounts
        assert launch.env[Env.OUTPUTS] == str(folder)


def test_in_containers_it_is_called_outputs(world: World) -> None:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image="localhost/worker:test"
    )
    job = world.job()
    for launch in started(world, job):
        assert Mount(source=outputs(world, job), target="/outputs") in launch.mounts
        assert launch.env[Env.OUTPUTS] == "/outputs"


def test_a_tick_removes_what_somebody_deleted(world: World) -> None:
    job = world.job()
    folder = outputs(world, job)
    (folder / "plots").mkdir(parents=True)
    for name in ("plots/loss.png", "log.txt", "kept.txt"):
        (folder / name).write_text(name)
    results = Results(state_dir=world.state_dir, job_id=job.id, place=ResultFolder.OUTPUTS)
    for path in ("plots", "log.txt"):
        unwanted.wish_away(results, path, by="ada")
    UnwantedResult.objects.update(due_at=world.clock())
    world.tick()
    assert [path.name for path in folder.iterdir()] == ["kept.txt"]
    assert not UnwantedResult.objects.exists()
