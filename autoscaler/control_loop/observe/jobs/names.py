"""How are the processes of a job called? Worker ids count up and are never used again.

Nor after a restore of the database, which then counts from an earlier number: what is started in
another epoch than the first bears it in its name.
"""

from __future__ import annotations

from collections.abc import Iterable

from cluster.worker_host import ProcessRole


def coordinator_id(job_id: str, *, term: int = 0, epoch: int = 0) -> str:
    """Another one in each term: the one before may still run, or not be removed yet."""
    parts = (
        job_id,
        *([epoch] if epoch else []),
        *([term] if term else []),
        ProcessRole.COORDINATOR,
    )
    return "-".join(map(str, parts))


def worker_ids(
    job_id: str, *, attempt: int, used: Iterable[str], count: int, epoch: int = 0
) -> list[str]:
    """New ids `<job>-<attempt>-<n>`; n goes on from the largest of those used."""
    last = max((_number(worker_id) for worker_id in used), default=0)
    first = f"{job_id}-{attempt}-{epoch}" if epoch else f"{job_id}-{attempt}"
    return [f"{first}-{last + n}" for n in range(1, count + 1)]


def _number(worker_id: str) -> int:
    text = worker_id.rpartition("-")[2]
    return int(text) if text.isdigit() else 0
