"""Does one node produce straggler after straggler? Somebody should look at it: an alarm, once."""

from __future__ import annotations

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.instructions import NOTHING, Instructions, Tell
from autoscaler.reconciling.questions import NewlySlowNodes
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import WorkerPhase


def warn_of_slow_nodes(job: JobSnapshot) -> Instructions:
    """An event of the job that suffers from it, and a line for those who run the machines."""
    nodes = frozenset(
        worker.node.name
        for worker in job.members
        if worker.is_straggler and worker.phase is WorkerPhase.TRAINING
    )
    if not nodes:
        return NOTHING
    return tuple(_warning(node) for node in sorted(job.answer_to(NewlySlowNodes(nodes))))


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
