"""What does a sync change? The job's coordinator reports; the answer is the state we want.

Reports are whole states, so a repeated or late one changes nothing: histories are keyed by their
numbers, the rest is overwritten. A sync takes two statements in one transaction, however much a
report holds, and no host calls: one reads the job, another writes what was reported. What happens
rarely (a generation began, a worker is slow, the job's state changes) takes some more.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from concertina_worker.protocol import REST_SECONDS, SOON_SECONDS, Desired, DesiredAction
from jobs.changes import batch_limit, demand_signal, events
from jobs.changes.transitions import move
from jobs.commands.observations import one_statement, reporting_job
from jobs.commands.observations.generations import cost_of, store_generations
from jobs.commands.observations.measurements import keep_the_newest, measurements_part
from jobs.commands.observations.metrics import metrics_part, progress_of
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.script_warnings import store_warnings
from jobs.commands.observations.service_time import ServiceTime
from jobs.commands.observations.workers import workers_part
from jobs.errors import CoordinatorReplaced, JobNotFound, JobOver, NotTheCoordinator
from jobs.lifecycle import ACTIVE, FINAL, State
from jobs.models import Generation, Job, MetricPoint
from jobs.reports.job_token import Credential
from jobs.reports.noise_scale import smoothed
from jobs.reports.sync_report import SyncReport


@transaction.atomic
def record_sync(
    *, job_id: str, report: SyncReport, credential: Credential, now: datetime
) -> Desired:
    """Store what the coordinator reports and return what it should do.

    Raises:
        JobNotFound: there is no such job.
        NotTheCoordinator: the credential is that of a worker.
        JobOver: it has ended, and what it said until then is all there is to be known.
        CoordinatorReplaced: it was on a node that was lost, say; another speaks for the job now.
    """
    job = reporting_job.hold(job_id)
    if job is None:
        raise JobNotFound
    if credential.term is None and not job.takes_workers_token:
        raise NotTheCoordinator
    if job.state in FINAL:
        raise JobOver
    if {report.term, credential.term} - {None} != {job.coordinator_term}:
        raise CoordinatorReplaced
    began = _store(job, report, now)
    if _is_up_to_date(job, report) or began is not None:
        demand_signal.announce_demand(job.id)
    return _desired(job, report, began or job.newest_generation or 0)


def _store(job: ReportingJob, report: SyncReport, now: datetime) -> int | None:
    """Write what is new; return the number of a generation that has begun, if any has."""
    time, reported_events = ServiceTime.of(job, now), ReportedEvents(job.id)
    is_late = _is_late(job, report)
    changes = store_generations(job, report.generations, reported_events, time)
    began: int | None = changes.get("generation")
    seen = () if is_late else report.workers
    parts = [
        *metrics_part(job, report.metrics, time),
        *measurements_part(job, report.measurements),
        *workers_part(job, seen, reported_events, now),
    ]
    changes |= store_warnings(job, report.warnings, reported_events)
    reported_events.write(now)
    if report.metrics and not is_late:
        changes |= progress_of(job, report.metrics, now)
    changes |= _known_now(job, report, now)
    told = one_statement.write(job.id, changes, parts, now)
    keep_the_newest(job, told.get("measurements", 0))
    return began


def _is_late(job: ReportingJob, report: SyncReport) -> bool:
    """True if a newer point is known: this report took longer to arrive than the one after it.

    A late report adds to histories, but does not say how far the workers or the job are now. A
    coordinator's last report is never late.
    """
    if report.finished or not report.metrics:
        return False
    generation, step = max((point.generation, point.step) for point in report.metrics)
    if generation >= job.generation and step > job.step:
        return False
    later = Q(generation__gt=generation) | Q(generation=generation, step__gt=step)
    return MetricPoint.objects.filter(later, job=job.id).exists()


def _known_now(job: ReportingJob, report: SyncReport, now: datetime) -> dict[str, Any]:
    """Return what the report says of the job as a whole, as columns; events come with some."""
    changes: dict[str, Any] = {
        "coordinator_seen_at": now,
        "model_bytes": report.model_bytes or job.model_bytes,
        "is_measured": job.is_measured or bool(report.measurements),
        "noise_scale": _noise_scale(job, report, now),
        "first_noise_scale": job.first_noise_scale or report.noise_scale,
        "total_samples": report.total_samples or job.total_samples,
    }
    if report.checkpoint_step is not None:
        changes["checkpoint_step"] = report.checkpoint_step
    if report.finished and _is_first_to_be_over(job):
        changes["trained_at"] = now
    if report.process_group and job.group_seen_at is None:
        changes["group_seen_at"] = now
        _note_process_group(job)
    if report.registered and _is_news_of(job):
        changes["mode"] = _note_registration(job)
    limits = batch_limit.learn(
        job.id, report.batch_limit, gpu_type=job.gpu_type, known=job.batch_limits
    )
    if limits is not None:
        changes |= {"batch_limits": json.dumps(limits), "progress_at": now}
    return changes


def _is_first_to_be_over(job: ReportingJob) -> bool:
    """True if this start of the job is reported to be over for the first time."""
    return job.wanted is not None and (job.trained_at is None or job.trained_at < job.wanted.at)


def _is_news_of(job: ReportingJob) -> bool:
    is_declared = job.declared_mode == job.mode
    return job.mode == Job.Mode.AUTO or (job.mode == Job.Mode.RESTART and not is_declared)


def _note_process_group(job: ReportingJob) -> None:
    events.record(
        job_id=job.id,
        kind=EventKind.MODE_DETECTED,
        reason=JobReason.RESTART,
        message="Its workers form a process group, so they share the work: it can be rescaled by"
        " restarting it, and has to resume from its own checkpoint.",
    )


def _note_registration(job: ReportingJob) -> str:
    """Note that the script registered, even if late: the mode assumed until now is dropped."""
    is_fixed = job.declared_mode == Job.Mode.FIXED
    mode = Job.Mode.FIXED if is_fixed else Job.Mode.HOT
    late = " after all" if job.mode == Job.Mode.RESTART else ""
    follows = "it keeps its size" if is_fixed else "it can be rescaled without a restart"
    events.record(
        job_id=job.id,
        kind=EventKind.MODE_DETECTED,
        reason=JobReason(mode),
        message=f"The script registered{late}: {follows}.",
    )
    return mode


def _noise_scale(job: ReportingJob, report: SyncReport, now: datetime) -> float | None:
    seconds = (now - (job.coordinator_seen_at or now)).total_seconds()
    if report.noise_scale is not None and job.measured_noise_scale is None:
        return report.noise_scale
    return smoothed(job.noise_scale, report.noise_scale, seconds=seconds)


def _is_up_to_date(job: ReportingJob, report: SyncReport) -> bool:
    """Move the job to running if the newest assignment is what trains now."""
    wanted = job.wanted
    is_changing = job.state in {State.STARTING, State.RESCALING}
    if not is_changing or wanted is None or not report.generation:
        return False
    trains = Generation.objects.filter(
        job=job.id, number=report.generation, revision=wanted.revision, ended_at=None
    ).first()
    return trains is not None and move(
        job.id,
        {State.STARTING, State.RESCALING},
        State.RUNNING,
        reason=StoredReason(wanted.reason),
        message=wanted.message,
        data={"revision": wanted.revision, **cost_of(trains)},
    )


def _desired(job: ReportingJob, report: SyncReport, newest_generation: int) -> Desired:
    wanted = job.wanted
    is_at_rest = job.state == State.RUNNING and not report.finished
    is_there = wanted is not None and report.revision == wanted.revision
    runs = wanted is not None and job.state in ACTIVE
    return Desired(
        action=(DesiredAction.RUN if runs else DesiredAction.STOP).value,
        revision=wanted.revision if wanted else 0,
        attempt=wanted.attempt if wanted else job.attempt,
        workers=wanted.worker_ids if wanted else [],
        global_batch_size=wanted.global_batch_size if wanted else 0,
        next_generation=newest_generation + 1,
        report_after_seconds=REST_SECONDS if is_at_rest and is_there else SOON_SECONDS,
    )
