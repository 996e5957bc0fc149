"""How did jobs do in a stretch of time? This counts jobs, completion times and rescales."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from django.db.models import F, Max

from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Generation, Job


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSummary:
    """Numbers of one stretch of time."""

    completed: int
    failed: int
    cancelled: int
    mean_completion_seconds: float | None
    p50_completion_seconds: float | None
    p99_completion_seconds: float | None
    rescales: int
    longest_stall_seconds: float


def summarise(*, since: datetime, until: datetime, teams: Collection[int] | None) -> JobsSummary:
    """Summarise the jobs that ended from `since` to before `until`, of all teams.

    Rescales and stalls, which jobs report of themselves, are those of `teams`; None: of all.
    """
    ended = Job.objects.filter(finished_at__gte=since, finished_at__lt=until)
    took = ended.filter(state=JobState.COMPLETED).annotate(
        took=F("finished_at") - F("submitted_at")
    )
    seconds = sorted(one.total_seconds() for one in took.values_list("took", flat=True))
    stalls = Generation.objects.filter(recorded_at__gte=since, recorded_at__lt=until)
    if teams is not None:
        stalls = stalls.filter(job__team__in=teams)
    return JobsSummary(
        completed=len(seconds),
        failed=ended.filter(state=JobState.FAILED).count(),
        cancelled=ended.filter(state=JobState.CANCELLED).count(),
        mean_completion_seconds=fmean(seconds) if seconds else None,
        p50_completion_seconds=quantile(seconds, 0.50),
        p99_completion_seconds=quantile(seconds, 0.99),
        rescales=stalls.exclude(number=1).count(),
        longest_stall_seconds=stalls.aggregate(most=Max("stall_seconds"))["most"] or 0.0,
    )


def counts_now() -> dict[str, int]:
    """Count the jobs that run and wait at this moment."""
    return {
        "running": Job.objects.filter(state__in=ACTIVE).count(),
        "waiting": Job.objects.filter(state=JobState.QUEUED).count(),
    }


def quantile(ordered: Collection[float], share: float) -> float | None:
    """Return the value below which that share of the values lies, interpolated; None if empty."""
    if not ordered:
        return None
    values = list(ordered)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
