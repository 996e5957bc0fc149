"""Which new jobs are refused for good? Only in pools that drop what does not fit.

The second admission variant of *Effective Elastic Scaling of Deep Learning Workloads*: a job that
has just arrived is admitted if it fits beside all admitted jobs, each at its smallest size, and is
dropped if it does not. Jobs that have run before are never dropped: they wait. So do those that may
be in another pool, too, which could not be asked yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.fair_share import admit
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.demand import Demand
    from autoscaler.planning.fair_share import Admission
    from autoscaler.planning.snapshot.cluster_state import PlannedPool
    from autoscaler.planning.teams.team_tree import TeamTree

_BY_QUOTA = frozenset(
    {
        JobReason.EXCEEDS_LIMIT,
        JobReason.WAITING_FOR_QUOTA,
        JobReason.WAITING_FOR_USER_LIMIT,
    }
)


def admit_or_drop(
    demands: Sequence[Demand],
    *,
    pool: PlannedPool,
    tree: TeamTree,
    gpus: int,
    now: float,
) -> tuple[Admission, frozenset[str]]:
    """Return who runs on `gpus` schedulable GPUs, and the ids of the jobs to drop."""
    dropped: set[str] = set()
    while True:
        left = [demand for demand in demands if demand.job.job_id not in dropped]
        admission = admit(left, pool=pool, tree=tree, gpus=gpus, now=now)
        refused = _to_drop(left, admission, gpus) if _drops(pool) else set()
        if not refused:
            return admission, frozenset(dropped)
        dropped |= refused


def _drops(pool: PlannedPool) -> bool:
    return pool.admission is AdmissionVariant.DROPPING


def _to_drop(demands: Sequence[Demand], admission: Admission, gpus: int) -> set[str]:
    room = gpus - sum(map(_lasting_gpus, admission.admitted))
    return {
        demand.job.job_id
        for demand in demands
        if _is_new(demand) and _is_refused(demand, admission, room)
    }


def _is_new(demand: Demand) -> bool:
    job = demand.job
    return not demand.is_active and job.started_at is None and job.may_be_dropped


def _is_refused(demand: Demand, admission: Admission, room: int) -> bool:
    """A job whose guaranteed GPUs are on their way back is not refused, it waits for them."""
    refusal = admission.refused.get(demand.job.job_id)
    if refusal is None or refusal.reason is JobReason.WAITING_FOR_RECLAIM:
        return False
    return refusal.reason in _BY_QUOTA or demand.needed_gpus > room


def _lasting_gpus(demand: Demand) -> int:
    """Return what an admitted job needs at least, once the change that is under way is over."""
    is_changing = demand.is_pinned and not demand.job.can_pause
    return demand.floor_gpus if is_changing else demand.smallest_gpus
