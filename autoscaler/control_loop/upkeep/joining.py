"""Do all workers that should train arrive? Those that do not must not hold up the others.

Only for jobs with a coordinator. What it has not said for a while is unknown, not late: while the
service cannot be reached, nobody is dropped for lack of a report.
"""

from __future__ import annotations

from autoscaler.control_loop.assignments import go_on_with
from autoscaler.control_loop.endings import AT_THE_END, NEVER_RAN
from autoscaler.control_loop.job_view import JobView, WorkerView, ids
from autoscaler.control_loop.names import listed
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.slow_workers import called_back
from autoscaler.control_loop.upkeep import reclaiming
from autoscaler.control_loop.upkeep.outcome import count_as_failure, start_again, stop
from autoscaler.control_loop.upkeep.preparing import CHANGING, endless, seconds_since_ready
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.lifecycle import State
from jobs.models import Job, Worker


def go_on_without_the_gone(view: JobView, shell: Shell) -> bool:
    """A worker ended before the change it was part of was over: change without it.

    Unless it ran to its end, for then the others are about to do so too.
    """
    if not view.is_hot or view.state not in CHANGING or view.is_between_sets:
        return False
    gone = [worker for worker in view.members if worker.is_gone]
    if any(worker.ending in AT_THE_END for worker in gone):
        return False
    staying = [worker for worker in view.members if not worker.is_gone]
    if not gone or not staying:
        return False
    going_on = len(staying + called_back(view))
    refused = next((w for w in gone if w.ending in NEVER_RAN and w.row.error), None)
    why = f" ({refused.row.error.rstrip('.')})" if refused else ""
    message = f"{listed(ids(gone))} ended before it joined{why}; {going_on} go on."
    return _reduce(view, staying, shell, message=message)


def drop_late_joiners(view: JobView, shell: Shell) -> bool:
    """A worker that is not ready in time is dropped, if any other is ready."""
    if not view.is_hot or view.state not in CHANGING or not is_heard(view, shell):
        return False
    ready = [worker for worker in view.members if worker.has_registered]
    if not ready:
        return False
    late = [worker for worker in view.members if _is_late(worker, view, shell)]
    seconds = view.spec.elastic.registration_timeout
    too_late = f"was not ready within {seconds:.0f} s"
    coming = [worker for worker in view.members if not (worker.has_registered or worker.is_gone)]
    if coming and not late and reclaiming.is_due(view, shell):
        late, too_late = coming, "was not ready, and another team claims what it is guaranteed"
    if not late:
        return False
    going_on = len(ready + called_back(view))
    message = f"{listed(ids(late))} {too_late}; {going_on} go on."
    staying = [worker for worker in view.members if worker not in late]
    return _reduce(view, staying, shell, message=message)


def give_up_preparations(view: JobView, shell: Shell) -> bool:
    """What takes so long will never be ready: the others go on without it, or nobody does."""
    hopeless = endless(view, shell) if view.state in CHANGING else ()
    if not hopeless:
        return False
    names = {process.labels.process_id for process in hopeless}
    staying = [worker for worker in view.members if worker.id not in names]
    minutes = shell.limits.preparation / 60
    told = f"could not be made ready to run within {minutes:.0f} min: {hopeless[0].note}"
    if view.is_hot and any(worker.has_registered for worker in staying):
        late = [worker for worker in view.members if worker.id in names]
        return bool(late) and _reduce(view, staying, shell, message=f"{listed(ids(late))} {told}")
    message = f"{listed(sorted(names))} {told}. Submit again, or ask an admin what keeps it."
    return stop(
        view, shell, ends_as=State.FAILED, reason=JobReason.IMAGE_UNAVAILABLE, message=message
    )


def detect_mode(view: JobView, shell: Shell) -> bool:
    """A script that does not register in time is taken for one that knows nothing of us.

    Should it register later, that counts: its coordinator stays. One that did so in an earlier
    attempt has all the time it needs.
    """
    has_registered_before = view.job.mode == Job.Mode.HOT and view.generation is not None
    if has_registered_before or not view.is_hot or not view.is_starting_over or not view.live:
        return False
    if not all(_is_late(worker, view, shell) for worker in view.live):
        return False
    if not is_heard(view, shell):
        return _unheard_for_too_long(view, shell)
    seconds = view.spec.elastic.registration_timeout
    if view.spec.elastic.mode == "hot":
        message = (
            f"The script did not call `concertina_worker.init()` and `register` within"
            f" {seconds:.0f} s. Call them, raise `elastic.registration_timeout`, or use"
            f" `mode: restart`."
        )
        return stop(
            view, shell, ends_as=State.FAILED, reason=JobReason.NOT_REGISTERED, message=message
        )
    return _treat_as_restart(view, shell, seconds)


def kill_hung_workers(view: JobView, shell: Shell) -> bool:
    """A worker the others went on without, and which still runs, holds a GPU for nothing.

    At once if its coordinator says that it hangs. Else it may be about to end by itself.
    """
    if not view.is_hot:
        return False
    for worker in view.live:
        if worker.row.is_given_up and worker.is_running:
            shell.processes.stop(worker.id, grace_seconds=0.0)
    if view.state is not State.RUNNING:
        return False
    newest = view.generation
    if newest is None or newest.ended_at is not None:
        return False
    if shell.seconds_since(newest.began_at) < shell.limits.hung_worker:
        return False
    for worker in view.members:
        is_left_out = worker.id not in newest.worker_ids and worker.is_running
        if is_left_out and worker.row.phase == Worker.Phase.TRAINING:
            shell.processes.stop(worker.id, grace_seconds=0.0)
    return False


def give_up_stuck_changes(view: JobView, shell: Shell) -> bool:
    """Everybody is there and heard, and still nothing moves: start again from a checkpoint."""
    if not view.is_hot or view.state not in CHANGING or not is_heard(view, shell):
        return False
    if view.is_starting_over:
        return False  # nobody has registered yet: late, not stuck
    stuck_seconds = seconds_since_ready(view, view.state_since, shell)
    if stuck_seconds < shell.limits.stuck_change + _patience(view):
        return False
    why = f"Did not come out of `{view.state}` for {shell.limits.stuck_change:.0f} s."
    remedy = "All its workers were there and nothing moved: tell an admin."
    return count_as_failure(view, shell, reason=JobReason.STUCK, why=why, remedy=remedy)


def is_heard(view: JobView, shell: Shell) -> bool:
    """Whether its coordinator speaks: else what it would say is unknown."""
    return shell.seconds_since(view.job.coordinator_seen_at) < shell.limits.coordinator_silence


def _reduce(view: JobView, left: list[WorkerView], shell: Shell, *, message: str) -> bool:
    staying = left + called_back(view)
    with shell.changing(view.id):
        is_mine = go_on_with(view, staying, message=message)
        if is_mine:
            events.record(
                job_id=view.id,
                kind=EventKind.JOINER_DROPPED,
                reason=JobReason.NODE_LOST,
                message=message,
            )
    return is_mine


def _treat_as_restart(view: JobView, shell: Shell, seconds: float) -> bool:
    message = f"The script did not register within {seconds:.0f} s{_what_follows(view)}"
    with shell.changing(view.id):
        changed = Job.objects.filter(pk=view.id, mode=view.job.mode).update(mode=Job.Mode.RESTART)
        if changed:
            events.record(
                job_id=view.id,
                kind=EventKind.MODE_DETECTED,
                reason=JobReason.RESTART,
                message=message,
            )
    return bool(changed)


def _what_follows(view: JobView) -> str:
    if view.spec.elastic.mode == "fixed":
        return ": it keeps its number of workers, and has to write checkpoints itself."
    if view.job.group_seen_at is not None:
        return ": it is rescaled by restarting it, and has to resume from its own checkpoint."
    return (
        " and forms no process group: it keeps its number of workers, because more would each do"
        " the same work. If they share it all the same, submit it with `mode: restart`."
    )


def _unheard_for_too_long(view: JobView, shell: Shell) -> bool:
    if view.job.coordinator_seen_at and view.job.coordinator_seen_at > view.state_since:
        return False
    if shell.seconds_since(view.state_since) < shell.limits.coordinator_never_seen:
        return False
    why = "Its coordinator could not reach the service."
    return start_again(view, shell, reason=JobReason.COORDINATOR_SILENT, why=why)


def _is_late(worker: WorkerView, view: JobView, shell: Shell) -> bool:
    """Its time begins when it runs, and its coordinator does."""
    if worker.is_gone or worker.has_registered or _is_in_preparation(worker, view):
        return False
    processes = (worker.process, view.coordinator if view.is_starting_over else None)
    started = [process.started_at for process in processes if process]
    began = max([worker.row.created_at, *started])
    return shell.seconds_since(began) > view.spec.elastic.registration_timeout


def _is_in_preparation(worker: WorkerView, view: JobView) -> bool:
    return any(process in view.in_preparation for process in (worker.process, view.coordinator))


def _patience(view: JobView) -> float:
    return view.spec.elastic.registration_timeout + view.spec.elastic.grace_period
