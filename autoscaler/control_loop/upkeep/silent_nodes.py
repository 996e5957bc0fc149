"""What becomes of a job with workers on a node that does not answer?

Nothing at first: they may well train on, and the node may come back. After `node_lost_after` they
count as lost (`release`): from then on the job is meant to go on without them. If its coordinator
still hears them, it lets them go as in any rescale, which loses nothing; if it does not, it has
gone on without them long since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autoscaler.control_loop import assignments
from autoscaler.control_loop.assignments import go_on_with
from autoscaler.control_loop.job_view import JobView, WorkerView, ids
from autoscaler.control_loop.names import listed
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.silence import told
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.lifecycle import State
from jobs.models import Event
from jobs.transitions import move


def warn_of_silent_nodes(view: JobView, shell: Shell) -> bool:
    """An event of each job that is on the node, once for each silence that lasts."""
    unheard = [worker for worker in view.live if worker.is_unheard]
    for name in dict.fromkeys(worker.node.name for worker in unheard):
        workers = [worker for worker in unheard if worker.node.name == name]
        since = workers[0].node.silent_since
        if shell.seconds_since(since) < shell.limits.silence_told_after:
            continue
        data = {"node": name, "since": since.timestamp() if since else 0.0}
        known = Event.objects.filter(job_id=view.id, kind=EventKind.NODE_SILENT)
        if not known.filter(data__contains=data).exists():
            _warn(view, workers, data, shell)
    return False


def leave_the_lost_behind(view: JobView, shell: Shell) -> bool:
    """The newest generation has workers that count as lost: go on without them."""
    newest = view.generation
    if not view.is_hot or view.state is not State.RUNNING or newest is None or newest.ended_at:
        return False
    lost = [w for w in view.members if _counts_as_lost(w) and w.id in newest.worker_ids]
    staying = [worker for worker in view.members if not worker.is_gone]
    if not lost or not staying:
        return False
    workers = f"{len(staying)} worker{'s' if len(staying) != 1 else ''}"
    message = f"Goes on with {workers} without {listed(ids(lost))}: {told(lost[0].node)}."
    try:
        return _assign(view, staying, message, shell)
    except assignments.NotNow:
        return False


def _counts_as_lost(worker: WorkerView) -> bool:
    return worker.is_gone and worker.is_unheard and worker.row.exit_code is None


def _assign(view: JobView, staying: list[WorkerView], message: str, shell: Shell) -> bool:
    with shell.changing(view.id):
        is_mine = move(
            view.id, {State.RUNNING}, State.RESCALING, reason=JobReason.NODE_LOST, message=message
        ) and go_on_with(view, staying, message=message)
        if not is_mine:
            raise assignments.NotNow
    return True


def _warn(
    view: JobView, workers: Sequence[WorkerView], data: Mapping[str, object], shell: Shell
) -> None:
    seconds = shell.limits.node_lost_after
    said = told(workers[0].node)
    message = (
        f"{said[0].upper()}{said[1:]}; {listed(ids(workers))} may train on there. After"
        f" {seconds:.0f} s of silence what runs there counts as lost; nothing new is placed on it."
    )
    with shell.changing(view.id):
        events.record(
            job_id=view.id,
            kind=EventKind.NODE_SILENT,
            reason=JobReason.NODE_LOST,
            message=message,
            data=data,
        )
