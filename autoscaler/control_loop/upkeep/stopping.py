"""Who has to be asked to end, and when is a job at its end?

A hot job that pauses is told by its coordinator: its workers write a checkpoint and leave on their
own. Everybody else gets SIGTERM, and SIGKILL after the grace period: the job's own, or what
`reclaiming` leaves of it; next to none if it writes more than it may.
"""

from __future__ import annotations

from typing import Final

from cluster.worker_host import ProcessPhase
from django.db.models import F

from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.upkeep import reclaiming
from autoscaler.control_loop.upkeep.disk import may_not_write_on
from autoscaler.control_loop.upkeep.preparing import seconds_since_ready
from autoscaler.job_vocabulary import StoredReason
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import State
from jobs.models import Worker
from jobs.transitions import move

_LEAVE_ON_THEIR_OWN: Final = {State.PAUSED, State.QUEUED}


def stop_workers(view: JobView, shell: Shell) -> bool:
    """Ask those to end that should have; repeated every tick, which does no harm."""
    for worker in view.live:
        grace_seconds = _grace(worker, view, shell)
        if worker.is_there and grace_seconds is not None:
            shell.processes.stop(worker.id, grace_seconds=grace_seconds)
    return False


def finish(view: JobView, shell: Shell) -> bool:
    """All workers have gone, and the coordinator has said its last word: the job is at its end."""
    if view.state is not State.STOPPING or view.live:
        return False
    if view.coordinator is not None:
        return _see_off_coordinator(view, shell)
    with shell.changing(view.id) as job:
        return move(
            view.id,
            {State.STOPPING},
            State(job.ends_as),
            reason=StoredReason(job.reason),
            message=job.message,
            changes={
                "ends_as": "",
                "coordinator_port": None,
                "coordinator_node": "",
                "coordinator_term": F("coordinator_term") + 1,
                "samples_per_second": 0.0,
            },
        )


def _grace(worker: WorkerView, view: JobView, shell: Shell) -> float | None:
    """Seconds to give it; None: it is not to be asked, now."""
    own = view.spec.elastic.grace_period
    if view.state is State.STOPPING:
        return _grace_of_stopping(view, shell, own)
    if worker.id in view.wanted:
        return None
    if not view.is_hot:
        return reclaiming.grace_seconds(own, view, shell)
    if worker.row.phase == Worker.Phase.STARTING or not view.is_active:
        return shell.limits.kill_grace
    is_overdue = view.assignment is not None and (
        seconds_since_ready(view, view.assignment.at, shell) > _leaving_seconds(view)
        or reclaiming.is_due(view, shell)
    )
    return shell.limits.kill_grace if is_overdue else None


def _leaving_seconds(view: JobView) -> float:
    """In the middle of a rescale a leaver still trains, until all joiners are ready."""
    own = view.spec.elastic.grace_period
    if view.state is State.RUNNING:
        return own
    return own + 2 * view.spec.elastic.registration_timeout


def _grace_of_stopping(view: JobView, shell: Shell, own: float) -> float | None:
    if may_not_write_on(view, shell):
        return shell.limits.kill_grace
    is_asked = view.is_hot and view.job.ends_as in _LEAVE_ON_THEIR_OWN
    if not is_asked or not any(worker.has_registered for worker in view.live):
        return reclaiming.grace_seconds(own, view, shell)
    is_overdue = shell.seconds_since(view.state_since) > own or reclaiming.is_due(view, shell)
    return shell.limits.kill_grace if is_overdue else None


def _see_off_coordinator(view: JobView, shell: Shell) -> bool:
    coordinator = view.coordinator
    assert coordinator is not None  # noqa: S101 - the caller looked
    process_id = coordinator.labels.process_id
    is_overdue = _has_had_its_time(view, shell)
    if coordinator.phase is ProcessPhase.EXITED:
        has_said_all = coordinator.exit_code == ExitCode.COMPLETED
        if has_said_all or is_overdue:
            shell.processes.forget(process_id)
        return has_said_all or is_overdue  # else `launching` starts it again, to say the rest
    if is_overdue:
        shell.processes.stop(process_id, grace_seconds=shell.limits.kill_grace)
    return False


def _has_had_its_time(view: JobView, shell: Shell) -> bool:
    """One that spoke, and not since the last worker left, may be cut off and have more to tell.

    If the job starts again, the next coordinator tells it.
    """
    gone = [worker.row.gone_at for worker in view.workers if worker.row.gone_at]
    alone_since = max([*gone, view.state_since])
    seen_at = view.job.coordinator_seen_at
    is_cut_off = seen_at is not None and seen_at < alone_since
    is_last = view.job.ends_as != State.QUEUED
    limits = shell.limits
    patience = limits.cut_off_farewell if is_cut_off and is_last else limits.coordinator_farewell
    return shell.seconds_since(alone_since) > patience
