"""Has the job come to an end, or must it start again? Judged by how its workers ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, TypedDict

from cluster.worker_host import Failing

from autoscaler.control_loop import signs_of_life
from autoscaler.control_loop.endings import (
    AT_THE_END,
    NEVER_RAN,
    Ending,
    cannot_run_as_it_stands,
    described,
    headline,
    killed_for_memory,
)
from autoscaler.control_loop.job_view import JobView, WorkerView, ids
from autoscaler.control_loop.memory_limits import memory_limit
from autoscaler.control_loop.names import listed
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.lifecycle import ACTIVE, State
from jobs.models import Event, Job
from jobs.transitions import move

MOST_LOSSES_IN_A_ROW: Final = 5


def settle(view: JobView, shell: Shell) -> bool:
    """Bring a job to its end when its workers say so; True when it was brought on its way."""
    if not view.members or view.is_between_sets:
        return False
    if view.state is State.STOPPING:
        return _finished_after_all(view, shell)
    if not view.is_active:
        return False
    return (
        _cannot_run(view, shell)
        or _would_fail_again(view, shell)
        or _failed_too_often(view, shell)
        or _completed(view, shell)
        or _must_start_again(view, shell)
    )


def stop(
    view: JobView,
    shell: Shell,
    *,
    ends_as: State,
    reason: JobReason,
    message: str,
    data: dict[str, Any] | None = None,
    changes: dict[str, Any] | None = None,
) -> bool:
    """Let the job's workers end; it becomes `ends_as` once they have."""
    with shell.changing(view.id):
        return move(
            view.id,
            ACTIVE,
            State.STOPPING,
            reason=reason,
            message=message,
            data=data,
            changes={"ends_as": ends_as, **(changes or {})},
        )


def start_again(
    view: JobView,
    shell: Shell,
    *,
    reason: JobReason,
    why: str,
    data: dict[str, Any] | None = None,
    changes: dict[str, Any] | None = None,
) -> bool:
    """Stop what is left and queue the job for its next attempt, later after every failure."""
    limits, next_attempt = shell.limits, view.job.attempt + 1
    delay = min(2.0 ** max(view.job.failures - 1, 0), limits.longest_back_off)
    return stop(
        view,
        shell,
        ends_as=State.QUEUED,
        reason=reason,
        message=f"{why} Attempt {next_attempt} starts in {delay:.0f} s.",
        data=data,
        changes={
            "attempt": next_attempt,
            "not_before": shell.now + timedelta(seconds=delay),
            **(changes or {}),
        },
    )


def count_as_failure(
    view: JobView, shell: Shell, *, reason: JobReason, why: str, remedy: str
) -> bool:
    """Start again, as often as after a failure of the job's own code; then it failed for good."""
    counted = {"failures": view.job.failures + 1}
    if counted["failures"] <= view.spec.retry.max_restarts:
        return start_again(view, shell, reason=reason, why=why, changes=counted)
    message = f"{why} {remedy}"
    return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message, changes=counted)


def _cannot_run(view: JobView, shell: Shell) -> bool:
    broken = next((w for w in view.members if w.ending is Ending.CANNOT_RUN), None)
    if broken is None:
        return False
    said = headline(broken.row.error).removeprefix("concertina: ") or described(
        broken.row.exit_code
    )
    message = f"The command cannot run: {said}. Correct `command` or `workdir` and submit again."
    return stop(
        view, shell, ends_as=State.FAILED, reason=JobReason.COMMAND_NOT_FOUND, message=message
    )


def _would_fail_again(view: JobView, shell: Shell) -> bool:
    """A job that never got anywhere, and whose script says itself that it cannot run as it stands.

    Of a script that reports nothing, a long run tells that it got somewhere.
    """
    ended_badly = [w for w in view.members if w.ending is Ending.FAILED]
    if view.job.samples or view.job.progress_at is not None or not ended_badly:
        return False
    if not (_all_ended(view.members) or _need_each_other(view, ended_badly)):
        return False
    worker = ended_badly[0].row
    why = cannot_run_as_it_stands(worker.exit_code, worker.error)
    if not why:
        return False
    message = f"{why} It would fail in the same way again, so it is not retried."
    data = _log_of(_last_failure(view))
    return stop(
        view, shell, ends_as=State.FAILED, reason=JobReason.JOB_FAILED, message=message, data=data
    )


def _failed_too_often(view: JobView, shell: Shell) -> bool:
    most = view.spec.retry.max_restarts
    if view.job.failures <= most:
        return False
    last = _last_failure(view)
    restarts = f"{most} restart{'s' if most != 1 else ''}"
    message = f"Failed after {restarts}. {last.message if last else ''}".strip()
    return stop(
        view,
        shell,
        ends_as=State.FAILED,
        reason=JobReason.JOB_FAILED,
        message=message,
        data=_log_of(last),
    )


def _last_failure(view: JobView) -> Event | None:
    return Event.objects.filter(job_id=view.id, kind=EventKind.WORKER_FAILED).order_by("id").last()


def _log_of(failure: Event | None) -> dict[str, Any]:
    """The last lines of the worker that failed, for the event of what follows from it."""
    return {"log": failure.data.get("log", [])} if failure else {}


def _completed(view: JobView, shell: Shell) -> bool:
    """Hot: whoever trained to the end ended well. Else: all did.

    Newcomers that never trained have no say: the training may end before they are ready.
    """
    trained = (view.is_hot and view.trained) or view.members
    if not _all_ended(trained):
        return False
    endings = {worker.ending for worker in trained}
    is_lost_excused = view.is_hot and bool(endings & AT_THE_END)
    if not (endings - ({Ending.LOST} if is_lost_excused else set()) <= AT_THE_END):
        return False
    early = [worker for worker in trained if worker.ending is Ending.ENDED_EARLY]
    if early:
        return stop(view, shell, **_early_end(view, early[0]))
    count = len(trained)
    message = f"Ran to its end on {count} worker{'s' if count != 1 else ''}."
    return stop(view, shell, ends_as=State.COMPLETED, reason=JobReason.COMPLETED, message=message)


def _early_end(view: JobView, worker: WorkerView) -> _Outcome:
    """What becomes of a job whose script ended before its training was through."""
    said = headline(worker.row.error).removeprefix("concertina: ")
    message = f"{said[:1].upper()}{said[1:]}" or "The script ended before its training was through."
    if view.spec.early_end == "completed":
        return _Outcome(ends_as=State.COMPLETED, reason=JobReason.ENDED_EARLY, message=message)
    advice = "If any end will do, say `early_end: completed` in the job spec."
    return _Outcome(
        ends_as=State.FAILED, reason=JobReason.ENDED_EARLY, message=f"{message} {advice}"
    )


class _Outcome(TypedDict):
    ends_as: State
    reason: JobReason
    message: str


def _finished_after_all(view: JobView, shell: Shell) -> bool:
    """Asked to pause, but all its workers ran to the end first: nothing is left to resume."""
    if not view.is_hot or view.job.ends_as not in {State.PAUSED, State.QUEUED}:
        return False
    if not {worker.ending for worker in view.members} <= AT_THE_END:
        return False
    early = [worker for worker in view.members if worker.ending is Ending.ENDED_EARLY]
    outcome = _early_end(view, early[0]) if early else _ENDED_BEFORE_IT_PAUSED
    with shell.changing(view.id):
        changed = Job.objects.filter(pk=view.id, state=State.STOPPING).update(**outcome)
    return bool(changed)


_ENDED_BEFORE_IT_PAUSED: Final = _Outcome(
    ends_as=State.COMPLETED, reason=JobReason.COMPLETED, message="Ran to its end before it paused."
)


def _must_start_again(view: JobView, shell: Shell) -> bool:
    """No worker is left, or those left cannot go on without the others."""
    bad = [w for w in view.members if w.ending not in {None, *AT_THE_END, *NEVER_RAN}]
    if not bad or not (_all_ended(view.members) or _need_each_other(view, bad)):
        return False
    failed = [worker for worker in bad if worker.ending is Ending.FAILED]
    if failed and not any(worker.ending is Ending.LOST for worker in bad):
        said = headline(failed[0].row.error)
        why = f"Attempt {view.job.attempt} failed{f': {said}' if said else ''}".rstrip(".") + "."
        data = _log_of(_last_failure(view))
        return start_again(view, shell, reason=JobReason.RESTARTING, why=why, data=data)
    return _recover_from_loss(view, bad, shell)


def _all_ended(workers: tuple[WorkerView, ...]) -> bool:
    return all(worker.is_gone for worker in workers)


def _need_each_other(view: JobView, bad: list[WorkerView]) -> bool:
    """Without a coordinator always; with one while the first generation has not begun."""
    if not view.is_hot:
        return True
    return view.state is State.STARTING and any(w.ending is Ending.FAILED for w in bad)


def _recover_from_loss(view: JobView, bad: list[WorkerView], shell: Shell) -> bool:
    """Start again at once, as the same attempt; give up when that never gets anywhere."""
    reason, sentence = _loss(view, bad)
    with shell.changing(view.id) as job:
        in_a_row = signs_of_life.losses_in_a_row(job, now=shell.now)
        counted = {"losses_in_a_row": in_a_row, "lost_at": shell.now}
        events.record(
            job_id=view.id,
            kind=EventKind.ALL_WORKERS_LOST,
            reason=reason,
            message=f"{sentence} No other worker could go on.",
            data={"workers": ids(bad), "in_a_row": in_a_row},
        )
        if in_a_row >= MOST_LOSSES_IN_A_ROW:
            return _give_up_after_losses(view, bad, shell, counted=counted)
        delay = timedelta(seconds=2.0 ** (in_a_row - 1) if in_a_row > 1 else 0.0)
        return stop(
            view,
            shell,
            ends_as=State.QUEUED,
            reason=reason,
            message=f"{sentence} Starts again from the newest checkpoint.",
            changes={"not_before": shell.now + delay, **counted},
        )


def _give_up_after_losses(
    view: JobView, bad: list[WorkerView], shell: Shell, *, counted: dict[str, Any]
) -> bool:
    reason, sentence = _loss(view, bad)
    losses = counted["losses_in_a_row"]
    message = f"All workers were lost {losses} times in a row without a sign of life between"
    if reason is JobReason.OUT_OF_MEMORY:
        message = f"{message}. {sentence}"
    else:
        reason = JobReason.WORKERS_LOST
        ending = described(bad[0].row.exit_code)
        message = f"{message}; last {listed(ids(bad))} with {ending}. Is there enough memory?"
    return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message, changes=counted)


def _loss(view: JobView, bad: list[WorkerView]) -> tuple[JobReason, str]:
    """Its reason, and a sentence: the kernel's, if it killed one of them for its memory."""
    killed = next((w for w in bad if w.row.failing == Failing.OUT_OF_MEMORY), None)
    if killed is None:
        return JobReason.NODE_LOST, f"{listed(ids(bad))} ended from outside."
    memory = memory_limit(killed.row, view.spec)
    return JobReason.OUT_OF_MEMORY, killed_for_memory(killed.id, memory)
