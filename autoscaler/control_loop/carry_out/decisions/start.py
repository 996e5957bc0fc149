"""A waiting job gets its workers."""

from __future__ import annotations

from cluster.models import Node
from django.db.models import F

from autoscaler.control_loop.carry_out import assignments
from autoscaler.control_loop.carry_out.seating import take_seats
from autoscaler.control_loop.observe.jobs import seats
from autoscaler.control_loop.observe.jobs.arrangements import Arrangement
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.observe.jobs.names import worker_ids
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.planning.snapshot.cluster_state import Allocation
from jobs.changes.transitions import move
from jobs.lifecycle import ACTIVE, State
from jobs.models import Job, Worker


def start(view: JobView, decision: ExplainedDecision, context: TickContext) -> bool:
    """Claim the GPUs, make the workers and their assignment; False, and nothing changed: not now.

    The processes are started from these rows afterwards.
    """
    if decision.allocation is None:
        return False
    try:
        with context.changing(view.id):
            _start(view, decision, decision.allocation, context)
    except assignments.NotNow:
        return False
    return True


def _start(
    view: JobView, decision: ExplainedDecision, allocation: Allocation, context: TickContext
) -> None:
    attempt = max(view.job.attempt, 1)
    nodes = [node for node, count in allocation.workers_by_node for _ in range(count)]
    used = Worker.objects.filter(job_id=view.id).values_list("id", flat=True)
    epoch = context.fence.epoch
    new_ids = worker_ids(view.id, attempt=attempt, used=used, count=len(nodes), epoch=epoch)
    wanted = seats.arranged(new_ids, iter(nodes), view.spec.resources.gpus_per_worker)
    address = Node.objects.get(name=nodes[0]).address
    taken = _promised_ports()
    port = context.environments.coordinator_port(address, taken=taken)
    rendezvous_port = context.environments.rendezvous_port(address, taken={*taken, port})
    if not take_seats(view.job, wanted, attempt=attempt, now=context.now):
        raise assignments.NotNow
    is_moved = move(
        view.id,
        {State.QUEUED},
        State.STARTING,
        reason=decision.reason,
        message=decision.message,
        changes={
            "attempt": attempt,
            "coordinator_port": port,
            "not_before": None,
            "starts": F("starts") + 1,
            "database_epoch": epoch,
            "disk_bytes": None,  # scratch of before is gone: it is measured anew
            "disk_files": None,
        },
    )
    is_assigned = is_moved and assignments.assign(
        view,
        new_ids,
        attempt=attempt,
        global_batch_size=allocation.global_batch_size,
        reason=decision.reason,
        message=decision.message,
        message_for_admins=decision.message_for_admins,
        decision=decision.document(decided_at=context.now),
        arrangement=Arrangement(
            seats=tuple(wanted),
            rendezvous_port=rendezvous_port,
            replaces=decision.decision.replaces,
        ),
    )
    if not is_assigned:
        raise assignments.NotNow


def _promised_ports() -> set[int]:
    holders = Job.objects.filter(state__in=[*ACTIVE, State.STOPPING])
    ports_held = holders.values_list("coordinator_port", flat=True)
    return {port for port in ports_held if port is not None}
