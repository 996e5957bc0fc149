"""Does another team wait for what a job borrows, and since when? And how long may it keep that?"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

from cluster.models import Node, Pool
from django.db.models import BooleanField, Count, F, Func, OuterRef, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Greatest
from tenancy.models import FairShareSettings, Quota

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.job_vocabulary import WAITING_OUTSIDE, JobReason
from jobs.lifecycle import JobState
from jobs.models import GpuClaim, Job
from jobs.spec.stored_fields import COLUMN, GPUS_PER_WORKER, MIN_WORKERS

_FITS: Final = f"$ ? ({MIN_WORKERS.json_path} * {GPUS_PER_WORKER.json_path} <= $gpus)"

_WANTS_NOTHING_YET: Final = (JobReason.PLANNING_FAILED, *WAITING_OUTSIDE)


def reclaim_seconds(pool: Pool) -> float:
    """Return what an admin has set; a pool without settings of its own has the defaults."""
    settings = getattr(pool, "fair_share", None) or FairShareSettings()
    return float(settings.reclaim_seconds)


def is_slow_to_change(view: LiveJob, now: datetime) -> bool:
    """It starts or rescales for so long that it may be paused in the middle of that."""
    if view.state not in {JobState.STARTING, JobState.RESCALING}:
        return False
    return now - view.state_since >= timedelta(seconds=reclaim_seconds(view.job.pool))


def owners_wait_since(job: Job, now: datetime) -> datetime | None:
    """Return since when a team waits for its guarantee, which this job borrows; None: none does."""
    return _others_wait_since(job, now) if _is_borrowing(job) else None


def _is_borrowing(job: Job) -> bool:
    """Its team holds more than it is guaranteed."""
    quota = Quota.objects.filter(team=job.team_id, pool=job.pool_id).first()
    held = GpuClaim.objects.filter(node__pool=job.pool_id, worker__job__team=job.team_id)
    return held.count() > (quota.guaranteed_gpus if quota else 0)


def _others_wait_since(job: Job, now: datetime) -> datetime | None:
    """Return since when a team waits that holds less than it is guaranteed; None: there is none.

    Who waits out a back-off, for data or for room on the disk, wants nothing yet; what the pool
    could never hold is owed to nobody.
    """
    held = GpuClaim.objects.filter(node__pool=OuterRef("pool"), worker__job__team=OuterRef("team"))
    counted = held.order_by().values("worker__job__team").annotate(n=Count("pk")).values("n")
    waiting = (
        Job.objects.filter(pool=OuterRef("pool"), team=OuterRef("team"), state=JobState.QUEUED)
        .filter(_fits(_gpus_of(job.pool_id)))
        .exclude(reason__in=_WANTS_NOTHING_YET)
        .exclude(not_before__gt=now)
        .annotate(since=Greatest("state_since", "submitted_at"))
    )
    below = (
        Quota.objects.filter(pool=job.pool_id)
        .exclude(team=job.team_id)
        .annotate(
            held=Coalesce(Subquery(counted), 0),
            waiting_since=Subquery(waiting.order_by("since").values("since")[:1]),
        )
        .filter(guaranteed_gpus__gt=F("held"), waiting_since__isnull=False)
    )
    first: datetime | None = (
        below.order_by("waiting_since").values_list("waiting_since", flat=True).first()
    )
    return first


def _gpus_of(pool_id: int) -> int:
    total = Node.objects.filter(pool=pool_id).aggregate(gpus=Sum("gpus"))["gpus"]
    return int(total or 0)


def _fits(gpus: int) -> Func:
    """True if a job's smallest size needs no more; false where its spec cannot be read."""
    return Func(
        F(COLUMN),
        Value(_FITS),
        Value(json.dumps({"gpus": gpus})),
        function="jsonb_path_exists",
        output_field=BooleanField(),
    )
