"""Why does a job wait, and what would start it now?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.explanation import (
    ClosedNode,
    Closing,
    Dropped,
    JobRef,
    Refused,
    Reserved,
    Waiting,
)
from autoscaler.planning.explanations.references import (
    choices,
    job_ref,
    jobs,
    reserved,
    team_share,
    user_share,
)
from autoscaler.planning.explanations.remedies import remedy_for_refused
from autoscaler.planning.snapshot.vocabulary import Preemptibility

if TYPE_CHECKING:
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture
    from autoscaler.planning.snapshot.cluster_state import PlannedNode

_NODES_TOLD: Final = 3


def waiting(outcome: AllocationOutcome, picture: PoolPicture) -> Waiting:
    demand, reason = outcome.demand, picture.cause_of(outcome).reason
    refusal = picture.admission.refused.get(outcome.job_id)
    return Waiting(
        reason=reason,
        needed_gpus=demand.needed_gpus,
        gpus_per_worker=demand.job.gpus_per_worker,
        free_gpus=picture.gpus_free_now,
        available_gpus=picture.admission.gpus_free,
        asked_gpus=max(picture.gpus_asked_up_to(outcome) if refusal else 0, demand.needed_gpus),
        position=(refusal.position or None) if refusal else None,
        price=picture.price,
        choices=choices(outcome, picture),
        team=team_share(demand.job.team, picture),
        is_owed=outcome.job_id in picture.admission.guaranteed,
        is_non_preemptible=demand.job.preemptibility is Preemptibility.NON_PREEMPTIBLE,
        blocker=_blocker(outcome, picture),
        reserved=_reserved(outcome, picture),
        givers=jobs(picture.losers),
        holders=picture.holders,
        fragmentation=outcome.fragmentation and replace(outcome.fragmentation, relocations=()),
        movable=jobs(_movable(outcome, picture)),
        closed_nodes=tuple(map(_closed, picture.closed_nodes[:_NODES_TOLD])),
        closed_nodes_count=len(picture.closed_nodes),
        open_gpus=picture.gpus_open,
        pool=picture.pool.name,
        pool_gpus=picture.gpus_total,
        user=user_share(outcome, picture),
        pools=picture.offers.get(outcome.job_id, ()),
    )


def _closed(node: PlannedNode) -> ClosedNode:
    return ClosedNode(name=node.name, gpus=node.gpus, closing=_closing(node))


def _closing(node: PlannedNode) -> Closing:
    if node.is_silent:
        return Closing.SILENT
    return Closing.DRAINING if node.is_draining else Closing.CORDONED


def _movable(outcome: AllocationOutcome, picture: PoolPicture) -> list[AllocationOutcome]:
    moves = outcome.fragmentation.relocations if outcome.fragmentation else ()
    return [picture.by_id[job_id] for job_id in sorted({move.job_id for move in moves})]


def refused(outcome: AllocationOutcome, picture: PoolPicture) -> Refused:
    demand = outcome.demand
    return Refused(
        reason=picture.cause_of(outcome).reason,
        needed_gpus=demand.needed_gpus,
        gpus_per_worker=demand.job.gpus_per_worker,
        team=team_share(demand.job.team, picture),
        pool=picture.pool.name,
        pool_gpus=picture.gpus_total,
        remedy=remedy_for_refused(outcome, picture),
        user=user_share(outcome, picture),
    )


def dropped(outcome: AllocationOutcome, picture: PoolPicture) -> Dropped:
    return Dropped(
        reason=picture.cause_of(outcome).reason,
        needed_gpus=outcome.demand.needed_gpus,
        available_gpus=picture.admission.gpus_free,
        team=team_share(outcome.demand.job.team, picture),
        pool=picture.pool.name,
    )


def _blocker(outcome: AllocationOutcome, picture: PoolPicture) -> JobRef | None:
    refusal = picture.admission.refused.get(outcome.job_id)
    if refusal is None or refusal.blocker is None:
        return None
    return job_ref(picture.by_id[refusal.blocker])


def _reserved(outcome: AllocationOutcome, picture: PoolPicture) -> Reserved | None:
    """Return what is reserved for the job, or for the one it stands behind."""
    reservation = picture.admission.reservation
    refusal = picture.admission.refused.get(outcome.job_id)
    if reservation is None or refusal is None:
        return None
    is_about = reservation.job_id in {outcome.job_id, refusal.blocker}
    return reserved(reservation, picture) if is_about else None
