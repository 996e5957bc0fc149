"""What may be forgotten about jobs, and when?

Jobs that ended lose part after part as each gets old, and at last go themselves; live jobs lose
only rows on which no decision depends. A pinned job keeps everything once it has ended; while it
lives, its rows would grow without end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import models, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from tenancy.models.retention_rule import KeptPart

from jobs.commands.removal import job_deletion, rollups
from jobs.commands.removal.due_parts import REMOVED_AT, due
from jobs.commands.removal.retention_periods import JobRetention
from jobs.commands.team_stock import IDEMPOTENCY_WINDOW
from jobs.commands.usage import roll_up_usage
from jobs.lifecycle import FINAL, LIVE
from jobs.models import (
    Assignment,
    Event,
    GpuClaim,
    IdempotencyKey,
    Job,
    JobArray,
    Leftover,
    Prediction,
    Quarantine,
)

JOBS_AT_ONCE: Final = 100
_FILES: Final[Mapping[KeptPart, Sequence[Leftover.Part]]] = {
    KeptPart.LOGS: (Leftover.Part.LOGS,),
    KeptPart.CHECKPOINTS: (Leftover.Part.WORK,),
    KeptPart.OUTPUTS: (Leftover.Part.OUTPUTS,),
    KeptPart.CODE: (),  # a snapshot goes when no job refers to it any more
}
ASSIGNMENTS_KEPT: Final = 100  # of a live job, however old: one of the last may still train

Erase = Callable[[QuerySet[Any]], int]  # deletes in bounded batches, tells how many
HasTime = Callable[[], bool]


def delete_old(kept: JobRetention, *, erase: Erase, has_time: HasTime) -> Mapping[str, int]:
    """Delete old rows in bounded batches while there is time; return how many of each kind."""
    now = timezone.now()
    deleted: Counter[str] = Counter()
    keys = IdempotencyKey.objects.filter(created_at__lt=now - IDEMPOTENCY_WINDOW)
    deleted["idempotency_keys"] = erase(keys)
    deleted["quarantines"] = erase(Quarantine.objects.filter(job__state__in=FINAL))
    rollups.make_ahead(now)
    deleted["rolled_up_points"] = rollups.roll_up(now, has_time)
    deleted["rolled_up_usage"] = roll_up_usage(now, has_time)
    deleted["partitions"] = rollups.drop_old(now)
    if kept.history:
        deleted += _of_the_living(now - kept.history, erase)
        old = Q(finished_at__lt=now - kept.history)
        deleted += _rows_of_ended(
            old, "history_removed_at", job_deletion.HISTORIES, erase, has_time
        )
    deleted += _rows_of_ended(
        due(KeptPart.CURVES, kept, now),
        REMOVED_AT[KeptPart.CURVES],
        job_deletion.CURVES,
        erase,
        has_time,
    )
    for part, leftovers in _FILES.items():
        deleted[part] = _files_of_ended(due(part, kept, now), REMOVED_AT[part], leftovers, has_time)
    if kept.jobs:
        deleted += _jobs(Q(finished_at__lt=now - kept.jobs), erase, has_time)
    deleted["arrays"] = erase(JobArray.objects.filter(jobs=None, is_swept=False))
    return deleted


def _of_the_living(before: datetime, erase: Erase) -> Counter[str]:
    assignments = Assignment.objects.filter(job__state__in=LIVE, at__lt=before)
    predictions = Prediction.objects.filter(Q(job__state__in=LIVE) | Q(job__is_pinned=False))
    return Counter(
        events=erase(Event.objects.filter(job__state__in=LIVE, at__lt=before)),
        assignments=erase(assignments.filter(revision__lt=F("job__revision") - ASSIGNMENTS_KEPT)),
        predictions=erase(predictions.filter(made_at__lt=before)),
    )


def _ended(old: Q, **which: Any) -> QuerySet[Job]:
    """Return ended jobs, oldest first. A job whose processes still hold GPUs has not ended."""
    held = GpuClaim.objects.values("worker__job")
    jobs = Job.objects.filter(state__in=FINAL, is_pinned=False, **which).filter(old)
    return jobs.exclude(pk__in=held).order_by("finished_at", "pk")


def _some(jobs: QuerySet[Job]) -> list[str]:
    return list(jobs.values_list("pk", flat=True)[:JOBS_AT_ONCE])


def _rows_of_ended(
    old: Q,
    mark: str,
    kinds: Collection[type[models.Model]],
    erase: Erase,
    has_time: HasTime,
) -> Counter[str]:
    deleted: Counter[str] = Counter()
    while has_time() and (ids := _some(_ended(old, **{mark: None}))):
        deleted += _erase_rows(ids, kinds, erase)
        if has_time():  # else some may be left
            Job.objects.filter(pk__in=ids).update(**{mark: timezone.now()})
    return deleted


def _erase_rows(
    ids: Collection[str], kinds: Collection[type[models.Model]], erase: Erase
) -> Counter[str]:
    return Counter(
        {
            str(kind._meta.verbose_name_plural): erase(  # noqa: SLF001 - its name
                kind._default_manager.filter(job__in=ids)  # noqa: SLF001 - its name
            )
            for kind in kinds
        }
    )


def _files_of_ended(old: Q, mark: str, parts: Sequence[Leftover.Part], has_time: HasTime) -> int:
    count = 0
    while has_time() and (ids := _some(_ended(old, **{mark: None}))):
        with transaction.atomic():
            job_deletion.leave_files(ids, *parts)
            Job.objects.filter(pk__in=ids).update(**{mark: timezone.now()})
        count += len(ids)
    return count


def _jobs(old: Q, erase: Erase, has_time: HasTime) -> Counter[str]:
    deleted: Counter[str] = Counter()
    while has_time() and (ids := _some(_ended(old))):
        # First what there may be much of, so that the rest is a short transaction.
        deleted += _erase_rows(ids, (*job_deletion.CURVES, *job_deletion.HISTORIES), erase)
        if has_time():
            deleted["jobs"] += job_deletion.erase(ids)
    return deleted
