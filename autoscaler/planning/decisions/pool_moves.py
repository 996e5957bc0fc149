"""Which waiting jobs does a plan put into another of their pools, and may it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import JobPhase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.decisions.plan import Plan
    from autoscaler.planning.snapshot.cluster_state import ClusterState


def after_moves(state: ClusterState, plan: Plan) -> ClusterState:
    """Return the snapshot with each job in the pool where the plan has it."""
    moves = _moves(plan)
    if not moves:
        return state
    jobs = (job.in_pool(moves.get(job.job_id, job.pool)) for job in state.jobs)
    return replace(state, jobs=tuple(jobs))


def first_wrong_move(state: ClusterState, plan: Plan) -> str | None:
    """Return a job that goes where it may not go, in words; None: there is none."""
    moves = _moves(plan)
    for job in state.jobs if moves else ():
        to = moves.get(job.job_id, job.pool)
        others = {one.name for one in job.other_pools}
        if to != job.pool and not (job.phase is JobPhase.WAITING and to in others):
            return f"{job.phase} {job.job_id} of pool {job.pool} goes to {to}"
    return None


def _moves(plan: Plan) -> Mapping[str, str]:
    return {one.job_id: one.pool for one in plan.decisions if one.pool is not None}
