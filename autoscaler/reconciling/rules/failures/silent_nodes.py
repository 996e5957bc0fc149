"""What becomes of a job with workers on a node that does not answer?

Nothing at first: they may well train on, and the node may come back. After `node_lost_after` they
count as lost (`release`): from then on the job is meant to go on without them. If its coordinator
still hears them, it lets them go as in any rescale, which loses nothing; if it does not, it has
gone on without them long since.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.instructions import NOTHING, Instructions, Reassign, RecordNotice, Tell
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.words import counted, listed, sentence_case, silence_of
from autoscaler.reconciling.worker_snapshot import (
    WorkerSnapshot,
    ids,
)


def warn_of_silent_nodes(job: JobSnapshot) -> Instructions:
    """An event of each job that is on the node, once for each silence that lasts."""
    unheard = [worker for worker in job.live if worker.is_unheard]
    by_node = [
        [worker for worker in unheard if worker.node.name == name]
        for name in dict.fromkeys(worker.node.name for worker in unheard)
    ]
    news = [workers for workers in by_node if _is_news(job, workers)]
    if not news:
        return NOTHING
    known = tuple(worker.id for workers in news for worker in workers)
    return *(_warning(job, workers) for workers in news), RecordNotice(silence_of=known)


def leave_the_lost_behind(job: JobSnapshot) -> Instructions:
    """The newest generation has workers that count as lost: go on without them."""
    newest = job.generation
    if newest is None or newest.ended_at is not None:
        return NOTHING
    lost = [worker for worker in job.trained if _counts_as_lost(worker)]
    if not lost or not job.staying:
        return NOTHING
    message = (
        f"Goes on with {counted(len(job.staying), 'worker')} without {listed(ids(lost))}:"
        f" {silence_of(lost[0].node)}."
    )
    return (Reassign(workers=tuple(ids(job.staying)), message=message, begins_rescale=True),)


def _counts_as_lost(worker: WorkerSnapshot) -> bool:
    return worker.is_gone and worker.is_unheard and worker.exit_code is None


def _is_news(job: JobSnapshot, workers: Sequence[WorkerSnapshot]) -> bool:
    since = workers[0].node.silent_since
    if since is None or job.seconds_since(since) < job.limits.silence_told_after:
        return False
    notices = [worker.silence_notice_at for worker in workers]
    return not any(notice is not None and notice >= since for notice in notices)


def _warning(job: JobSnapshot, workers: Sequence[WorkerSnapshot]) -> Tell:
    node = workers[0].node
    said = sentence_case(silence_of(node))
    return Tell(
        kind=EventKind.NODE_SILENT,
        reason=JobReason.NODE_LOST,
        message=(
            f"{said}; {listed(ids(workers))} may train on there. After"
            f" {job.limits.node_lost_after:.0f} s of silence what runs there counts as lost;"
            " nothing new is placed on it."
        ),
        data={
            "node": node.name,
            "since": node.silent_since.timestamp() if node.silent_since else 0.0,
        },
    )
