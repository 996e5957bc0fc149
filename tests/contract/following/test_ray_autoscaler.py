"""A pool asks Ray's own autoscaler for a machine, a real raylet, and gives it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cluster.models import MachineEvent, Node, Pool
from cluster.nodes import silence
from cluster.nodes.asking import (
    PoolDemand,
    as_they_are,
    decide_and_write,
    pools_that_ask,
    tell_the_cluster,
)
from cluster.nodes.following import follow
from cluster.ray_host.host import RayHost
from cluster.ray_host.nodes import NodeRows
from cluster.worker_host import HostUnavailable
from django.db import transaction
from django.utils import timezone

from tests.contract.conftest import until
from tests.ray_cluster import RayCluster, cluster_of_its_own

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600), pytest.mark.django_db]
POOL = "h100"
LONG = 180.0


@pytest.fixture
def cluster() -> Iterator[RayCluster]:
    with cluster_of_its_own(pools=(POOL,)) as one:
        yield one


@pytest.fixture
def host(cluster: RayCluster, tmp_path: Path) -> Iterator[RayHost]:
    made = RayHost(
        state_dir=tmp_path / "state", link=cluster.link(), nodes=NodeRows(), answer_seconds=60.0
    )
    yield made
    made.close()


def tick(host: RayHost, *, later: timedelta = timedelta(0)) -> None:
    """What a tick does about machines, at a time that may be later for what is decided."""
    now = timezone.now()
    roster = follow(host, now=now, lost_after=timedelta(hours=1), writing=transaction.atomic)
    tell_the_cluster(host, now=now, writing=transaction.atomic)
    try:
        silent = dict(host.list().silent_nodes)
    except HostUnavailable as problem:
        silence.close(problem.silent_nodes, now=now, told_after=3600.0)
        return
    silence.note(silent, leftovers=(), now=now, told_after=3600.0)
    pools = pools_that_ask()
    decide_and_write(
        pools,
        as_they_are(pools, roster, busy=(), now=now + later),
        {pool.name: PoolDemand() for pool in pools},
        now=now + later,
        writing=transaction.atomic,
    )


def comes_to(host: RayHost, look: Callable[[], bool]) -> None:
    def happens() -> bool:
        tick(host)
        return look()

    until(happens, seconds=LONG)


def told() -> list[str]:
    return list(MachineEvent.objects.order_by("id").values_list("kind", flat=True))


def test_a_machine_is_brought_by_rays_autoscaler_and_given_back(
    cluster: RayCluster, host: RayHost
) -> None:
    labels = {"concertina.io/pool": POOL}
    Pool.objects.create(
        name=POOL, ray_selector=labels, gpus_per_node=2, nodes_min=1, nodes_max=1, idle_minutes=10
    )
    comes_to(host, lambda: told() == ["asked"])
    tick(host)
    host.close()  # the link ends, and another one finds what this one has asked for
    comes_to(host, lambda: "arrived" in told())
    assert told() == ["asked", "brought", "arrived"]
    node = Node.objects.get()
    assert (node.name, node.gpus, node.takes_work) == (f"{POOL}-1", 2, True)
    assert cluster.requests() == ["REMOVED"]  # one, whose place the node's own lease has

    Pool.objects.update(nodes_min=0)
    tick(host)
    tick(host, later=timedelta(minutes=11))
    assert told()[3:] == ["closed"]
    comes_to(host, lambda: not Node.objects.exists())  # Ray's autoscaler has taken it
    assert told()[3:] == ["closed", "given_back"]
    assert cluster.requests() == ["REMOVED"]
