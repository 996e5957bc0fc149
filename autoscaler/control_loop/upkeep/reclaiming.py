"""By when must lent GPUs be back? In the pool's time, when another team's guarantee is at stake.

A job's own `grace_period` and `registration_timeout` say how patient everybody is with it. They are
its user's choice, up to an hour each: whoever borrows could keep for hours what another team is
guaranteed. So the pool's `reclaim_seconds` caps them, counted from the claim.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from cluster.models import Node, Pool
from django.db.models import BooleanField, Count, F, Func, OuterRef, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from tenancy.models import FairShareSettings, Quota

from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import JobReason
from jobs.lifecycle import State
from jobs.models import GpuClaim, Job


def reclaim_seconds(pool: Pool) -> float:
    """What an admin has set; a pool without settings of its own has the defaults."""
    settings = getattr(pool, "fair_share", None) or FairShareSettings()
    return float(settings.reclaim_seconds)


def is_due(view: JobView, shell: Shell) -> bool:
    """Whether another team has waited long enough for what this job is giving back."""
    if shell.seconds_since(_began(view)) < _patience(view, shell):
        return False
    claimed_at = _claimed_at(view, shell)
    return claimed_at is not None and shell.seconds_since(claimed_at) >= _patience(view, shell)


def grace_seconds(own: float, view: JobView, shell: Shell) -> float:
    """The job's own grace period, or what the pool leaves of it. No statement where it is short."""
    patience = _patience(view, shell)
    if own <= patience:
        return own
    claimed_at = _claimed_at(view, shell)
    if claimed_at is None:
        return own
    return min(own, max(patience - shell.seconds_since(claimed_at), 0.0))


def is_slow_to_change(view: JobView, now: datetime) -> bool:
    """It starts or rescales for so long that it may be paused in the middle of that."""
    if view.state not in {State.STARTING, State.RESCALING}:
        return False
    return now - view.state_since >= timedelta(seconds=reclaim_seconds(view.job.pool))


def _patience(view: JobView, shell: Shell) -> float:
    """Who is not gone by then is killed, which takes a moment more."""
    return max(reclaim_seconds(view.job.pool) - shell.limits.kill_grace, 0.0)


def _began(view: JobView) -> datetime:
    """When it was asked to give something back."""
    if view.state is State.STOPPING or view.assignment is None:
        return view.state_since
    return view.assignment.at


def _claimed_at(view: JobView, shell: Shell) -> datetime | None:
    """When another team laid claim to what it holds; None: nobody does."""
    reason = view.job.reason if view.state is State.STOPPING else _reason_of_assignment(view)
    if reason == JobReason.RECLAIM_GUARANTEE:
        return _began(view)
    if not _is_borrowing(view.job):
        return None
    first = _others_wait_since(view.job, shell.now)
    return None if first is None else max(first, _began(view))


def _reason_of_assignment(view: JobView) -> str:
    return view.assignment.reason if view.assignment else ""


def _is_borrowing(job: Job) -> bool:
    """Its team holds more than it is guaranteed."""
    quota = Quota.objects.filter(team=job.team_id, pool=job.pool_id).first()
    held = GpuClaim.objects.filter(node__pool=job.pool_id, worker__job__team=job.team_id)
    return held.count() > (quota.guaranteed_gpus if quota else 0)


def _others_wait_since(job: Job, now: datetime) -> datetime | None:
    """Since when a team waits that holds less than it is guaranteed; None: there is none.

    Who waits out a back-off wants nothing yet; what the pool could never hold is owed to nobody.
    """
    held = GpuClaim.objects.filter(node__pool=OuterRef("pool"), worker__job__team=OuterRef("team"))
    counted = held.order_by().values("worker__job__team").annotate(n=Count("pk")).values("n")
    waiting = (
        Job.objects.filter(pool=OuterRef("pool"), team=OuterRef("team"), state=State.QUEUED)
        .filter(_fits(_gpus_of(job.pool_id)))
        .exclude(reason=JobReason.PLANNING_FAILED)
        .exclude(not_before__gt=now)
    )
    below = (
        Quota.objects.filter(pool=job.pool_id)
        .exclude(team=job.team_id)
        .annotate(
            held=Coalesce(Subquery(counted), 0),
            waiting_since=Subquery(waiting.order_by("submitted_at").values("submitted_at")[:1]),
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
    """Whether a job's smallest size needs no more; false where its spec cannot be read."""
    return Func(
        F("resolved_spec"),
        Value("$ ? (@.elastic.min_workers * @.resources.gpus_per_worker <= $gpus)"),
        Value(json.dumps({"gpus": gpus})),
        function="jsonb_path_exists",
        output_field=BooleanField(),
    )
