"""A waiting job gets its workers."""

from __future__ import annotations

from autoscaler.control_loop.carry_out import assignments
from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.decisions.other_pool import pool_of
from autoscaler.control_loop.carry_out.seating import take_seats
from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs import seats
from autoscaler.control_loop.observe.jobs.arrangements import Arrangement
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from jobs.lifecycle import JobState


def start(
    view: LiveJob, decision: ExplainedDecision, draft: JobDraft, needs: Needs, context: TickContext
) -> None:
    """Claim the GPUs, make the workers and their assignment.

    The processes are started from these rows afterwards.
    """
    allocation = decision.allocation
    if allocation is None or draft.job.version != view.job.version:
        raise NotNow  # what it asks for is no longer what was planned
    if (pool := pool_of(view, decision)) is not None:
        draft.job.pool = pool  # where seats are looked for
    attempt, epoch = max(view.job.attempt, 1), context.fence.epoch
    nodes = [node for node, count in allocation.workers_by_node for _ in range(count)]
    new_ids = needs.new_worker_ids(view.id, attempt=attempt, count=len(nodes), epoch=epoch)
    wanted = seats.arranged(new_ids, iter(nodes), view.spec.resources.gpus_per_worker)
    address, taken = context.around.node(nodes[0]).address, needs.promised_ports
    port = context.environments.coordinator_port(address, taken=taken)
    rendezvous_port = context.environments.rendezvous_port(address, taken={*taken, port})
    draft.move(
        {JobState.QUEUED},
        JobState.STARTING,
        reason=decision.reason,
        message=decision.message,
        changes={
            **({} if pool is None else {"pool": pool.pk}),
            "attempt": attempt,
            "coordinator_port": port,
            "not_before": None,
            "prepared_at": None,
            "starts": draft.job.starts + 1,
            "database_epoch": epoch,
            "disk_bytes": None,  # scratch of before is gone: it is measured anew
            "disk_files": None,
            "disk_bytes_within": max(view.job.disk_bytes_within or 0, view.job.disk_bytes or 0),
        },
    )
    assignments.assign(
        view,
        draft,
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
    take_seats(draft, wanted, attempt=attempt)
    needs.promised_ports.add(port)
