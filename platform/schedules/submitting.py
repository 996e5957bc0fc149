"""The one way by which a run becomes jobs: the ordinary submission, in somebody's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from tenancy.access.principal import Principal

from jobs.admission.pool_capacity import PoolCapacity
from jobs.commands import control, submission
from jobs.commands.submission import ScheduledBy, SubmissionResult
from jobs.lifecycle import LIVE, JobState
from jobs.models import Job
from jobs.queries import visible_jobs
from jobs.spec.arrays import expansion
from schedules import specs
from schedules.errors import ReplacesForeignJobs, StillRuns
from schedules.models import Overlap, TeamSchedule

_OURS: Final = "§"  # requests may send ASCII only, so nobody can have used such a key
_NAMED: Final = 3


def submit_for(
    schedule: TeamSchedule,
    *,
    due_at: datetime,
    principal: Principal,
    pools: Sequence[PoolCapacity],
    is_asked_for: bool = False,
    traceparent: str = "",
) -> SubmissionResult:
    """Submit what the schedule says now, once for this time, however often it is called.

    A job that is replaced is cancelled in the same transaction, so a refusal cancels nothing.
    `traceparent` is the header of who asks for it.

    Raises:
        StillRuns: a job of it lives, and `overlap` is `skip`.
        ReplacesForeignJobs: of those that live, some are not the principal's to cancel.
        JobsError: as `submission.submit`.
    """
    document = specs.dated(schedule.spec, due_at, is_asked_for=is_asked_for)
    live = _in_the_way(schedule)
    if not live:
        return _submit(schedule, document, due_at, principal, pools, traceparent=traceparent)
    _check_may_replace(schedule, live, principal)
    with transaction.atomic():
        reason = f"schedule {schedule.name} replaces it"
        control.cancel_all(job_ids=[job.id for job in live], actor=principal.name, reason=reason)
        return _submit(schedule, document, due_at, principal, pools, traceparent=traceparent)


def made_for(schedule: TeamSchedule, due_at: datetime) -> Sequence[tuple[str, str]]:
    """Return id and name of the jobs that were submitted for this time already."""
    made = Job.objects.filter(schedule=schedule.id, scheduled_for=due_at)
    return list(made.order_by("submitted_at", "id").values_list("id", "name"))


def _submit(
    schedule: TeamSchedule,
    document: Mapping[str, Any],
    due_at: datetime,
    principal: Principal,
    pools: Sequence[PoolCapacity],
    *,
    traceparent: str,
) -> SubmissionResult:
    return submission.submit(
        sent=expansion.read_one(document),
        body=document,
        teams={schedule.team.name: schedule.team},
        pools=pools,
        by=principal,
        idempotency_key=f"{_OURS}{schedule.id} {due_at.isoformat()}",
        scheduled=ScheduledBy(id=schedule.id, name=schedule.name, due_at=due_at),
        traceparent=traceparent,
    )


def _in_the_way(schedule: TeamSchedule) -> Sequence[Job]:
    """Return the jobs of the schedule that live, if that makes a difference.

    Raises: StillRuns.
    """
    if schedule.overlap == Overlap.ALLOW:
        return ()
    found = Job.objects.filter(team=schedule.team_id, schedule=schedule.id, state__in=LIVE)
    found = found.exclude(ends_as=JobState.CANCELLED).order_by("submitted_at", "id")
    live = list(found.only("id", "name", "team_id", "person_id"))
    if live and schedule.overlap == Overlap.SKIP:
        raise StillRuns(
            f"{_named(live)} still lives, and the overlap of schedule {schedule.name} is `skip`."
        )
    return live


def _check_may_replace(schedule: TeamSchedule, live: Sequence[Job], principal: Principal) -> None:
    foreign = [job for job in live if not visible_jobs.may_change(principal, job)]
    if foreign:
        raise ReplacesForeignJobs(
            f"{principal.name} may not cancel {_named(foreign)}, which schedule {schedule.name}"
            " would replace. Use a token of scope `manage-jobs`, or another `overlap`."
        )


def _named(jobs: Sequence[Job]) -> str:
    names = ", ".join(f"{job.name} ({job.id})" for job in jobs[:_NAMED])
    return f"{names}, …" if len(jobs) > _NAMED else names
