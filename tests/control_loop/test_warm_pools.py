"""What waits warm is what admins asked for, and no job waits for it."""

from __future__ import annotations

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.in_memory_host import InMemoryHost
from cluster.maintenance import Maintenance, maintain
from cluster.models import Node, Pool, WarmPool
from cluster.plain_python import read_at_import
from cluster.worker_host import HostUnavailable, WarmStock, WarmWish

from .conftest import World, fresh


@pytest.fixture
def containers(world: World) -> World:
    """The small world, with containers."""
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir,
        service_url="http://api:8000",
        image="localhost/concertina-worker:1",
    )
    return world


def asked(world: World) -> list[tuple[str, str, int]]:
    world.tick()
    return [(wish.node, wish.image, wish.count) for wish in world.host.warm]


def warm_pool(size: int = 2, *, image: str = "") -> WarmPool:
    return WarmPool.objects.create(pool=Pool.objects.get(), size=size, image=image)


def test_a_warm_pool_is_kept_on_each_node_that_takes_work(containers: World) -> None:
    Node.objects.create(pool=Pool.objects.get(), name="n2", gpus=1)
    made = warm_pool()
    assert asked(containers) == [
        ("n1", "localhost/concertina-worker:1", 2),
        ("n2", "localhost/concertina-worker:1", 2),
    ]
    maintain("n1", Maintenance.CORDON)
    assert asked(containers) == [("n2", "localhost/concertina-worker:1", 2)]
    made.refresh_from_db()
    assert made.observed == {"n2": {"warm": 2, "note": ""}}
    made.delete()
    assert asked(containers) == []


def test_what_waits_begins_as_a_plain_worker_does(containers: World) -> None:
    warm_pool()
    job = containers.job(env={"EPOCHS": "3"})
    containers.running(job, 1)
    (wish,) = containers.host.warm
    launch = containers.host.launch_of(f"{job.id}-1-1")
    assert wish.env.items() <= launch.env.items()
    assert read_at_import(wish.env) == read_at_import(launch.env)
    assert read_at_import(wish.env).keys() == {"OMP_NUM_THREADS", "PYTHONUNBUFFERED"}
    assert set(wish.targets) == {mount.target for mount in launch.mounts}


def test_nothing_gets_warm_while_a_job_starts_unless_that_takes_long(containers: World) -> None:
    warm_pool()
    job = containers.job()
    containers.wish(job, 1)
    assert asked(containers) == []
    assert fresh(job).state == "starting"
    containers.clock.advance(31)
    assert asked(containers) == [("n1", "localhost/concertina-worker:1", 2)]


def test_of_nodes_with_gpus_only_the_images_are_fetched(containers: World) -> None:
    Pool.objects.update(gpu_type="nvidia-h100")
    made = warm_pool(image="mine:1")
    assert asked(containers) == [("n1", "docker.io/library/mine:1", 0)]
    made.refresh_from_db()
    assert "only have the image fetched" in made.observed["n1"]["note"]


def test_why_too_few_are_warm_is_written_down_and_forgotten_when_it_is_over(
    containers: World,
) -> None:
    made = warm_pool(image="mine:1")
    containers.host.cold["docker.io/library/mine:1"] = "fetching image mine:1"
    containers.tick()
    made.refresh_from_db()
    assert made.observed == {"n1": {"warm": 0, "note": "fetching image mine:1"}}
    containers.host.cold.clear()
    containers.tick()
    made.refresh_from_db()
    assert made.observed == {"n1": {"warm": 2, "note": ""}}


def test_two_warm_pools_are_told_apart_by_their_images(containers: World) -> None:
    first, second = warm_pool(1), warm_pool(3, image="mine:1")
    containers.tick()
    for made, count in ((first, 1), (second, 3)):
        made.refresh_from_db()
        assert made.observed == {"n1": {"warm": count, "note": ""}}


class ColdHost(InMemoryHost):
    """Keeps nothing warm."""

    def keep_warm(self, *wishes: WarmWish) -> tuple[WarmStock, ...]:
        raise HostUnavailable(f"No room for {len(wishes)}.")


def test_a_host_that_keeps_nothing_warm_stops_no_job(
    containers: World, caplog: pytest.LogCaptureFixture
) -> None:
    containers.host = ColdHost(clock=containers.clock)
    warm_pool()
    job = containers.job()
    containers.running(job, 1)
    assert "Nothing is kept warm: No room for 1." in caplog.text


def test_nothing_is_asked_for_where_jobs_are_processes(world: World) -> None:
    made = warm_pool()
    assert asked(world) == []
    made.refresh_from_db()
    assert made.observed == {}
