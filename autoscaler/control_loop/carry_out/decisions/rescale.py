"""A running job gets other workers or another global batch.

Hot: those who stay keep their ids and ranks, joiners get seats at once, leavers train on until the
coordinator has switched. Restart: the new set is written down and all old workers are asked to
end; `reconciling` seats the new ones when they have gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cluster.models import Node

from autoscaler.control_loop.carry_out import assignments
from autoscaler.control_loop.carry_out.decisions.needs import Needs
from autoscaler.control_loop.carry_out.seating import take_seats
from autoscaler.control_loop.carry_out.writing import JobDraft, NotNow
from autoscaler.control_loop.observe.jobs import seats
from autoscaler.control_loop.observe.jobs.arrangements import Arrangement
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView, ids
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.planning.snapshot.cluster_state import Allocation
from jobs.lifecycle import JobState


def rescale(
    view: LiveJob, decision: ExplainedDecision, draft: JobDraft, needs: Needs, context: TickContext
) -> None:
    """Draft the new assignment; joiners of a hot job sit down now, those of a restart later."""
    if decision.allocation is None:
        raise NotNow
    staying = _staying(view, decision.allocation, replaced=decision.decision.replaces)
    nodes = _nodes_of_joiners(staying, decision.allocation)
    job = view.job
    joining = needs.new_worker_ids(
        view.id, attempt=job.attempt, count=len(nodes), epoch=job.database_epoch
    )
    wanted = seats.arranged(joining, iter(nodes), view.spec.resources.gpus_per_worker)
    if not view.is_hot and not _will_fit(view, wanted):
        raise NotNow
    draft.move(
        {JobState.RUNNING},
        JobState.RESCALING,
        reason=decision.reason,
        message=decision.message,
        data={"workers": {"from": len(view.live), "to": decision.allocation.workers}},
    )
    address, taken = view.live[0].node.address, {job.coordinator_port or 0}
    assignments.assign(
        view,
        draft,
        [*ids(staying), *joining],
        global_batch_size=decision.allocation.global_batch_size,
        reason=decision.reason,
        message=decision.message,
        message_for_admins=decision.message_for_admins,
        decision=decision.document(decided_at=context.now),
        arrangement=Arrangement(
            seats=tuple(wanted),
            rendezvous_port=context.environments.rendezvous_port(address, taken=taken),
            replaces=decision.decision.replaces,
        ),
    )
    if view.is_hot:
        take_seats(draft, wanted, attempt=job.attempt)


def takes_gpus(view: LiveJob, allocation: Allocation) -> bool:
    """True if it needs a GPU that it does not hold."""
    held = Counter(worker.node.name for worker in view.live)
    return any(count > held[node] for node, count in allocation.workers_by_node)


def _staying(view: LiveJob, allocation: Allocation, *, replaced: str | None) -> list[WorkerView]:
    """Keep as many of each node as it keeps: stragglers leave first, then the last by rank.

    Nobody stays over a restart.
    """
    if not view.is_hot:
        return []
    places = Counter(dict(allocation.workers_by_node))
    staying = []
    for worker in sorted(view.members, key=lambda one: one.row.is_straggler):
        node = worker.node.name
        if not worker.is_gone and places[node] > 0 and worker.id != replaced:
            places[node] -= 1
            staying.append(worker)
    return [worker for worker in view.members if worker in staying]


def _nodes_of_joiners(staying: Sequence[WorkerView], allocation: Allocation) -> list[str]:
    places = Counter(dict(allocation.workers_by_node))
    places.subtract(worker.node.name for worker in staying)
    return [node for node, _ in allocation.workers_by_node for _ in range(places[node])]


def _will_fit(view: LiveJob, wanted: Sequence[seats.Seat]) -> bool:
    """True if the new set fits into what is free and what the old one gives back."""
    nodes = Node.objects.filter(name__in={seat.node for seat in wanted})
    free = seats.free_gpus([node.id for node in nodes])
    own = view.spec.resources.gpus_per_worker
    held = Counter(worker.row.node_id for worker in view.live)
    needed = Counter(seat.node for seat in wanted)
    return all(
        needed[node.name] * own <= len(free[node.id]) + held[node.id] * own for node in nodes
    )
