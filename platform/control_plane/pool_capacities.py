"""How large may a job be? Tells `jobs`, which knows no cluster, what the pools can hold."""

from __future__ import annotations

from cluster.queries import pool_sizes
from django.conf import settings

from jobs.capacity import PoolCapacity


def read_pools() -> list[PoolCapacity]:
    return [
        PoolCapacity(
            pool_id=size.pool.pk,
            name=size.pool.name,
            gpus=size.gpus,
            gpus_of_largest_node=size.gpus_of_largest_node,
            runs_images=settings.CONCERTINA.has_containers,
            platform_image=settings.CONCERTINA.containers.worker_image,
        )
        for size in pool_sizes()
    ]
