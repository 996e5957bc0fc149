"""Has the job come to an end, or must it start again? Judged by how its workers ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.endings import (
    AT_THE_END,
    NEVER_RAN,
    WorkerEnding,
    cannot_run_as_it_stands,
    described,
    headline,
)
from autoscaler.reconciling.instructions import NOTHING, EndAs, Instructions, Stop
from autoscaler.reconciling.questions import KeptLines
from autoscaler.reconciling.rules.ending.stops import fail, start_again
from autoscaler.reconciling.rules.failures.losses import recover_from_loss
from autoscaler.reconciling.rules.failures.worker_end import ended_with
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import counted, sentence_case
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot
from jobs.lifecycle import JobState


def settle(job: JobSnapshot) -> Instructions:
    """Bring a job to its end, or let it start again, when its workers say so."""
    if not job.members or job.is_between_sets:
        return NOTHING
    return (
        _cannot_run(job)
        or _would_fail_again(job)
        or _failed_too_often(job)
        or _ran_to_its_end(job)
        or _must_start_again(job)
    )


def finish_after_all(job: JobSnapshot) -> Instructions:
    """It is to pause, but all its workers ran to the end first: nothing is left to resume."""
    if (
        not job.members
        or job.is_between_sets
        or job.ends_as not in {JobState.PAUSED, JobState.QUEUED}
    ):
        return NOTHING
    if not {worker.ending for worker in job.members} <= AT_THE_END:
        return NOTHING
    stop = _early_end(job, job.members) or _ENDED_BEFORE_IT_PAUSED
    return (EndAs(ends_as=stop.ends_as, reason=stop.reason, message=stop.message),)


_ENDED_BEFORE_IT_PAUSED: Final = Stop(
    ends_as=JobState.COMPLETED,
    reason=JobReason.COMPLETED,
    message="Ran to its end before it paused.",
)


def _cannot_run(job: JobSnapshot) -> Instructions:
    broken = next((w for w in job.members if w.ending is WorkerEnding.CANNOT_RUN), None)
    if broken is None:
        return NOTHING
    said = headline(broken.error).removeprefix("concertina: ") or described(broken.exit_code)
    message = f"The command cannot run: {said}. Correct `command` or `workdir` and submit again."
    return (fail(JobReason.COMMAND_NOT_FOUND, message),)


def _would_fail_again(job: JobSnapshot) -> Instructions:
    """A job that never got anywhere, and whose script says itself that it cannot run as it stands.

    Of a script that reports nothing, a long run tells that it got somewhere.
    """
    failed = [worker for worker in job.members if worker.ending is WorkerEnding.FAILED]
    if job.life.samples or job.life.progress_at is not None or not failed:
        return NOTHING
    if not (_all_ended(job.members) or _need_each_other(job, failed)):
        return NOTHING
    why = cannot_run_as_it_stands(failed[0].exit_code, failed[0].error)
    if not why:
        return NOTHING
    message = f"{why} It would fail in the same way again, so it is not retried."
    return (fail(JobReason.JOB_FAILED, message, data=_log_of(job)),)


def _failed_too_often(job: JobSnapshot) -> Instructions:
    most = job.spec.retry.max_restarts
    if job.failures <= most:
        return NOTHING
    failed = _failed_worker(job)
    said = ended_with(failed.id, failed.exit_code, headline(failed.error)) if failed else ""
    message = f"Failed after {counted(most, 'restart')}. {said}".strip()
    return (fail(JobReason.JOB_FAILED, message, data=_log_of(job)),)


def _failed_worker(job: JobSnapshot) -> WorkerSnapshot | None:
    """The one whose failure counts: others may have failed because of it. None: none did."""
    failed = [worker for worker in job.members if worker.ending is WorkerEnding.FAILED]
    return min(failed, key=lambda worker: worker.counted_revision is None, default=None)


def _log_of(job: JobSnapshot) -> dict[str, object]:
    """The last lines of the worker that failed, for the event of what follows from it."""
    failed = _failed_worker(job)
    return {"log": list(job.answer_to(KeptLines(failed.id)))} if failed else {}


def _ran_to_its_end(job: JobSnapshot) -> Instructions:
    """Hot: whoever trained to the end ended well. Else: all did.

    Newcomers that never trained have no say: the training may end before they are ready.
    """
    trained = (job.is_hot and job.trained) or job.members
    endings = {worker.ending for worker in trained}
    is_loss_excused = job.is_hot and bool(endings & AT_THE_END)
    if not (endings - ({WorkerEnding.LOST} if is_loss_excused else set()) <= AT_THE_END):
        return NOTHING
    message = f"Ran to its end on {counted(len(trained), 'worker')}."
    completed = Stop(ends_as=JobState.COMPLETED, reason=JobReason.COMPLETED, message=message)
    return (_early_end(job, trained) or completed,)


def _early_end(job: JobSnapshot, workers: Iterable[WorkerSnapshot]) -> Stop | None:
    """Return how a job stops whose script ended before its training was through; None: none."""
    early = next((worker for worker in workers if worker.ending is WorkerEnding.ENDED_EARLY), None)
    if early is None:
        return None
    said = headline(early.error).removeprefix("concertina: ")
    message = sentence_case(said) or "The script ended before its training was complete."
    if job.spec.early_end == "completed":
        return Stop(ends_as=JobState.COMPLETED, reason=JobReason.ENDED_EARLY, message=message)
    advice = "If ending early is right for this job, set `early_end: completed` in the job spec."
    return fail(JobReason.ENDED_EARLY, f"{message} {advice}")


def _must_start_again(job: JobSnapshot) -> Instructions:
    """No worker is left, or those left cannot go on without the others."""
    bad = [w for w in job.members if w.ending not in {None, *AT_THE_END, *NEVER_RAN}]
    if not bad or not (_all_ended(job.members) or _need_each_other(job, bad)):
        return NOTHING
    failed = [worker for worker in bad if worker.ending is WorkerEnding.FAILED]
    if not failed or any(worker.ending is WorkerEnding.LOST for worker in bad):
        return recover_from_loss(job, bad)
    said = headline(failed[0].error)
    why = f"Attempt {job.attempt} failed{f': {said}' if said else ''}".rstrip(".") + "."
    return (start_again(job, reason=JobReason.RESTARTING, why=why, data=_log_of(job)),)


def _all_ended(workers: Iterable[WorkerSnapshot]) -> bool:
    return all(worker.is_gone for worker in workers)


def _need_each_other(job: JobSnapshot, bad: list[WorkerSnapshot]) -> bool:
    """They always do without a coordinator; with one, while the first generation has not begun."""
    if not job.is_hot:
        return True
    return job.state is JobState.STARTING and any(w.ending is WorkerEnding.FAILED for w in bad)
