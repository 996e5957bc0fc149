"""How many GPUs are in an allocation, and where?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedJob


def standing(job: PlannedJob) -> Allocation | None:
    """Return what the job holds, or will when the change under way is over."""
    return job.allocation if job.target is None else job.target


def gpus_of(job: PlannedJob, allocation: Allocation | None) -> int:
    return allocation.workers * job.gpus_per_worker if allocation else 0


def gpus_by_node(job: PlannedJob, allocation: Allocation | None) -> Mapping[str, int]:
    nodes = allocation.workers_by_node if allocation else ()
    return {node: count * job.gpus_per_worker for node, count in nodes}
