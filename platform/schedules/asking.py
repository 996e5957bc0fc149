"""A schedule's spec is submitted now, because somebody asks for it, in their name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from tenancy.audit import records

from jobs.admission.pool_capacity import PoolCapacity
from jobs.spec.arrays import expansion
from schedules import holders, reading, specs, submitting
from schedules.holders import ScheduleHolder
from schedules.models import RunState, ScheduleRun, TeamSchedule

MOST_NAMED: Final = 20  # of many jobs


def run_now(
    holder: ScheduleHolder,
    schedule: TeamSchedule,
    *,
    key: str,
    pools: Sequence[PoolCapacity],
    count_jobs: Callable[[int], None],
    now: datetime,
    traceparent: str = "",
) -> tuple[ScheduleRun, bool]:
    """Submit it once more, beside its times; False: the same request did so before.

    All of it is one transaction: there is no run without a job. It is neither changed, submitted by
    others nor deleted meanwhile.

    Raises:
        ScheduleNotYours, ScheduleNotFound, StillRuns, ReplacesForeignJobs.
        JobsError: as `submission.submit`.
    """
    holders.check_may_submit(holder.principal, schedule.team.name)
    with transaction.atomic():
        schedule = reading.held(schedule)
        run = ScheduleRun(
            schedule=schedule,
            due_at=now,
            asked_by=holder.principal.name,
            asked_key=key,
            state=RunState.SUBMITTED,
            attempts=1,
            try_at=now,
            ended_at=now,
        )
        if not key:
            run.save(force_insert=True)
        else:
            # One that asks with the same key at this moment waits here.
            ScheduleRun.objects.bulk_create([run], ignore_conflicts=True)
            stored = ScheduleRun.objects.get(schedule=schedule, asked_key=key)
            if stored.jobs:
                return stored, False
            run = stored
        count_jobs(len(expansion.read_one(specs.dated(schedule.spec, now))))
        made = submitting.submit_for(
            schedule,
            due_at=now,
            principal=holder.principal,
            pools=pools,
            is_asked_for=True,
            traceparent=traceparent,
        )
        run.jobs, run.job_count = list(made.made[:MOST_NAMED]), len(made.made)
        run.save(update_fields=["jobs", "job_count"])
    records.note_change(after={"run": run.pk, "jobs": dict(run.jobs)})
    return run, True
