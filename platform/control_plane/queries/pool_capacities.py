"""How large may a job be? This tells `jobs`, which knows no cluster, what pools and nodes hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby

from cluster.machine import share_of
from cluster.models import Node, Pool
from cluster.nodes.queries import pool_sizes
from django.conf import settings
from tenancy.models import Quota, Team

from jobs.admission.pool_capacity import PoolCapacity, WorkerMemory


def read_pools() -> list[PoolCapacity]:
    platform_image = settings.CONCERTINA.worker_host.platform_image
    memory = _worker_memory() if platform_image else {}
    sizes = pool_sizes()
    served = _teams_served([size.pool for size in sizes])
    return [
        PoolCapacity(
            pool_id=size.pool.pk,
            name=size.pool.name,
            gpus=max(size.gpus, size.pool.most_gpus),
            gpus_of_largest_node=max(size.gpus_of_largest_node, size.pool.gpus_of_new_nodes),
            disk_limits=settings.CONCERTINA.disk_limits,
            platform_image=platform_image,
            worker_memory=memory.get(size.pool.pk, {}),
            teams=served.get(size.pool.pk),
            why_not_all=size.pool.why_for_one_team,
        )
        for size in sizes
    ]


def _teams_served(pools: Iterable[Pool]) -> dict[int, set[str]]:
    """Return who may submit to each pool that is not for all, by its id.

    Those with quotas, whom an admin has let in. A team that is alone here needs none.
    """
    for_one = [pool.pk for pool in pools if pool.why_for_one_team]
    if not for_one:
        return {}
    teams = list(Team.objects.values_list("name", flat=True)[:2])
    served: dict[int, set[str]] = {
        pool: set(teams) if len(teams) == 1 else set() for pool in for_one
    }
    quotas = Quota.objects.filter(pool__in=for_one).values_list("pool_id", "team__name")
    for pool, team in quotas:
        served[pool].add(team)
    return served


def _worker_memory() -> dict[int, dict[int, WorkerMemory]]:
    """Return memory by pool and by GPUs of a worker, for nodes whose machines are known."""
    nodes = list(Node.objects.order_by("pool_id", "name"))
    gpus_of_machine: Counter[str] = Counter()
    for node in nodes:
        gpus_of_machine[node.host_url] += node.gpus
    by_pool = groupby(nodes, key=lambda node: node.pool_id)
    return {pool: _smallest_shares(found, gpus_of_machine) for pool, found in by_pool}


def _smallest_shares(
    nodes: Iterable[Node], gpus_of_machine: Mapping[str, int]
) -> dict[int, WorkerMemory]:
    smallest: dict[int, WorkerMemory] = {}
    for node in nodes:
        if node.memory_bytes is None:
            continue
        machine_gpus = gpus_of_machine[node.host_url]
        for gpus in range(1, node.gpus + 1):
            share = share_of(node.memory_bytes, gpus / machine_gpus)
            if gpus not in smallest or share < smallest[gpus].bytes_:
                smallest[gpus] = WorkerMemory(node=node.name, gpus=machine_gpus, bytes_=share)
    return smallest
