"""Which jobs may a caller see, and what do their rows and histories say of each?"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Now
from tenancy.access.principal import Principal

from jobs.errors import JobNotFound
from jobs.models import Assignment, Generation, Job

_Pool: Final[Any] = Job._meta.get_field("pool").remote_field.model  # noqa: SLF001 - Django's own word
_NUMBERS: Final = (
    "workers_now",
    "batch_now",
    "wanted_workers",
    "wanted_batch",
    "longest_stall",
    "all_stalls",
    "lost_work",
    "trained",
)


def jobs_of(principal: Principal) -> QuerySet[Job]:
    """Return the jobs the principal may see, with the numbers of `with_numbers`."""
    return with_numbers(Job.objects.filter(team__in=principal.team_ids))


def find_job(principal: Principal, job_id: str) -> Job:
    """Return one job of the principal's teams.

    Raises:
        JobNotFound: unknown, or of another team, which looks the same.
    """
    return _the_one(Job.objects.filter(team__in=principal.team_ids, pk=job_id))


def find_job_with_numbers(principal: Principal, job_id: str) -> Job:
    """Return the same for a caller that shows the whole job; the numbers take milliseconds.

    Raises:
        JobNotFound: as above.
    """
    return _the_one(jobs_of(principal).filter(pk=job_id))


def _the_one(jobs: QuerySet[Job]) -> Job:
    job = jobs.first()
    if job is None:
        raise JobNotFound
    return job


def matching(
    jobs: QuerySet[Job], *, team: str, states: Collection[str], search: str
) -> QuerySet[Job]:
    """Keep the jobs of a team, in some states, whose name, id or a label value has the text."""
    if team:
        jobs = jobs.filter(team__name=team)
    if states:
        jobs = jobs.filter(state__in=states)
    if search:
        jobs = jobs.filter(Q(name__icontains=search) | Q(id=search) | Q(labels__icontains=search))
    return jobs


def with_numbers(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Add what histories tell of each job, in the same statement.

    `workers_now` and `batch_now`: of the generation that trains, None when none does;
    `wanted_workers` and `wanted_batch`: of the newest assignment; `longest_stall`, `all_stalls`
    and `lost_work`: seconds; `trained`: for how long, as a timedelta. None: it never trained.
    """
    trains = Generation.objects.filter(job=OuterRef("pk"), ended_at=None).order_by("-number")
    wanted = Assignment.objects.filter(job=OuterRef("pk"), revision=OuterRef("revision"))
    ran = Generation.objects.filter(job=OuterRef("pk")).order_by().values("job")
    length = Coalesce("ended_at", Now()) - F("began_at")
    return jobs.select_related("team", "pool").annotate(
        workers_now=Subquery(trains.values("workers")[:1]),
        batch_now=Subquery(trains.values("global_batch_size")[:1]),
        wanted_workers=Subquery(wanted.values("worker_ids")[:1]),
        wanted_batch=Subquery(wanted.values("global_batch_size")[:1]),
        longest_stall=Subquery(ran.annotate(most=Max("stall_seconds")).values("most")),
        all_stalls=Subquery(ran.annotate(all=Sum("stall_seconds")).values("all")),
        lost_work=Subquery(ran.annotate(all=Sum("lost_work_seconds")).values("all")),
        trained=Subquery(ran.annotate(all=Sum(length)).values("all")),
    )


def as_new(job: Job) -> Job:
    """Add the same to a job that was just written: it never trained.

    Nothing is read: all that is shown of its pool is the name, which its spec has.
    """
    for name in _NUMBERS:
        setattr(job, name, None)
    job.pool = _Pool(pk=job.pool_id, name=job.resolved_spec["pool"])
    return job
