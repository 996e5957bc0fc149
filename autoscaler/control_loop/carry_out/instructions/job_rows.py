"""How is each instruction written that changes a job, or tells of it? One function for each kind.

All are called inside a transaction that holds the job's row; `view` is what the rule has seen. One
that finds the job changed since raises `NotNow`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict

from django.db.models import F

from autoscaler.control_loop.carry_out.assignments import NotNow
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import StoredReason
from autoscaler.reconciling.instructions import (
    BeginTerm,
    ChangeMode,
    EndAs,
    Finish,
    RecordNotice,
    Remember,
    Say,
    Stop,
    Tell,
)
from jobs.changes import events
from jobs.changes.transitions import move
from jobs.lifecycle import ACTIVE, State
from jobs.models import Job, Worker

_log = logging.getLogger(__name__)


def stop(instruction: Stop, job: Job, _: JobView, __: TickContext) -> None:
    counters = asdict(instruction.counters).items()
    changes = {name: value for name, value in counters if value is not None}
    is_mine = move(
        job.id,
        ACTIVE,
        State.STOPPING,
        reason=instruction.reason,
        message=instruction.message,
        data=instruction.data,
        changes={"ends_as": instruction.ends_as, **changes},
    )
    if not is_mine:
        raise NotNow


def end_as(instruction: EndAs, job: Job, _: JobView, __: TickContext) -> None:
    if not Job.objects.filter(pk=job.id, state=State.STOPPING).update(**asdict(instruction)):
        raise NotNow


def finish(_: Finish, job: Job, __: JobView, ___: TickContext) -> None:
    is_mine = move(
        job.id,
        {State.STOPPING},
        State(job.ends_as),
        reason=StoredReason(job.reason),
        message=job.message,
        changes={
            "ends_as": "",
            "coordinator_port": None,
            "coordinator_node": "",
            "coordinator_term": F("coordinator_term") + 1,
            "samples_per_second": 0.0,
        },
    )
    if not is_mine:
        raise NotNow


def change_mode(instruction: ChangeMode, job: Job, view: JobView, _: TickContext) -> None:
    seen = Job.objects.filter(pk=job.id, mode=view.job.mode)
    if not seen.update(mode=instruction.mode):
        raise NotNow


def begin_term(instruction: BeginTerm, job: Job, view: JobView, _: TickContext) -> None:
    term = view.job.coordinator_term
    seen = Job.objects.filter(pk=job.id, coordinator_term=term)
    changes = {"coordinator_term": term + 1, "coordinator_node": instruction.node}
    if not seen.update(**changes, coordinator_restarts=F("coordinator_restarts") + 1):
        raise NotNow


def remember(instruction: Remember, job: Job, _: JobView, __: TickContext) -> None:
    moments = {
        "progress_at": instruction.life_at,
        "silence_told_at": instruction.told_of_silence_at,
    }
    changes = {name: moment for name, moment in moments.items() if moment is not None}
    Job.objects.filter(pk=job.id).update(**changes)


def record_notice(instruction: RecordNotice, job: Job, _: JobView, context: TickContext) -> None:
    of_job = {
        "preparation_notice_revision": instruction.preparation_revision,
        "disk_notice_start": instruction.disk_start,
    }
    changes = {name: value for name, value in of_job.items() if value is not None}
    if changes:
        Job.objects.filter(pk=job.id).update(**changes)
    of_workers = {
        "silence_notice_at": instruction.silence_of,
        "slowness_notice_at": instruction.slowness_of,
    }
    for name, workers in of_workers.items():
        if workers:
            Worker.objects.filter(pk__in=workers).update(**{name: context.now})


def say(instruction: Say, job: Job, view: JobView, _: TickContext) -> None:
    Job.objects.filter(pk=job.id, state=view.state).update(message=instruction.message)


def tell(instructions: Sequence[Tell], job: Job, _: JobView, __: TickContext) -> None:
    """One statement, however much is told."""
    for one in instructions:
        if one.is_alarm:
            extra = {"action": "alarm", "job_id": job.id, **one.data}
            _log.critical(one.message, extra=extra)
    events.record_all(
        events.new(
            job_id=job.id, kind=one.kind, reason=one.reason, message=one.message, data=one.data
        )
        for one in instructions
    )
