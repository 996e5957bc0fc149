"""What does the near past say of the near future? Jobs that ended, arrivals, costs of changes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import median, median_low
from typing import Any, Final

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from autoscaler.control_loop.observe.for_planner.cluster_view import as_submitted
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.simulation.engine.prediction.past import JobProgress, PastJob, RecentPast
from autoscaler.simulation.engine.replay.settings import HotRescale
from jobs.job_mode import JobMode
from jobs.lifecycle import LIVE, JobState
from jobs.models import Generation, Job

PAST_JOBS: Final = 30  # guessed: enough to draw from, few enough to be recent
_OF_ONE_TEAM: Final = 10  # of them, where others have jobs as well; guessed
_MOST_WRONG: Final = 10.0  # times: a job so much longer than it declared tells nothing of others
ARRIVALS_WINDOW: Final = timedelta(hours=1)
SHORTEST_WINDOW: Final = timedelta(minutes=5)  # guessed: else the first job predicts a flood
_COSTS_WINDOW: Final = timedelta(days=30)  # by the service's clock
_GENERATIONS_LOOKED_AT: Final = 50  # of each team
_START_UNMEASURED: Final = 10.0  # guessed, in seconds


def past_until(now: datetime) -> RecentPast:
    """The jobs that ended lately, and how many came per second."""
    tells = Q(samples__gt=0) | Q(mode=JobMode.RESTART)  # those are known by the time they took
    ended = Job.objects.filter(tells, state=JobState.COMPLETED, started_at__isnull=False)
    views = observe.job_views(_newest_of_all_teams(ended), {})
    window = _arrivals_window(now)
    came = Job.objects.filter(submitted_at__gt=now - window).count()
    live = Job.objects.filter(state__in=LIVE, samples__gt=0)
    far = live.values_list("id", "samples", "total_samples")
    return RecentPast(
        ended=tuple(
            PastJob(
                job=job,
                samples=_credible_samples(view.job),
                run_seconds=_run_seconds(view.job),
                declared_samples=view.job.total_samples,
            )
            for view, job in as_submitted(views)
        ),
        arrivals_per_second=came / window.total_seconds(),
        arrivals_seen=came,
        live={
            job_id: JobProgress(samples=float(samples), declared_samples=declared)
            for job_id, samples, declared in far
        },
    )


def _newest_of_all_teams(ended: QuerySet[Job]) -> list[str]:
    """Take so many of each team that no one of them decides what others are told."""
    by_age = Window(RowNumber(), partition_by=F("team_id"), order_by=F("finished_at").desc())
    newest = ended.order_by("-finished_at").values_list("id", flat=True)
    shared = list(newest.annotate(place=by_age).filter(place__lte=_OF_ONE_TEAM)[:PAST_JOBS])
    others = (one for one in newest[:PAST_JOBS] if one not in shared)
    is_of_many = ended.filter(pk__in=shared).values("team_id").distinct().count() > 1
    return shared if is_of_many else [*shared, *others][:PAST_JOBS]


def _credible_samples(job: Job) -> float:
    """Return the reported samples, no more out of proportion to the declared ones than usual."""
    if not job.total_samples:
        return float(job.samples)
    least, most = job.total_samples / _MOST_WRONG, job.total_samples * _MOST_WRONG
    return min(max(float(job.samples), least), most)


def _arrivals_window(now: datetime) -> timedelta:
    """Return how long there have been jobs, and no longer than is looked back."""
    first = Job.objects.order_by("submitted_at").values_list("submitted_at", flat=True).first()
    age = now - first if first is not None else ARRIVALS_WINDOW
    return min(max(age, SHORTEST_WINDOW), ARRIVALS_WINDOW)


def rescale_cost(now: datetime) -> HotRescale:
    """Return what starts took lately, as it is usual among the teams. Of changes each job knows.

    The median of each team's, and of these the median, the lower of two: jobs report what it took,
    and no team's word alone makes the others' predictions worse.
    """
    lately = Generation.objects.filter(recorded_at__gt=now - _COSTS_WINDOW)
    firsts = lately.filter(number=1, job__started_at__isnull=False)
    took = firsts.annotate(took=F("began_at") - F("job__started_at"))
    starts = [(team, max(one.total_seconds(), 0.0)) for team, one in _of_each_team(took, "took")]
    start = _usual(starts, unmeasured=_START_UNMEASURED)
    return HotRescale(stall=None, joiner_start=start, first_start=start)


def _of_each_team(generations: QuerySet[Generation], value: str) -> list[tuple[int, Any]]:
    """Pairs of a team and a value, of the newest as the service heard of them."""
    newest_first = (F("recorded_at").desc(), F("id").desc())
    place = Window(RowNumber(), partition_by=F("job__team_id"), order_by=newest_first)
    newest = generations.annotate(place=place).filter(place__lte=_GENERATIONS_LOOKED_AT)
    return list(newest.order_by().values_list("job__team_id", value))


def _usual(values: Iterable[tuple[int, float]], *, unmeasured: float) -> float:
    by_team: dict[int, list[float]] = {}
    for team, value in values:
        by_team.setdefault(team, []).append(value)
    return median_low(map(median, by_team.values())) if by_team else unmeasured


def _run_seconds(job: Job) -> float:
    assert job.started_at is not None  # noqa: S101 - asked for above
    assert job.finished_at is not None  # noqa: S101 - every job that has ended has one
    return max((job.finished_at - job.started_at).total_seconds(), 1.0)
