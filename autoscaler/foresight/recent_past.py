"""What does the near past say of the near future? Jobs that ended, arrivals, costs of changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from django.db.models import F

from autoscaler.control_loop import observe
from autoscaler.control_loop.cluster_view import as_submitted
from autoscaler.simulation.settings import HotRescale
from autoscaler.simulation.uncertainty import Past, PastJob
from jobs.lifecycle import LIVE, State
from jobs.models import Generation, Job

PAST_JOBS: Final = 30  # guessed: enough to draw from, few enough to be recent
ARRIVALS_WINDOW: Final = timedelta(hours=1)
SHORTEST_WINDOW: Final = timedelta(minutes=5)  # guessed: else the first job foretells a flood
_GENERATIONS_LOOKED_AT: Final = 50
_START_UNMEASURED: Final = 10.0  # guessed, in seconds
_STALL_UNMEASURED: Final = 0.5  # guessed, in seconds


def past_until(now: datetime) -> Past:
    """The jobs that ended lately, and how many came per second."""
    ended = Job.objects.filter(state=State.COMPLETED, started_at__isnull=False, samples__gt=0)
    ids = list(ended.order_by("-finished_at").values_list("id", flat=True)[:PAST_JOBS])
    views = observe.job_views(ids, {})
    window = _arrivals_window(now)
    came = Job.objects.filter(submitted_at__gt=now - window).count()
    live = Job.objects.filter(state__in=LIVE, samples__gt=0)
    return Past(
        ended=tuple(
            PastJob(
                job=job,
                samples=float(view.job.samples),
                run_seconds=_run_seconds(view.job),
                declared_samples=view.job.total_samples,
            )
            for view, job in as_submitted(views)
        ),
        arrivals_per_second=came / window.total_seconds(),
        arrivals_seen=came,
        done={job_id: float(samples) for job_id, samples in live.values_list("id", "samples")},
    )


def _arrivals_window(now: datetime) -> timedelta:
    """As long as there have been jobs, and no longer than is looked back."""
    first = Job.objects.order_by("submitted_at").values_list("submitted_at", flat=True).first()
    age = now - first if first is not None else ARRIVALS_WINDOW
    return min(max(age, SHORTEST_WINDOW), ARRIVALS_WINDOW)


def rescale_cost() -> HotRescale:
    """What starts and changes took lately."""
    newest = Generation.objects.order_by("-began_at")
    stalls = newest.filter(stall_seconds__gt=0).values_list("stall_seconds", flat=True)
    stall = list(stalls[:_GENERATIONS_LOOKED_AT])
    firsts = newest.filter(number=1, job__started_at__isnull=False)
    took = firsts.annotate(took=F("began_at") - F("job__started_at")).values_list("took", flat=True)
    starts = [max(one.total_seconds(), 0.0) for one in took[:_GENERATIONS_LOOKED_AT]]
    start = fmean(starts) if starts else _START_UNMEASURED
    return HotRescale(
        stall=fmean(stall) if stall else _STALL_UNMEASURED, joiner_start=start, first_start=start
    )


def _run_seconds(job: Job) -> float:
    assert job.started_at is not None  # noqa: S101 - asked for above
    assert job.finished_at is not None  # noqa: S101 - every job that has ended has one
    return max((job.finished_at - job.started_at).total_seconds(), 1.0)
