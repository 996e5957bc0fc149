"""What does a sync change? The job's coordinator reports; the answer is the state we want.

Reports are whole states, so a repeated or late one changes nothing: histories are keyed by their
numbers, the rest is overwritten. A sync takes some twenty short statements in one transaction,
however much a report holds, and no host calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, Q

from autoscaler.job_vocabulary import EventKind, JobReason, StoredReason
from concertina_worker.protocol import Desired, DesiredAction
from jobs.changes import batch_limit, demand_signal, events
from jobs.changes.transitions import move
from jobs.commands.observations.generations import cost_of, store_generations
from jobs.commands.observations.measurements import store_measurements
from jobs.commands.observations.metrics import store_metrics
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.script_warnings import store_warnings
from jobs.commands.observations.service_time import ServiceTime
from jobs.commands.observations.workers import store_workers
from jobs.errors import CoordinatorReplaced, JobNotFound, JobOver, NotTheCoordinator
from jobs.lifecycle import ACTIVE, FINAL, State
from jobs.models import Assignment, Generation, Job, MetricPoint
from jobs.reports.fields import MOST_VALUES
from jobs.reports.job_token import Credential
from jobs.reports.noise_scale import smoothed
from jobs.reports.sync_report import MetricEntry, SyncReport


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
    held = Job.objects.select_for_update(no_key=True, of=("self",)).select_related("pool")
    job = held.filter(pk=job_id).first()
    if job is None:
        raise JobNotFound
    if credential.term is None and not job.takes_workers_token:
        raise NotTheCoordinator
    if job.state in FINAL:
        raise JobOver
    if {report.term, credential.term} - {None} != {job.coordinator_term}:
        raise CoordinatorReplaced
    wanted = Assignment.objects.filter(job=job).order_by("-revision").first()
    time, reported_events = ServiceTime.of(job, now), ReportedEvents(job.id)
    trained = store_generations(job, report.generations, reported_events, time)
    points = store_metrics(job, report.metrics, time)
    store_measurements(job, report.measurements)
    is_late = _is_late(job, report)
    store_workers(job, () if is_late else report.workers, wanted, reported_events, now)
    warned = store_warnings(job, report.warnings, reported_events)
    reported_events.write(now)
    if report.metrics and not is_late:
        points |= _progress(job, report.metrics, now)
    _store_progress(job, report, {**trained, **points, **warned}, wanted, now)
    batch_limit.learn(job, report.batch_limit)
    if _is_up_to_date(job, report, wanted) or trained:
        demand_signal.announce_demand(job.id)
    return _desired(job, wanted)


def _is_late(job: Job, report: SyncReport) -> bool:
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
    return MetricPoint.objects.filter(later, job=job).exists()


def _store_progress(
    job: Job,
    report: SyncReport,
    observed: Mapping[str, Any],
    wanted: Assignment | None,
    now: datetime,
) -> None:
    changes: dict[str, Any] = {
        **observed,
        "coordinator_seen_at": now,
        "model_bytes": report.model_bytes or job.model_bytes,
        "is_measured": job.is_measured or bool(report.measurements),
        "noise_scale": _noise_scale(job, report, now),
        "first_noise_scale": job.first_noise_scale or report.noise_scale,
        "total_samples": report.total_samples or job.total_samples,
    }
    if report.checkpoint_step is not None:
        changes["checkpoint_step"] = report.checkpoint_step
    if report.finished and _is_first_to_be_over(job, wanted):
        changes["trained_at"] = now
    if report.process_group and job.group_seen_at is None:
        changes["group_seen_at"] = now
        _note_process_group(job)
    if report.registered and _is_news_of(job):
        changes["mode"] = _note_registration(job)
    Job.objects.filter(pk=job.id).update(**changes)


def _is_first_to_be_over(job: Job, wanted: Assignment | None) -> bool:
    """True if this start of the job is reported to be over for the first time."""
    return wanted is not None and (job.trained_at is None or job.trained_at < wanted.at)


def _is_news_of(job: Job) -> bool:
    is_declared = job.resolved_spec["elastic"]["mode"] == job.mode
    return job.mode == Job.Mode.AUTO or (job.mode == Job.Mode.RESTART and not is_declared)


def _note_process_group(job: Job) -> None:
    events.record(
        job_id=job.id,
        kind=EventKind.MODE_DETECTED,
        reason=JobReason.RESTART,
        message="Its workers form a process group, so they share the work: it can be rescaled by"
        " restarting it, and has to resume from its own checkpoint.",
    )


def _note_registration(job: Job) -> str:
    """Note that the script registered, even if late: the mode assumed until now is dropped."""
    is_fixed = job.resolved_spec["elastic"]["mode"] == Job.Mode.FIXED
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


def _noise_scale(job: Job, report: SyncReport, now: datetime) -> float | None:
    seconds = (now - (job.coordinator_seen_at or now)).total_seconds()
    if report.noise_scale is not None and job.measured_noise_scale is None:
        return report.noise_scale
    return smoothed(job.noise_scale, report.noise_scale, seconds=seconds)


def _progress(job: Job, metrics: list[MetricEntry], now: datetime) -> dict[str, Any]:
    """Return the newest point, and the newest value of each metric the script logs."""
    newest = max(metrics, key=lambda point: (point.generation, point.step))
    moved = {} if newest.step == job.step else {"progress_at": now}
    return moved | {
        "step": newest.step,
        "epoch": newest.epoch,
        "samples": newest.samples,
        "samples_per_second": newest.samples_per_second,
        "values": _newest_values(job.values, metrics),
    }


def _newest_values(
    stored: Mapping[str, float | None], metrics: list[MetricEntry]
) -> dict[str, float | None]:
    """Return the values just logged, and as many stored ones as a row may hold besides."""
    logged: dict[str, float | None] = {}
    for point in metrics:
        for name, value in point.values.items():
            logged.pop(name, None)  # so that the newest stand last
            logged[name] = value
    fresh = dict(list(logged.items())[-MOST_VALUES:])
    others = [name for name in stored if name not in fresh]
    return {name: stored[name] for name in others[: MOST_VALUES - len(fresh)]} | fresh


def _is_up_to_date(job: Job, report: SyncReport, wanted: Assignment | None) -> bool:
    """Move the job to running if the newest assignment is what trains now."""
    if job.state not in {State.STARTING, State.RESCALING} or wanted is None:
        return False
    trains = Generation.objects.filter(
        job=job, number=report.generation, revision=wanted.revision, ended_at=None
    ).first()
    return trains is not None and move(
        job.id,
        {State.STARTING, State.RESCALING},
        State.RUNNING,
        reason=StoredReason(wanted.reason),
        message=wanted.message,
        data={"revision": wanted.revision, **cost_of(trains)},
    )


def _desired(job: Job, wanted: Assignment | None) -> Desired:
    newest = Generation.objects.filter(job=job).aggregate(number=Max("number"))["number"]
    runs = wanted is not None and job.state in ACTIVE
    return Desired(
        action=(DesiredAction.RUN if runs else DesiredAction.STOP).value,
        revision=wanted.revision if wanted else 0,
        attempt=wanted.attempt if wanted else job.attempt,
        workers=list(wanted.worker_ids) if wanted else [],
        global_batch_size=wanted.global_batch_size if wanted else 0,
        next_generation=(newest or 0) + 1,
    )
