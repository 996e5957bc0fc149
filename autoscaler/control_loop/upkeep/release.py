"""Which workers have ended? Their GPUs become free, and their ending is counted exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import F

from autoscaler.control_loop.endings import Ending, described, ending_of
from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.shell import Shell
from jobs import events
from jobs.lifecycle import ACTIVE
from jobs.models import Event, GpuClaim, Job, Worker

WORKER_FAILED: Final = "worker_failed"
WORKER_LOST: Final = "worker_lost"
_LOG_LINES: Final = 20  # kept with a failure: enough for a traceback
_LONGEST_LINE: Final = 500  # characters; guessed: what people read of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How one worker ended."""

    worker: WorkerView
    exit_code: int | None
    log: tuple[str, ...]

    @property
    def last_line(self) -> str:
        return next((line.strip() for line in reversed(self.log) if line.strip()), "")

    @property
    def sentence(self) -> str:
        said = f": {self.last_line}" if self.last_line else "."
        return f"{self.worker.id} ended with {described(self.exit_code)}{said}"


def release_ended_workers(view: JobView, shell: Shell) -> bool:
    """Mark workers whose process has ended, or is nowhere to be found, as gone."""
    ended = [worker for worker in view.live if _has_ended(worker, view, shell)]
    for worker in ended:
        exit_code = worker.process.exit_code if worker.process else None
        log = _last_lines(worker.id, shell) if ending_of(exit_code) in _TELLING else ()
        _release(view, _End(worker=worker, exit_code=exit_code, log=log), shell)
        shell.processes.forget(worker.id)
    return bool(ended)


_TELLING: Final = {Ending.FAILED, Ending.CANNOT_RUN, Ending.LOST}


def _has_ended(worker: WorkerView, view: JobView, shell: Shell) -> bool:
    if worker.process is not None:
        return not worker.is_running
    if not shell.processes.is_missing(worker.id):
        return False  # started in this very tick
    is_to_be_started = view.is_active and worker.id in view.wanted
    return not (is_to_be_started and worker.row.phase == Worker.Phase.STARTING)


def _last_lines(worker_id: str, shell: Shell) -> tuple[str, ...]:
    return tuple(_cut(line) for line in shell.processes.last_lines(worker_id, _LOG_LINES))


def _cut(line: str) -> str:
    """A progress bar may be one line of kilobytes."""
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _release(view: JobView, end: _End, shell: Shell) -> None:
    process = end.worker.process
    with shell.changing(view.id) as job:
        held = Worker.objects.filter(pk=end.worker.id).exclude(phase=Worker.Phase.GONE)
        is_mine = held.update(
            phase=Worker.Phase.GONE,
            exit_code=end.exit_code,
            gone_at=process.ended_at if process and process.ended_at else shell.now,
            error=end.worker.row.error or end.last_line,
        )
        GpuClaim.objects.filter(worker_id=end.worker.id).delete()
        if is_mine and job.state in ACTIVE and end.worker.id in view.wanted:
            _count(job, end)


def _count(job: Job, end: _End) -> None:
    """Failures of one revision count as one: what breaks one worker often breaks them all."""
    ending = ending_of(end.exit_code)
    if ending is Ending.LOST:
        Job.objects.filter(pk=job.id).update(losses=F("losses") + 1)
        _record(job, WORKER_LOST, "node_lost", end)
    elif ending is Ending.FAILED and not _was_counted(job):
        Job.objects.filter(pk=job.id).update(failures=F("failures") + 1)
        _record(job, WORKER_FAILED, WORKER_FAILED, end)


def _was_counted(job: Job) -> bool:
    """Whether this revision has a failure, or a loss that makes the other workers fail."""
    return Event.objects.filter(
        job=job,
        kind__in=(WORKER_FAILED, WORKER_LOST),
        data__revision=job.revision,
        data__attempt=job.attempt,
    ).exists()


def _record(job: Job, kind: str, reason: str, end: _End) -> None:
    data = {
        "worker": end.worker.id,
        "exit_code": end.exit_code,
        "attempt": job.attempt,
        "revision": job.revision,
        "log": list(end.log),
    }
    events.record(job_id=job.id, kind=kind, reason=reason, message=end.sentence, data=data)
