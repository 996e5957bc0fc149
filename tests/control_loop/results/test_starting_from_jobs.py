"""Does a job that starts from another get its checkpoint, whatever becomes of that one?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.worker_host import Mount
from storage.models import HeldCheckpoint

from concertina_worker.protocol import Env
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.control_loop.world import World, fresh
from tests.left_checkpoints import leave, weights_of


@pytest.fixture
def source(world: World) -> Job:
    """A job with a checkpoint."""
    source = world.job(name="source")
    leave(checkpoints_of(world, source), 20, weights=weights_of(1.0))
    return source


def checkpoints_of(world: World, job: Job) -> Path:
    return world.state_dir / "jobs" / job.id / "checkpoints"


def started_from(world: World, source: Job, *, what: str = "weights", **more: Any) -> Job:
    """As a submission leaves it."""
    start = {"job": source.id, "step": 20, "what": what, **more}
    job = world.job(name="follower", start_from=start)
    (state,) = checkpoints_of(world, source).glob("*.pt")
    (weights,) = checkpoints_of(world, source).glob("*.safetensors")
    names = {weights.name: "model.safetensors"}
    HeldCheckpoint.objects.create(
        for_job=job.id,
        source_job=source.id,
        step=20,
        names=names | ({state.name: "training.pt"} if what == "all" else {}),
        digest="0" * 64,
        due_at=world.clock(),
    )
    return job


def held(world: World) -> Path:
    return world.state_dir / "jobs" / ".held" / str(HeldCheckpoint.objects.get().pk)


@pytest.mark.parametrize(
    ("what", "files"),
    [("weights", ["model.safetensors"]), ("all", ["model.safetensors", "training.pt"])],
)
def test_a_tick_holds_it_so_that_it_outlives_its_job(
    world: World, source: Job, what: str, files: list[str]
) -> None:
    started_from(world, source, what=what)
    world.tick()
    assert HeldCheckpoint.objects.get().state == "held"
    shutil.rmtree(checkpoints_of(world, source).parent)
    assert sorted(path.name for path in held(world).iterdir()) == files
    assert (held(world) / "model.safetensors").read_bytes() == weights_of(1.0)


def test_workers_see_it_and_cannot_change_it(world: World, source: Job) -> None:
    job = started_from(world, source, skip=["head.*"])
    world.wish(job, 2)
    world.tick()
    for number in (1, 2):
        launch = world.host.launch_of(f"{job.id}-1-{number}")
        folder = held(world)
        seen = Mount(source=folder, target=str(folder), is_writable=False, is_ours=False)
        assert seen in launch.mounts
        assert launch.env[Env.START_FROM] == str(folder)
        assert launch.env[Env.START_SKIP] == '["head.*"]'


def test_in_containers_it_is_called_start(world: World, source: Job) -> None:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image="localhost/worker:test"
    )
    job = started_from(world, source)
    world.wish(job, 1)
    world.tick()
    launch = world.host.launch_of(f"{job.id}-1-1")
    assert launch.env[Env.START_FROM] == "/start"
    assert [one.is_writable for one in launch.mounts if one.target == "/start"] == [False]


def test_a_job_whose_start_was_removed_before_fails_and_says_so(world: World, source: Job) -> None:
    job = started_from(world, source)
    shutil.rmtree(checkpoints_of(world, source))
    world.tick()
    assert HeldCheckpoint.objects.get().state == "lost"
    world.wish(job, 1)
    world.tick()
    failed = fresh(job)
    assert (failed.state, failed.reason) == (JobState.FAILED, "start_unavailable")
    assert f"Step 20 of job {source.id} was removed" in failed.message


def test_a_link_in_the_place_of_a_checkpoint_is_not_held(
    world: World, source: Job, tmp_path: Path
) -> None:
    started_from(world, source)
    (tmp_path / "secret").write_text("of the machine")
    (weights,) = checkpoints_of(world, source).glob("*.safetensors")
    weights.unlink()
    weights.symlink_to(tmp_path / "secret")
    world.tick()
    assert HeldCheckpoint.objects.get().state == "lost"
    assert not list((world.state_dir / "jobs" / ".held").iterdir())


def test_what_is_half_held_is_begun_again(world: World, source: Job) -> None:
    started_from(world, source)
    half = held(world).with_name(f"{held(world).name}.half")
    half.mkdir(parents=True)
    (half / "model.safetensors").write_bytes(b"half")
    world.tick()
    assert (held(world) / "model.safetensors").read_bytes() == weights_of(1.0)
    assert not half.exists()


def test_it_is_let_go_when_its_job_has_ended(world: World, source: Job) -> None:
    job = started_from(world, source)
    world.tick()
    folder = held(world)
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, finished_at=world.clock())
    world.tick()
    assert not folder.exists()
    assert not HeldCheckpoint.objects.exists()
    assert len(list(checkpoints_of(world, source).iterdir())) == 2  # the other's own stay
