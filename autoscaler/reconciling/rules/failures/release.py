"""Which workers have ended? Their GPUs become free, and their ending is counted exactly once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cluster.worker_host import Failing

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.assessments import last_words
from autoscaler.reconciling.endings import NEVER_RAN, WorkerEnding
from autoscaler.reconciling.instructions import (
    CountEnding,
    Forget,
    Instructions,
    ReleaseWorker,
    Tell,
)
from autoscaler.reconciling.rules.failures.worker_end import (
    WorkerEnd,
    end_of,
    not_started,
    sentence,
)
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import (
    WorkerSnapshot,
)
from jobs.worker_phase import WorkerPhase

_KIND_OF = {
    WorkerEnding.LOST: EventKind.WORKER_LOST,
    WorkerEnding.FAILED: EventKind.WORKER_FAILED,
    **dict.fromkeys(NEVER_RAN, EventKind.WORKER_NOT_STARTED),
}


def release_ended_workers(job: JobSnapshot) -> Instructions:
    """Release workers whose process has ended, is nowhere to be found, or counts as lost."""
    ends = [end_of(worker, job) for worker in job.live if _has_ended(worker, job)]
    releases = [_release(end, ends[:place], job) for place, end in enumerate(ends)]
    forgets = [Forget(end.worker.id) for end in ends if not end.worker.is_unheard]
    return *releases, *forgets


def write_off(
    job: JobSnapshot, workers: Collection[str], *, reason: JobReason, why: str
) -> Instructions:
    """They will never run, and their job goes on without them; an event tells of the first."""
    ends = [WorkerEnd(worker=worker) for worker in job.members if worker.id in workers]
    kind = EventKind.WORKER_NOT_STARTED
    is_news = not _is_on_record(job, NEVER_RAN)
    return tuple(
        ReleaseWorker(
            worker=end.worker.id,
            failing=Failing.CANNOT_START,
            gone_at=job.context.now,
            error=why,
            count=CountEnding(
                tell=Tell(
                    kind=kind,
                    reason=reason,
                    message=not_started(end.worker.id, why),
                    data=_data(end, job),
                )
            )
            if is_news and end is ends[0]
            else None,
        )
        for end in ends
    )


def _has_ended(worker: WorkerSnapshot, job: JobSnapshot) -> bool:
    if worker.process is not None:
        return not worker.is_there
    if worker.is_unheard:
        return job.counts_as_lost(worker.node)
    if not worker.is_missing:
        return False  # started in this very tick
    is_to_be_started = job.is_active and worker.id in job.wanted
    return not (is_to_be_started and worker.phase is WorkerPhase.STARTING)


def _release(end: WorkerEnd, before: Sequence[WorkerEnd], job: JobSnapshot) -> ReleaseWorker:
    process = end.worker.process
    return ReleaseWorker(
        worker=end.worker.id,
        exit_code=end.exit_code,
        failing=end.failing or "",
        gone_at=process.ended_at if process and process.ended_at else job.context.now,
        error=end.worker.error or end.error,
        last_lines=last_words.kept(end.log) if end.ending is WorkerEnding.FAILED else (),
        count=_count(end, before, job) if end.worker.id in job.wanted else None,
    )


def _count(end: WorkerEnd, before: Sequence[WorkerEnd], job: JobSnapshot) -> CountEnding | None:
    """Failures of one revision count as one: what breaks one worker often breaks them all."""
    lived_at = None if job.is_hot else end.lived_at
    if end.ending is WorkerEnding.LOST:
        reason = JobReason.OUT_OF_MEMORY if end.ran_out_of_memory else JobReason.NODE_LOST
        return CountEnding(losses=1, lived_at=lived_at, tell=_tell(end, reason, job))
    if end.ending is WorkerEnding.FAILED:
        if _is_counted(job, before, {WorkerEnding.FAILED, WorkerEnding.LOST}):
            return CountEnding(lived_at=lived_at)
        tell = _tell(end, JobReason.WORKER_FAILED, job)
        return CountEnding(failures=1, lived_at=lived_at, tell=tell)
    if end.failing is None or end.ending not in NEVER_RAN:
        return None
    if _is_counted(job, before, NEVER_RAN):
        return None
    return CountEnding(tell=_tell(end, JobReason(end.failing), job))


def _is_counted(
    job: JobSnapshot, before: Sequence[WorkerEnd], endings: Collection[WorkerEnding]
) -> bool:
    """True if another worker of this revision has ended in one of these ways, and was counted."""
    wanted = (end for end in before if end.worker.id in job.wanted)
    return any(end.ending in endings for end in wanted) or _is_on_record(job, endings)


def _is_on_record(job: JobSnapshot, endings: Collection[WorkerEnding]) -> bool:
    counted = (worker for worker in job.workers if worker.counted_revision == job.revision)
    return any(worker.ending in endings for worker in counted)


def _tell(end: WorkerEnd, reason: JobReason, job: JobSnapshot) -> Tell:
    return Tell(
        kind=_KIND_OF[end.ending],
        reason=reason,
        message=sentence(end, job),
        data=_data(end, job),
    )


def _data(end: WorkerEnd, job: JobSnapshot) -> dict[str, object]:
    return {
        "worker": end.worker.id,
        "exit_code": end.exit_code,
        "attempt": job.attempt,
        "revision": job.revision,
        "log": list(last_words.kept(end.log)),
    }
