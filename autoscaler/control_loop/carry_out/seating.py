"""How do workers sit down? They get rows, and claim the GPUs of their seats, or none does."""

from __future__ import annotations

from collections.abc import Collection

from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs.seats import Seat
from jobs.models import GpuClaim, Worker


def take_seats(draft: JobDraft, seats: Collection[Seat], *, attempt: int) -> None:
    """Make the workers and claim their GPUs. The last thing to draft: the seats are taken then.

    Raises:
        NotNow: not every seat is free.
    """
    places = draft.free.choose(draft.job, seats)
    if places is None:
        raise NotNow
    for seat, node, indices in places:
        worker = Worker(id=seat.worker_id, job=draft.job, attempt=attempt, node=node)
        draft.workers.append(worker)
        draft.claims += (GpuClaim(node=node, gpu_index=index, worker=worker) for index in indices)
