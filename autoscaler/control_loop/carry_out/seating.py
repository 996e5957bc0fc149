"""How do workers sit down? They get rows, and claim the GPUs of their seats, or none does."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from autoscaler.control_loop.observe.jobs.seats import Seat, chosen
from jobs.models import GpuClaim, Job, Worker


def take_seats(job: Job, seats: Collection[Seat], *, attempt: int, now: datetime) -> bool:
    """Make the workers and claim their GPUs, inside the caller's transaction.

    False, and nothing changed, when not every seat is free.
    """
    places = chosen(job, seats, now=now)
    for seat, node, indices in places or ():
        worker = Worker.objects.create(id=seat.worker_id, job=job, attempt=attempt, node=node)
        GpuClaim.objects.bulk_create(
            GpuClaim(node=node, gpu_index=index, worker=worker) for index in indices
        )
    return places is not None
