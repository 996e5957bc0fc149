"""Which limits hold for a job, and how much of each is used up?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db.models import Count
from django.utils import timezone
from tenancy.models import Team, TeamLimits
from tenancy.models import limits_of as limits_of_team
from tenancy.queries import TeamsWithLimits

from jobs.lifecycle import ACTIVE, FINAL, JobState
from jobs.models import GpuClaim, Job
from jobs.spec import stored_spec

_HOUR: Final = 3600.0
_WHO_GIVES_MORE: Final = "An admin or a lead of a team above may raise it."


class LimitUnit(StrEnum):
    """What is counted."""

    HOURS = "hours"
    GPU_HOURS = "gpu_hours"
    JOBS = "jobs"
    GPUS = "gpus"


LIMIT_UNITS: Final = [unit.value for unit in LimitUnit]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLimit:
    """One limit as it holds for a job now."""

    limit: str  # the field in which somebody set it
    team: str | None  # whose; None: the job's own
    unit: LimitUnit
    used: float
    most: float
    is_used_up: bool
    message: str  # the numbers in words, what follows, and who can change it


def limits_of(job: Job) -> list[HeldLimit]:
    """Return those of its spec, of its team and of those above, of a job that has not ended."""
    return [] if job.state in FINAL else [*_of_its_spec(job), *_of_its_teams(job)]


def _of_its_spec(job: Job) -> Iterator[HeldLimit]:
    spec = stored_spec.read(job.resolved_spec).spec
    for one in spec.limits_in_use(held_seconds=job.held_seconds, gpu_seconds=job.gpu_seconds):
        is_time = one.field == "max_duration"
        yield HeldLimit(
            limit=one.field,
            team=None,
            unit=LimitUnit.HOURS if is_time else LimitUnit.GPU_HOURS,
            used=one.used / _HOUR,
            most=one.most / _HOUR,
            is_used_up=one.is_used_up,
            message=one.warning,
        )


def _of_its_teams(job: Job) -> Iterator[HeldLimit]:
    """Yield the limits of its team and of those above; in three statements at most."""
    tree, now = TeamsWithLimits.read(), timezone.now()
    limited = [(team, limits_of_team(team)) for team in tree.line(job.team_id)]
    for team, limits in limited:
        if (budget := limits.budget(team.name, now)) is not None:
            yield HeldLimit(
                limit="gpu_hours_per_month",
                team=team.name,
                unit=LimitUnit.GPU_HOURS,
                used=budget.used_gpu_hours,
                most=budget.gpu_hours,
                is_used_up=budget.is_used_up,
                message=f"{budget.said()} {budget.consequence()} {_WHO_GIVES_MORE}",
            )
    bounded = [one for one in limited if _bounds_running_jobs(one[1])]
    held = _held_by(tree.below(bounded[-1][0].pk)) if bounded else {}
    for team, limits in bounded:
        below = tree.below(team.pk)
        of_all = sum(jobs for (team_id, _), jobs in held.items() if team_id in below)
        own = sum(held.get((team_id, job.submitted_by), 0) for team_id in below)
        yield from _of_running_jobs(team, limits, of_all=of_all, own=own)
    if (gpus := tree.gpus_per_user(job.team_id)) is not None:
        yield _of_gpus(job, *gpus)


def _of_gpus(job: Job, most: int, whose: Team) -> HeldLimit:
    """Count what the jobs of its team hold that the same user has submitted."""
    used = GpuClaim.objects.filter(
        worker__job__team=job.team_id, worker__job__submitted_by=job.submitted_by
    ).count()
    return HeldLimit(
        limit="max_gpus_per_user",
        team=whose.name,
        unit=LimitUnit.GPUS,
        used=used,
        most=most,
        is_used_up=used >= most,
        message=f"The team's jobs of whoever submitted it hold {used} of at most {most} GPUs"
        f" (`max_gpus_per_user`). A lead of team {whose.name} or an admin may raise it.",
    )


def _of_running_jobs(
    team: Team, limits: TeamLimits, *, of_all: int, own: int
) -> Iterator[HeldLimit]:
    jobs = f"of team {team.name} and the teams below it hold GPUs"
    if (most := limits.max_running_jobs) is not None:
        yield _count(
            "max_running_jobs",
            team,
            (of_all, most),
            f"{of_all} jobs {jobs}, and at most {most} may (`max_running_jobs`). {_WHO_GIVES_MORE}",
        )
    if (most := limits.max_running_jobs_per_user) is not None:
        yield _count(
            "max_running_jobs_per_user",
            team,
            (own, most),
            f"{own} jobs of whoever submitted it {jobs}, and at most {most} may"
            f" (`max_running_jobs_per_user`). A lead of team {team.name} or an admin may raise it.",
        )


def _count(limit: str, team: Team, counted: tuple[int, int], message: str) -> HeldLimit:
    used, most = counted
    return HeldLimit(
        limit=limit,
        team=team.name,
        unit=LimitUnit.JOBS,
        used=used,
        most=most,
        is_used_up=used >= most,
        message=message,
    )


def _bounds_running_jobs(limits: TeamLimits) -> bool:
    return limits.max_running_jobs is not None or limits.max_running_jobs_per_user is not None


def _held_by(team_ids: Collection[int]) -> dict[tuple[int, str], int]:
    """Count the jobs that hold GPUs by team and by who submitted them."""
    holding = Job.objects.filter(team__in=team_ids, state__in=[*ACTIVE, JobState.STOPPING])
    counted = holding.order_by().values_list("team_id", "submitted_by").annotate(Count("pk"))
    return {(team_id, user): jobs for team_id, user, jobs in counted}
