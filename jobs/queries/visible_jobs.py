"""Which jobs may a caller see or change, and what do rows and histories say of each?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db.models import (
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce, JSONObject, Now
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal
from tenancy.audit import records

from jobs.errors import JobNotFound, JobNotYours
from jobs.models import Assignment, Generation, Job
from jobs.spec import stored_spec

_Pool: Final[Any] = Job._meta.get_field("pool").remote_field.model  # noqa: SLF001 - Django's own word
_NAMED: Final = 3
_NUMBERS: Final = ("training_now", "wanted_now", "history")
_LENGTH: Final = Coalesce("ended_at", Now()) - F("began_at")
_TRAINING: Final = JSONObject(workers="workers", batch="global_batch_size")
_WANTED: Final = JSONObject(
    workers=Func("worker_ids", function="jsonb_array_length", output_field=IntegerField()),
    batch="global_batch_size",
)
_HISTORY: Final = JSONObject(
    seconds=Func(
        Sum(_LENGTH), template="extract(epoch FROM %(expressions)s)", output_field=FloatField()
    ),
    stalls=Sum("stall_seconds"),
    longest_stall=Max("stall_seconds"),
    lost_work=Sum("lost_work_seconds"),
)


def jobs_of(principal: Principal) -> QuerySet[Job]:
    """Return the jobs the principal may see: of their teams, within the bounds of their token."""
    jobs = Job.objects.filter(team__in=principal.seen_ids)
    return jobs if principal.bounds is None else jobs.filter(principal.bounds.condition())


def find_job(principal: Principal, job_id: str) -> Job:
    """Return one job of the principal's teams.

    Raises:
        JobNotFound: unknown, or of another team, which looks the same.
    """
    return _the_one(jobs_of(principal).filter(pk=job_id))


def find_job_to_change(principal: Principal, job_id: str) -> Job:
    """Return the same for whoever wants to change the job, or something that it wrote.

    Raises:
        JobNotFound: as above.
        JobNotYours: the principal sees it, and no more.
    """
    job = find_job(principal, job_id)
    if not may_change(principal, job):
        raise JobNotYours
    return job


def may_change(principal: Principal, job: Job) -> bool:
    """True if the principal may change this job: it is theirs, or they may change all of the team.

    Whose a job is, is told by the number of an account, which no later one gets.
    """
    bounds = principal.bounds
    if bounds is not None and not bounds.hold(job.pool.name, job.labels):
        return False
    if principal.may_in(Permission.CHANGE_ALL_JOBS, job.team_id):
        return True
    is_own = principal.person_id is not None and job.person_id == principal.person_id
    return is_own and principal.may_in(Permission.CHANGE_OWN_JOBS, job.team_id)


def check_all_may_be_changed(principal: Principal, jobs: Iterable[Job]) -> None:
    """Raises: JobNotYours, which names some that the principal only sees."""
    others = [f"{job.name} ({job.id})" for job in jobs if not may_change(principal, job)]
    if others:
        more = ", …" if len(others) > _NAMED else ""
        raise JobNotYours(
            f"Nothing was changed: of these jobs some are not yours: {', '.join(others[:_NAMED])}"
            f"{more}. Ask a lead of the team, or leave them out."
        )


def find_job_with_numbers(principal: Principal, job_id: str) -> Job:
    """Return the same for a caller that shows the whole job; the numbers take milliseconds.

    Raises:
        JobNotFound: as above.
    """
    job = _the_one(with_numbers(jobs_of(principal).filter(pk=job_id)))
    return with_rights(principal, job)


def with_rights(principal: Principal, job: Job) -> Job:
    """Add what the principal may do with it: `may_change`, and `may_rerun` for the same team."""
    told: Any = job
    told.may_change = may_change(principal, job)
    told.may_rerun = principal.may_in(Permission.SUBMIT, job.team_id)
    return job


def _the_one(jobs: QuerySet[Job]) -> Job:
    job = jobs.first()
    if job is None:
        raise JobNotFound
    records.note_target(team_id=job.team_id)
    return job


def with_numbers(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Add what histories tell of each job, in the same statement.

    `training_now`: `workers` and `batch` of the generation that trains, None when none does;
    `wanted_now`: the same of the newest assignment; `history`: `seconds` for which it trained, its
    `stalls`, the `longest_stall` and `lost_work`, all in seconds, None when it never trained.
    """
    trains = Generation.objects.filter(job=OuterRef("pk"), ended_at=None).order_by("-number")
    wanted = Assignment.objects.filter(job=OuterRef("pk"), revision=OuterRef("revision"))
    ran = Generation.objects.filter(job=OuterRef("pk")).order_by().values("job")
    return jobs.select_related("team", "pool").annotate(
        training_now=Subquery(trains.values(value=_TRAINING)[:1]),
        wanted_now=Subquery(wanted.values(value=_WANTED)[:1]),
        history=Subquery(ran.annotate(value=_HISTORY).values("value")),
    )


def as_new(job: Job) -> Job:
    """Add the same to a job that was just written: it never trained, and nothing is wanted.

    Nothing is read: all that is shown of its pool is the name, which its spec has.
    """
    for name in _NUMBERS:
        setattr(job, name, None)
    name, *_ = stored_spec.read(job.resolved_spec).spec.named_pools  # it begins in the first
    job.pool = _Pool(pk=job.pool_id, name=name)
    return job
