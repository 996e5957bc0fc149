"""Where do workers find the data that their job's spec names, and is lost data told?"""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.worker_host import Launch, Mount
from storage.data.rules import DataRules
from storage.models import DataSource
from tenancy.models import Team

from jobs.models import Job
from tests.control_loop.world import World, fresh, live_workers, states


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """The folder of source `image-net`, below the one that is allowed."""
    allowed = tmp_path / "datasets"
    (allowed / "imagenet" / "train").mkdir(parents=True)
    world.data_rules = DataRules(folders=(allowed,), state_dir=tmp_path / "state")
    source = DataSource.objects.create(
        name="image-net", kind="folder", place={"path": str(allowed / "imagenet")}
    )
    source.teams.add(Team.objects.get(name="vision"))
    return allowed / "imagenet"


def using(world: World, **use: object) -> Job:
    return world.job(data=[{"source": "image-net", **use}])


def started(world: World, job: Job) -> Launch:
    world.wish(job, 1)
    world.tick()
    return world.host.launch_of(f"{job.id}-1-1")


def in_containers(world: World) -> None:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image="localhost/worker:test"
    )


def test_a_process_is_told_where_it_is(world: World, folder: Path) -> None:
    worker = started(world, using(world, path="train", mount="/data/imagenet"))
    assert worker.env["CONCERTINA_DATA_IMAGE_NET"] == str(folder / "train")
    (data,) = (one for one in worker.mounts if not one.is_ours)
    assert (data.source, data.target, data.is_writable) == (folder, str(folder), False)


def test_a_container_sees_all_of_it_where_its_spec_says(world: World, folder: Path) -> None:
    in_containers(world)
    worker = started(world, using(world, path="train", mount="/datasets/in"))
    mount = Mount(source=folder, target="/datasets/in", is_writable=False, is_ours=False)
    assert mount in worker.mounts
    assert worker.env["CONCERTINA_DATA_IMAGE_NET"] == "/datasets/in/train"


def test_without_a_mount_it_is_below_data(world: World, folder: Path) -> None:
    in_containers(world)
    worker = started(world, using(world))
    assert worker.env["CONCERTINA_DATA_IMAGE_NET"] == "/data/image-net"


def test_a_job_that_may_write_gets_it_writable(world: World, folder: Path) -> None:
    DataSource.objects.update(is_writable=True)
    worker = started(world, using(world, writable=True))
    assert next(one for one in worker.mounts if not one.is_ours).is_writable


def test_a_folder_that_became_a_link_out_is_not_shown(world: World, folder: Path) -> None:
    job = using(world)
    folder.rename(folder.with_name("before"))
    folder.symlink_to("/etc")
    world.wish(job, 1)
    world.tick(4)
    assert states(job) == ["starting", "stopping", "failed"]
    failed = fresh(job)
    assert failed.reason == "data_unavailable"
    assert failed.message == (
        f"Data source image-net cannot be used: {folder} leads to /etc, out of the folders of data."
    )


def test_a_job_may_not_write_any_more_when_an_admin_closed_the_source(
    world: World, folder: Path
) -> None:
    job = using(world, writable=True)
    world.wish(job, 1)
    world.tick(4)
    assert fresh(job).reason == "data_unavailable"
    assert fresh(job).message == "Jobs may not write to data source image-net any more."


def test_a_job_that_trains_goes_on_without_a_worker_whose_data_is_gone(
    world: World, folder: Path
) -> None:
    job = using(world)
    world.running(job, 1)
    (folder / "train").rmdir()
    folder.rmdir()
    world.wish(job, 2)
    world.tick()
    assert fresh(job).state in {"running", "rescaling"}
    assert f"{job.id}-1-1" in live_workers(job)
    assert f"{job.id}-1-2" not in world.host.list().by_id()
