"""Does the job's script know of us? One that does not register in time is run as a plain script."""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments.lateness import has_had_its_time, is_late
from autoscaler.reconciling.instructions import NOTHING, ChangeMode, Instructions, Tell
from autoscaler.reconciling.rules.ending.stops import fail, start_again
from autoscaler.reconciling.snapshot import (
    JobSnapshot,
    RescaleMode,
)
from jobs.job_mode import JobMode


def detect_mode(job: JobSnapshot) -> Instructions:
    """A script that does not register in time is taken for one that knows nothing of us.

    Should it register later, that counts: its coordinator stays. One that did so in an earlier
    attempt has all the time it needs. One that says it will has the time of the processor.
    """
    if job.is_mode_known or not job.is_starting_over or not job.live:
        return NOTHING
    if not all(is_late(worker, job) for worker in job.live):
        return NOTHING
    if not job.is_heard:
        return _unheard_for_too_long(job)
    seconds = job.spec.elastic.registration_timeout
    if job.spec.elastic.mode is JobMode.HOT:
        if not all(has_had_its_time(worker, job) for worker in job.live):
            return NOTHING
        message = (
            f"The script did not call `concertina_worker.init()` and `register` within"
            f" {seconds:.0f} s. Call them, raise `elastic.registration_timeout`, or use"
            f" `mode: restart`."
        )
        return (fail(JobReason.NOT_REGISTERED, message),)
    message = f"The script did not register within {seconds:.0f} s{_what_follows(job)}"
    tell = Tell(kind=EventKind.MODE_DETECTED, reason=JobReason.RESTART, message=message)
    return ChangeMode(RescaleMode.RESTART), tell


def _what_follows(job: JobSnapshot) -> str:
    if job.spec.elastic.mode is JobMode.FIXED:
        return ": it keeps its number of workers, and has to write checkpoints itself."
    if job.forms_group:
        return ": it is rescaled by restarting it, and has to resume from its own checkpoint."
    return (
        " and forms no process group: it keeps its number of workers, because more would each do"
        " the same work. If they share it all the same, submit it with `mode: restart`."
    )


def _unheard_for_too_long(job: JobSnapshot) -> Instructions:
    seen_at = job.coordinator.seen_at
    if seen_at and seen_at > job.state_since:
        return NOTHING
    if job.seconds_since(job.state_since) < job.limits.coordinator_never_seen:
        return NOTHING
    why = "Its coordinator could not reach the service."
    return (start_again(job, reason=JobReason.COORDINATOR_SILENT, why=why),)
