"""What does a report say of the job as a whole? Columns of its row; events come with some."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import batch_limit, events
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.job_mode import JobMode
from jobs.reports.noise_scale import smoothed
from jobs.reports.sync_report import CheckedSyncReport


def known_now(job: ReportingJob, report: CheckedSyncReport, now: datetime) -> dict[str, Any]:
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
        changes |= {"batch_limits": limits, "progress_at": now}
    return changes


def _is_first_to_be_over(job: ReportingJob) -> bool:
    """True if this start of the job is reported to be over for the first time."""
    return job.wanted is not None and (job.trained_at is None or job.trained_at < job.wanted.at)


def _is_news_of(job: ReportingJob) -> bool:
    is_declared = job.declared_mode == job.mode
    return job.mode == JobMode.AUTO or (job.mode == JobMode.RESTART and not is_declared)


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
    is_fixed = job.declared_mode == JobMode.FIXED
    mode = JobMode.FIXED if is_fixed else JobMode.HOT
    late = " after all" if job.mode == JobMode.RESTART else ""
    follows = "it keeps its size" if is_fixed else "it can be rescaled without a restart"
    events.record(
        job_id=job.id,
        kind=EventKind.MODE_DETECTED,
        reason=JobReason(mode),
        message=f"The script registered{late}: {follows}.",
    )
    return mode


def _noise_scale(job: ReportingJob, report: CheckedSyncReport, now: datetime) -> float | None:
    seconds = (now - (job.coordinator_seen_at or now)).total_seconds()
    if report.noise_scale is not None and job.measured_noise_scale is None:
        return report.noise_scale
    return smoothed(job.noise_scale, report.noise_scale, seconds=seconds)
