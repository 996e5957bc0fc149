"""A pool follows a real Ray cluster: raylets come, are drained by Ray, die and come back."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cluster.following.roster import RosterMachine
from cluster.models import Node, Pool
from cluster.nodes import silence
from cluster.nodes.following import follow
from cluster.ray_host.host import RayHost
from cluster.ray_host.nodes import NodeRows
from cluster.worker_host import HostUnavailable
from django.db import transaction
from django.utils import timezone

from tests.contract.conftest import RayBench, until
from tests.ray_cluster import NODE, POOL, RayCluster, cluster_of_its_own

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900), pytest.mark.django_db]
LABELS = {"concertina.io/pool": POOL}
LONG = 180.0
OTHER = "n2"


@pytest.fixture
def cluster() -> Iterator[RayCluster]:
    with cluster_of_its_own() as one:
        yield one


@pytest.fixture
def host(cluster: RayCluster, tmp_path: Path) -> Iterator[RayHost]:
    made = RayHost(
        state_dir=tmp_path / "state", link=cluster.link(), nodes=NodeRows(), answer_seconds=60.0
    )
    yield made
    made.close()


class _BenchOnTheOther(RayBench):
    @property
    def known(self) -> dict[str, Any]:
        return {"env": {}, "node": OTHER}


def looks(host: RayHost, *, lost_after: float = 3600.0) -> None:
    """What a tick does about nodes: it follows, looks, and notes who is silent."""
    now = timezone.now()
    follow(host, now=now, lost_after=timedelta(seconds=lost_after), writing=transaction.atomic)
    try:
        silent = dict(host.list().silent_nodes)
    except HostUnavailable as problem:
        silence.close(problem.silent_nodes, now=now, told_after=3600.0)
    else:
        silence.note(silent, leftovers=(), now=now, told_after=3600.0)


def comes_to(host: RayHost, look: Callable[[], bool], *, lost_after: float = 3600.0) -> None:
    def happens() -> bool:
        looks(host, lost_after=lost_after)
        return look()

    until(happens, seconds=LONG)


def takes_work(name: str) -> bool:
    return any(node.takes_work for node in Node.objects.filter(name=name))


def machine(host: RayHost, name: str) -> RosterMachine | None:
    return next((one for one in host.roster().machines if one.name == name), None)


def test_nodes_of_a_pool_are_the_raylets_with_its_labels(
    cluster: RayCluster, host: RayHost, tmp_path: Path
) -> None:
    Pool.objects.create(name="default", ray_selector=LABELS)
    comes_to(host, lambda: takes_work(NODE))
    seen = machine(host, NODE)
    assert seen is not None
    assert seen.labels.items() >= LABELS.items()
    first = Node.objects.get()
    assert (first.gpus, first.address) == (2, seen.address)  # slots: its processors

    known = cluster.processes("raylet/raylet ")
    cluster.add_node("elsewhere", pool="other")
    cluster.add_node(OTHER)
    comes_to(host, lambda: takes_work(OTHER))
    assert set(Node.objects.values_list("name", flat=True)) == {NODE, OTHER}

    bench = _BenchOnTheOther(host=host, folder=tmp_path / "control")
    bench.folder.mkdir()
    bench.start("w1")
    Pool.objects.update(gpus_per_node=1)  # leased anew, and what runs there goes on
    comes_to(host, lambda: all(node.takes_work and node.gpus == 1 for node in Node.objects.all()))
    assert set(host.list().by_id()) == {"w1"}
    cluster.drain(seen_id(host, OTHER), seconds=3600)
    comes_to(host, lambda: Node.objects.get(name=OTHER).is_draining)
    assert "Ray drains it, until 20" in Node.objects.get(name=OTHER).leaving_because
    assert not Node.objects.get(name=NODE).is_draining
    assert set(host.list().by_id()) == {"w1"}  # it goes on until it is told to leave

    for raylet in cluster.processes("raylet/raylet "):
        if raylet not in known:
            assert raylet.signal(signal.SIGKILL)
    comes_to(host, lambda: machine(host, OTHER) is None and not takes_work(OTHER))
    assert Node.objects.filter(name=OTHER).exists()  # not yet
    cluster.add_node(OTHER)
    comes_to(host, lambda: takes_work(OTHER))  # under another id of Ray: the node that it was
    assert Node.objects.get(name=OTHER).leaving_because == ""
    assert set(host.list().by_id()) == {"w1"}
    bench.end("w1", 0)

    for raylet in cluster.processes("raylet/raylet "):
        if raylet not in known:
            assert raylet.signal(signal.SIGKILL)
    comes_to(host, lambda: not Node.objects.filter(name=OTHER).exists(), lost_after=0.0)
    assert takes_work(NODE)
    looks(host)
    until(lambda: cluster.leases() == {NODE}, seconds=LONG)  # not of a machine that is no more

    Pool.objects.all().delete()
    looks(host)
    until(lambda: cluster.leases() == set(), seconds=LONG)  # others may have its GPUs again


def seen_id(host: RayHost, name: str) -> str:
    found = machine(host, name)
    assert found is not None
    return found.labels["ray.io/node-id"]
