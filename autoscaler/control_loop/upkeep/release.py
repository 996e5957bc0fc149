"""Which workers have ended? Their GPUs become free, and their ending is counted exactly once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from cluster.worker_host import Failing, LogLine
from django.db.models import F
from django.db.models.functions import Greatest

from autoscaler.control_loop import accounting, last_words, signs_of_life
from autoscaler.control_loop.endings import (
    NEVER_RAN,
    Ending,
    described,
    ending_of,
    killed_for_memory,
)
from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.memory_limits import memory_limit
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.silence import told
from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import ExitCode
from jobs import events
from jobs.lifecycle import ACTIVE
from jobs.models import Event, GpuClaim, Job, Worker
from jobs.spec import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How one worker ended."""

    worker: WorkerView
    spec: JobSpec  # of its job
    log: tuple[LogLine, ...]  # its last lines

    @property
    def exit_code(self) -> int | None:
        return self.worker.process.exit_code if self.worker.process else None

    @property
    def failing(self) -> Failing | None:
        return self.worker.process.failing if self.worker.process else None

    @property
    def ending(self) -> Ending:
        return ending_of(self.exit_code, self.failing or "")

    @property
    def ran_out_of_memory(self) -> bool:
        """The kernel killed it, or a part of it that it could not do without."""
        return self.failing is Failing.OUT_OF_MEMORY and self.ending is Ending.LOST

    @property
    def error(self) -> str:
        """What to keep of it on the worker."""
        note = self.worker.process.note if self.worker.process else ""
        if self.ending is Ending.ENDED_EARLY:
            return last_words.ours(self.log)
        return note if self.ending in NEVER_RAN else last_words.telling(self.log)

    @property
    def sentence(self) -> str:
        if self.worker.is_unheard:
            return f"{self.worker.id} counts as lost: {told(self.worker.node)}."
        if self.ending in NEVER_RAN:
            return _not_started(self.worker, self.error)
        if self.ran_out_of_memory:
            return killed_for_memory(self.worker.id, memory_limit(self.worker.row, self.spec))
        said = f": {self.error}" if self.error else "."
        return f"{self.worker.id} ended with {described(self.exit_code)}{said}"


def _not_started(worker: WorkerView, why: str) -> str:
    return f"{worker.id} could not be started: {why}"


def release_ended_workers(view: JobView, shell: Shell) -> bool:
    """Mark workers whose process has ended, is nowhere to be found, or counts as lost, as gone."""
    ended = [worker for worker in view.live if _has_ended(worker, view, shell)]
    for worker in ended:
        end = _End(worker=worker, spec=view.spec, log=())
        if end.ending in _TELLING and not worker.is_unheard:
            lines = shell.processes.last_lines(worker.id, last_words.LINES_READ, job_id=view.id)
            end = replace(end, log=lines)
        _release(view, end, shell)
        if not worker.is_unheard:
            shell.processes.forget(worker.id)
    return bool(ended)


_TELLING: Final = {Ending.FAILED, Ending.CANNOT_RUN, Ending.LOST, Ending.ENDED_EARLY}


def write_off(
    workers: Iterable[WorkerView], view: JobView, shell: Shell, *, reason: JobReason, why: str
) -> None:
    """They will never be started, and their job goes on without them."""
    for worker in workers:
        with shell.changing(view.id) as job:
            how = {"failing": Failing.CANNOT_START, "gone_at": shell.now, "error": why}
            is_mine = _mark_gone(worker, job, shell, **how)
            if is_mine and not _was_counted(job, EventKind.WORKER_NOT_STARTED):
                end = _End(worker=worker, spec=view.spec, log=())
                _record(
                    job,
                    EventKind.WORKER_NOT_STARTED,
                    reason,
                    end,
                    sentence=_not_started(worker, why),
                )


def _has_ended(worker: WorkerView, view: JobView, shell: Shell) -> bool:
    if worker.process is not None:
        return not worker.is_there
    if worker.is_unheard:
        return shell.is_lost(worker.node)
    if not shell.processes.is_missing(worker.id):
        return False  # started in this very tick
    is_to_be_started = view.is_active and worker.id in view.wanted
    return not (is_to_be_started and worker.row.phase == Worker.Phase.STARTING)


def _release(view: JobView, end: _End, shell: Shell) -> None:
    process = end.worker.process
    with shell.changing(view.id) as job:
        is_mine = _mark_gone(
            end.worker,
            job,
            shell,
            exit_code=end.exit_code,
            failing=end.failing or "",
            gone_at=process.ended_at if process and process.ended_at else shell.now,
            error=end.worker.row.error or end.error,
        )
        if is_mine and job.state in ACTIVE and end.worker.id in view.wanted:
            _count(job, end)


def _mark_gone(worker: WorkerView, job: Job, shell: Shell, **how: Any) -> bool:
    """With its GPUs free and their time counted; False: somebody else got there first.

    Later ticks count only jobs that have workers, so the time of the last one is counted here.
    """
    held = Worker.objects.filter(pk=worker.id).exclude(phase=Worker.Phase.GONE)
    is_mine = held.update(phase=Worker.Phase.GONE, **how)
    GpuClaim.objects.filter(worker_id=worker.id).delete()
    if is_mine:
        accounting.update_gpu_seconds([job.id], shell.now)
    return bool(is_mine)


def _count(job: Job, end: _End) -> None:
    """Failures of one revision count as one: what breaks one worker often breaks them all."""
    ending = end.ending
    if ending in {Ending.LOST, Ending.FAILED}:
        _note_life(job, end)
    if ending is Ending.LOST:
        Job.objects.filter(pk=job.id).update(losses=F("losses") + 1)
        reason = JobReason.OUT_OF_MEMORY if end.ran_out_of_memory else JobReason.NODE_LOST
        _record(job, EventKind.WORKER_LOST, reason, end)
    elif ending is Ending.FAILED and not _was_counted(
        job, EventKind.WORKER_FAILED, EventKind.WORKER_LOST
    ):
        Job.objects.filter(pk=job.id).update(failures=F("failures") + 1)
        _record(job, EventKind.WORKER_FAILED, JobReason.WORKER_FAILED, end)
    elif (
        end.failing and ending in NEVER_RAN and not _was_counted(job, EventKind.WORKER_NOT_STARTED)
    ):
        _record(job, EventKind.WORKER_NOT_STARTED, JobReason(end.failing), end)


def _note_life(job: Job, end: _End) -> None:
    """Of a script that reports nothing. One that could not reach its coordinator only waited.

    The last words of one that failed tell how it failed: only its run counts.
    """
    process = end.worker.process
    if job.mode != Job.Mode.RESTART or process is None or process.ended_at is None:
        return
    if end.exit_code == ExitCode.COORDINATOR_LOST:
        return
    wrote = end.log[-1].at if end.log and end.ending is Ending.LOST else None
    lived = signs_of_life.of_run(began=process.started_at, ended=process.ended_at, wrote=wrote)
    if lived is not None:
        Job.objects.filter(pk=job.id).update(progress_at=Greatest("progress_at", lived))


def _was_counted(job: Job, *kinds: EventKind) -> bool:
    """Whether this revision has a failure, or a loss that makes the other workers fail."""
    return Event.objects.filter(
        job=job,
        kind__in=kinds,
        data__revision=job.revision,
        data__attempt=job.attempt,
    ).exists()


def _record(job: Job, kind: EventKind, reason: JobReason, end: _End, *, sentence: str = "") -> None:
    data = {
        "worker": end.worker.id,
        "exit_code": end.exit_code,
        "attempt": job.attempt,
        "revision": job.revision,
        "log": list(last_words.kept(end.log)),
    }
    message = sentence or end.sentence
    events.record(job_id=job.id, kind=kind, reason=reason, message=message, data=data)
