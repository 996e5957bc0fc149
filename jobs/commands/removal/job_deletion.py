"""What goes with a job that is deleted? Everything known about it, except the GPU time it used.

Its rows go at once, in one transaction; its files are left to the control loop, as `Leftover`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from django.db import models, transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone
from tenancy.audit import records

from jobs.errors import JobNotFound, JobNotOver, JobPinned
from jobs.lifecycle import FINAL
from jobs.models import (
    Assignment,
    Dependency,
    Event,
    Generation,
    GpuClaim,
    Job,
    Leftover,
    Measurement,
    MetricPoint,
    MetricRollup,
    PastUsage,
    Prediction,
    UsagePoint,
    Worker,
)
from jobs.queries import kept_checkpoints

CURVES: Final[tuple[type[models.Model], ...]] = (MetricPoint, MetricRollup, UsagePoint)
HISTORIES: Final[tuple[type[models.Model], ...]] = (
    Event,
    Assignment,
    Generation,
    Worker,
    Measurement,
    Prediction,
)


@transaction.atomic
def delete(*, job_id: str) -> None:
    """Delete a job that has ended.

    Raises:
        JobNotFound: there is no such job.
        JobNotOver: it lives.
        JobPinned: somebody wants it to stay.
        CheckpointInUse: another job is about to start from it.
    """
    job = Job.objects.select_for_update().filter(pk=job_id).first()
    if job is None:
        raise JobNotFound
    if job.state not in FINAL or GpuClaim.objects.filter(worker__job=job).exists():
        raise JobNotOver  # what was not seen to end yet holds its GPU
    if job.is_pinned:
        raise JobPinned
    kept_checkpoints.check_none_wanted(job_id)
    records.note_change(before={"name": job.name, "state": job.state})
    _erase([job])


@transaction.atomic
def erase(job_ids: Collection[str]) -> int:
    """Delete those of the jobs that have ended and are not pinned; return how many."""
    rows = Job.objects.select_for_update().filter(pk__in=job_ids)
    over = rows.filter(state__in=FINAL, is_pinned=False)
    holding = GpuClaim.objects.filter(worker__job__in=job_ids).values("worker__job")
    jobs = list(over.exclude(pk__in=holding).order_by("pk"))
    _erase(jobs)
    return len(jobs)


def leave_files(job_ids: Iterable[str], *parts: Leftover.Part) -> None:
    """Have the control loop remove the files."""
    Leftover.objects.bulk_create(
        (Leftover(job_id=job_id, part=part) for job_id in job_ids for part in parts),
        ignore_conflicts=True,
    )


def _erase(jobs: Collection[Job]) -> None:
    ids = [job.pk for job in jobs]
    _remember_usage(jobs)
    _remember_ends(ids)
    leave_files(ids, Leftover.Part.FILES, Leftover.Part.LOGS)
    for kind in (*CURVES, *HISTORIES):
        rows = kind._default_manager.filter(job__in=ids)  # noqa: SLF001 - its name
        rows._raw_delete(rows.db)  # noqa: SLF001 - many rows that nothing refers to
    Job.objects.filter(pk__in=ids).delete()  # with the few rows of all other kinds


def _remember_ends(job_ids: Collection[str]) -> None:
    """Tell jobs that wait for one of these how it ended."""
    ended = Job.objects.filter(pk=OuterRef("on_id")).values("state")
    Dependency.objects.filter(on_id__in=job_ids).update(ended_as=Subquery(ended))


def _remember_usage(jobs: Iterable[Job]) -> None:
    sums: dict[tuple[datetime, str, str], list[float]] = defaultdict(list)
    names = Job.objects.filter(pk__in=[job.pk for job in jobs]).values_list(
        "finished_at", "team__name", "pool__name", "gpu_seconds"
    )
    for finished_at, team, pool, gpu_seconds in names:
        hour = (finished_at or timezone.now()).replace(minute=0, second=0, microsecond=0)
        sums[hour, team, pool].append(gpu_seconds)
    for (hour, team, pool), seconds in sums.items():
        row, _ = PastUsage.objects.get_or_create(
            hour=hour, team=team, pool=pool, defaults={"jobs": 0, "gpu_seconds": 0.0}
        )
        PastUsage.objects.filter(pk=row.pk).update(
            jobs=F("jobs") + len(seconds), gpu_seconds=F("gpu_seconds") + sum(seconds)
        )
