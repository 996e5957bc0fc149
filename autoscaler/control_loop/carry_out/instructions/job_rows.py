"""How is each instruction drafted that changes a job, or tells of it? One function for each kind.

`draft` has the job's row, which is held; `view` is what the rule has seen. One that finds the job
changed since raises `NotNow`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict

from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
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
    StartCoordinator,
    Stop,
    Tell,
)
from jobs.changes import events
from jobs.lifecycle import ACTIVE, JobState

_log = logging.getLogger(__name__)


def stop(instruction: Stop, draft: JobDraft, _: LiveJob, __: TickContext) -> None:
    if instruction.version is not None:
        _compare(draft.job.version, instruction.version)
    counters = asdict(instruction.counters).items()
    changes = {name: value for name, value in counters if value is not None}
    draft.move(
        ACTIVE,
        JobState.STOPPING,
        reason=instruction.reason,
        message=instruction.message,
        data=instruction.data,
        changes={"ends_as": instruction.ends_as, **changes},
    )


def end_as(instruction: EndAs, draft: JobDraft, _: LiveJob, __: TickContext) -> None:
    _compare(draft.job.state, JobState.STOPPING)
    draft.set(**asdict(instruction))


def finish(_: Finish, draft: JobDraft, __: LiveJob, ___: TickContext) -> None:
    job = draft.job
    _compare(job.state, JobState.STOPPING)
    draft.move(
        {JobState.STOPPING},
        JobState(job.ends_as),
        reason=StoredReason(job.reason),
        message=job.message,
        changes={
            "ends_as": "",
            "coordinator_port": None,
            "coordinator_node": "",
            "coordinator_term": job.coordinator_term + 1,
            "samples_per_second": 0.0,
            "idle_since": None,
            "idle_notice": None,
        },
    )


def change_mode(instruction: ChangeMode, draft: JobDraft, view: LiveJob, _: TickContext) -> None:
    _compare(draft.job.mode, view.job.mode)
    draft.set(mode=instruction.mode)


def begin_term(instruction: BeginTerm, draft: JobDraft, view: LiveJob, _: TickContext) -> None:
    _compare(draft.job.coordinator_term, view.job.coordinator_term)
    draft.set(
        coordinator_term=draft.job.coordinator_term + 1,
        coordinator_node=instruction.node,
        coordinator_restarts=draft.job.coordinator_restarts + 1,
    )


def note_coordinator(
    order: StartCoordinator, draft: JobDraft, view: LiveJob, _: TickContext
) -> None:
    """Note where it will run, which is known before it runs."""
    if view.job.coordinator_node != order.node or view.job.takes_workers_token:
        draft.set(coordinator_node=order.node, takes_workers_token=False)


def remember(instruction: Remember, draft: JobDraft, _: LiveJob, __: TickContext) -> None:
    moments = {
        "progress_at": instruction.life_at,
        "silence_told_at": instruction.told_of_silence_at,
    }
    draft.set(**{name: moment for name, moment in moments.items() if moment is not None})


def record_notice(
    instruction: RecordNotice, draft: JobDraft, _: LiveJob, context: TickContext
) -> None:
    of_job = {
        "preparation_notice_revision": instruction.preparation_revision,
        "disk_notice_start": instruction.disk_start,
        "idle_notice": instruction.idle_since,
        "max_duration_notice": instruction.limits and instruction.limits.max_duration,
        "budget_notice": instruction.limits and instruction.limits.budget_gpu_hours,
    }
    draft.set(**{name: value for name, value in of_job.items() if value is not None})
    if instruction.is_busy:
        draft.set(idle_notice=None)
    of_workers = {
        "silence_notice_at": instruction.silence_of,
        "slowness_notice_at": instruction.slowness_of,
    }
    for name, workers in of_workers.items():
        for worker in workers:
            draft.change_worker(worker, **{name: context.now})


def say(instruction: Say, draft: JobDraft, view: LiveJob, _: TickContext) -> None:
    if draft.job.state == view.state:
        draft.set(message=instruction.message)


def tell(instructions: Sequence[Tell], draft: JobDraft, _: LiveJob, __: TickContext) -> None:
    for one in instructions:
        if one.is_alarm:
            extra = {"action": "alarm", "job_id": draft.job.id, **one.data}
            _log.critical(one.message, extra=extra)
    draft.events += (
        events.new(
            job_id=draft.job.id,
            kind=one.kind,
            reason=one.reason,
            message=one.message,
            data=one.data,
        )
        for one in instructions
    )


def _compare(found: object, expected: object) -> None:
    """Raises NotNow if somebody else was first."""
    if found != expected:
        raise NotNow
