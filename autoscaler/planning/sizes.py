"""Which numbers of workers may a job run with in a pool?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.cluster_state import Job, Pool

SMALL_POOL_GPUS: Final = 16  # guessed: up to here an idle GPU costs more than tidy sizes bring


def allowed_sizes(job: Job, pool: Pool) -> tuple[int, ...]:
    """Ascending worker counts; empty when the job fits no way into the pool.

    The job's own list if it gives one. Otherwise every count in a small pool, and in a larger one
    the sizes that pack well: powers of two within a node, then whole nodes, and both ends.
    """
    per_node = workers_per_node(job, pool)
    largest = min(job.max_workers, sum(node.gpus // job.gpus_per_worker for node in pool.nodes))
    if per_node == 0:
        return ()
    if job.allowed_workers is not None:
        sizes = set(job.allowed_workers)
    elif sum(node.gpus for node in pool.nodes) <= SMALL_POOL_GPUS:
        sizes = set(range(job.min_workers, largest + 1))
    else:
        sizes = {2**power for power in range(per_node.bit_length()) if 2**power <= per_node}
        sizes |= set(range(per_node, largest + 1, per_node)) | {job.min_workers, job.max_workers}
    return tuple(sorted(size for size in sizes if job.min_workers <= size <= largest))


def workers_per_node(job: Job, pool: Pool) -> int:
    """How many of the job's workers the pool's largest node takes."""
    return max((node.gpus // job.gpus_per_worker for node in pool.nodes), default=0)
