"""Images that admins asked for are fetched ahead, and no job waits for them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.in_memory_host import InMemoryHost
from cluster.models import Node, Pool, PrefetchedImage
from cluster.nodes.maintenance import Maintenance, maintain
from cluster.worker_host import HostUnavailable, NodeImage

from tests.control_loop.world import World

OURS = "localhost/concertina-worker:1"


@pytest.fixture
def containers(world: World) -> World:
    """The small world, with containers."""
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image=OURS
    )
    return world


def prefetched(image: str = "") -> PrefetchedImage:
    return PrefetchedImage.objects.create(pool=Pool.objects.get(), image=image)


def test_an_image_is_fetched_to_each_node_that_takes_work(containers: World) -> None:
    Node.objects.create(pool=Pool.objects.get(), name="n2", gpus=1)
    made = prefetched()
    containers.tick()
    here, there = NodeImage(node="n1", image=OURS), NodeImage(node="n2", image=OURS)
    assert containers.host.wanted_ahead == (here, there)
    maintain("n1", Maintenance.CORDON)
    containers.tick()
    assert containers.host.wanted_ahead == (there,)
    made.refresh_from_db()
    assert made.notes == {"n2": ""}


def test_why_an_image_is_missing_is_written_down_and_forgotten_when_it_is_there(
    containers: World,
) -> None:
    made, other = prefetched("mine:1"), prefetched()
    containers.host.missing["docker.io/library/mine:1"] = "fetching image mine:1"
    containers.tick()
    for row, note in ((made, "fetching image mine:1"), (other, "")):
        row.refresh_from_db()
        assert row.notes == {"n1": note}
    containers.host.missing.clear()
    containers.tick()
    made.refresh_from_db()
    assert made.notes == {"n1": ""}


class EmptyHost(InMemoryHost):
    """Fetches nothing."""

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:
        raise HostUnavailable(f"No room for {len(wanted)}.")


def test_a_host_that_fetches_nothing_stops_no_job(
    containers: World, caplog: pytest.LogCaptureFixture
) -> None:
    containers.host = EmptyHost(clock=containers.clock)
    prefetched()
    job = containers.job()
    containers.running(job, 1)
    assert "No image is fetched: No room for 1." in caplog.text


def test_nothing_is_asked_for_where_jobs_are_processes(world: World) -> None:
    made = prefetched()
    world.tick()
    assert world.host.wanted_ahead == ()
    made.refresh_from_db()
    assert made.notes == {}
