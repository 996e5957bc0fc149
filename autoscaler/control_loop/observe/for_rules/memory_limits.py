"""How much memory may a worker have? What its job asked for, and at most its share of its node."""

from __future__ import annotations

from cluster.machine import share_of

from jobs.models import Worker
from jobs.spec.job_spec import JobSpec


def memory_limit(worker: Worker, spec: JobSpec) -> int | None:
    """The limit in bytes; None: nothing is known of its node's machine."""
    node, wanted = worker.node, spec.resources.memory
    if node is None or node.memory_bytes is None:
        return wanted
    share = share_of(node.memory_bytes, node.share_of_machine(spec.resources.gpus_per_worker))
    return share if wanted is None else min(wanted, share)
