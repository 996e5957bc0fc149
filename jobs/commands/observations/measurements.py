"""How are reported step times stored? Only those that changed, in a few statements.

Each report has all of them; most have not changed since the last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from django.db.models import Subquery

from concertina_worker.protocol import MOST_MEASUREMENTS
from jobs.models import Generation, Job, Measurement, Worker
from jobs.reports.sync_report import MeasurementEntry

MOST_KEPT: Final = MOST_MEASUREMENTS  # of one job, the newest: a model is fitted to all of them

_Configuration = tuple[int, int]  # workers, global batch


def store_measurements(job: Job, reported: Sequence[MeasurementEntry]) -> None:
    """Replace the measurements of each configuration by what is known about it now."""
    rows = Measurement.objects.filter(job=job, gpu_type=job.pool.gpu_type)
    known = set(rows.values_list(*_TOLD)) if reported else set()
    changed = {
        (entry.workers, entry.global_batch_size): entry
        for entry in reported
        if tuple(getattr(entry, name) for name in _TOLD) not in known
    }
    if not changed:
        return
    nodes = _nodes_of(job, changed)
    Measurement.objects.bulk_create(
        [
            Measurement(
                job=job,
                gpu_type=job.pool.gpu_type,
                workers=entry.workers,
                nodes=nodes.get(configuration, 1),
                global_batch_size=entry.global_batch_size,
                steps=entry.steps,
                step_seconds=entry.step_seconds,
            )
            for configuration, entry in changed.items()
        ],
        update_conflicts=True,
        unique_fields=["job", "gpu_type", "workers", "nodes", "global_batch_size"],
        update_fields=["steps", "step_seconds", "updated_at"],
    )
    _keep_the_newest(job)


_TOLD: Final = ("workers", "global_batch_size", "steps", "step_seconds")


def _keep_the_newest(job: Job) -> None:
    newest = Measurement.objects.filter(job=job).order_by("-updated_at", "-id")
    beyond = Subquery(newest.values("id")[MOST_KEPT:])
    Measurement.objects.filter(job=job, id__in=beyond).delete()


def _nodes_of(job: Job, configurations: Collection[_Configuration]) -> Mapping[_Configuration, int]:
    """Return on how many nodes the job last trained with so many workers and this batch."""
    looked_for = Generation.objects.filter(
        job=job,
        workers__in={workers for workers, _ in configurations},
        global_batch_size__in={batch for _, batch in configurations},
    )
    newest = looked_for.order_by("workers", "global_batch_size", "-number").distinct(
        "workers", "global_batch_size"
    )
    found = {
        (workers, batch): ids
        for workers, batch, ids in newest.values_list("workers", "global_batch_size", "worker_ids")
    }
    members = {worker for ids in found.values() for worker in ids}
    workers = Worker.objects.filter(job=job, pk__in=members)
    node_of = dict(workers.values_list("id", "node_id")) if members else {}
    return {
        configuration: max(1, len({node_of[one] for one in ids if one in node_of}))
        for configuration, ids in found.items()
    }
