"""How is a job stopped that is to start again, and when has it failed too often for that?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import Counters, Stop
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.lifecycle import JobState


def fail(reason: JobReason, message: str, *, data: Mapping[str, object] | None = None) -> Stop:
    """It is over, and not tried again."""
    return Stop(ends_as=JobState.FAILED, reason=reason, message=message, data=data or {})


def start_again(
    job: JobSnapshot,
    *,
    reason: JobReason,
    why: str,
    data: Mapping[str, object] | None = None,
    counters: Counters | None = None,
) -> Stop:
    """Stop what is left and queue the job for its next attempt, later after every failure."""
    attempt = job.attempt + 1
    counted = counters or Counters()
    failures = counted.failures or job.failures or 1  # some start again without a failure
    seconds = job.limits.between_attempts.seconds_after(failures)
    return Stop(
        ends_as=JobState.QUEUED,
        reason=reason,
        message=f"{why} Attempt {attempt} starts in {seconds:.0f} s.",
        data=data or {},
        counters=replace(
            counted,
            attempt=attempt,
            not_before=job.context.now + timedelta(seconds=seconds),
        ),
    )


def count_as_failure(job: JobSnapshot, *, reason: JobReason, why: str, remedy: str) -> Stop:
    """Start again, as often as after a failure of the job's own code; then it failed for good."""
    counters = Counters(failures=job.failures + 1)
    if job.failures + 1 <= job.spec.retry.max_restarts:
        return start_again(job, reason=reason, why=why, counters=counters)
    return replace(fail(reason, f"{why} {remedy}"), counters=counters)
