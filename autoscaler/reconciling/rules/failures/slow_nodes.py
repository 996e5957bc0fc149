"""Does one node produce straggler after straggler? Somebody should look at it: an alarm, once."""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.instructions import NOTHING, Instructions, RecordNotice, Tell
from autoscaler.reconciling.questions import NewlySlowNodes
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.worker_phase import WorkerPhase


def warn_of_slow_nodes(job: JobSnapshot) -> Instructions:
    """An event of the job that suffers from it, and a line for those who run the machines."""
    slow = [
        worker
        for worker in job.members
        if worker.is_straggler and worker.phase is WorkerPhase.TRAINING
    ]
    if not slow:
        return NOTHING
    news = job.answer_to(NewlySlowNodes(frozenset(worker.node.name for worker in slow)))
    if not news:
        return NOTHING
    known = tuple(worker.id for worker in slow if worker.node.name in news)
    return *(_warning(node) for node in sorted(news)), RecordNotice(slowness_of=known)


def _warning(node: str) -> Tell:
    return Tell(
        kind=EventKind.NODE_IS_SLOW,
        reason=JobReason.STRAGGLER,
        message=(
            f"Node {node} slows its workers down: several were found slow there within the hour."
            " No substitute is placed on it; drain it and look at it."
        ),
        data={"node": node},
        is_alarm=True,
    )
