"""What should happen to every job now? `plan(state) -> Plan`, a pure function.

Per pool, in five steps, each in a module of its own: what could each job do (demand), who may run
(fair_share), who gets how much (split), where (placement), why (reasons). Explanations with all
numbers, and words, are worked out later, for those who ask (explanations).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import Allocation, Pool, TeamQuota
from autoscaler.planning.decisions import Action, Decision, Plan, PoolOutcome
from autoscaler.planning.demand import demands_of
from autoscaler.planning.explanations.derived import OnDemand
from autoscaler.planning.fair_share import admit
from autoscaler.planning.outcome import Outcome, PoolPicture
from autoscaler.planning.placement import Seats, place
from autoscaler.planning.policies import BUILT_IN, Situation
from autoscaler.planning.split import split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.cluster_state import ClusterState, Job
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.fair_share import Admission
    from autoscaler.planning.policies import Catalogue, Policy
    from autoscaler.planning.split import Split


def plan(state: ClusterState, policies: Catalogue = BUILT_IN) -> Plan:
    """One decision for each job, in the snapshot's order. Same state, same plan.

    GPUs that one decision of the plan takes are counted on by the others: whoever applies a plan
    shrinks and pauses first, and starts or grows a job as its GPUs become free. Until they are,
    the next plan decides the same again.
    """
    pictures = [_plan_pool(pool, state, policies.policy(pool.policy)) for pool in state.pools]
    decisions = {
        outcome.job_id: _decision(outcome, picture)
        for picture in pictures
        for outcome in picture.outcomes
    }
    return Plan(
        decisions=tuple(decisions[job.job_id] for job in state.jobs if job.job_id in decisions),
        pools=tuple(_pool_outcome(picture) for picture in pictures),
        explanations=OnDemand(pictures),
    )


def _plan_pool(pool: Pool, state: ClusterState, policy: Policy) -> PoolPicture:
    jobs = [job for job in state.jobs if job.pool == pool.name]
    quotas = _quotas(pool, jobs, state)
    open_gpus = sum(node.gpus for node in pool.nodes if node.is_schedulable)

    # 1. What could each job run with, and how fast?
    demands = demands_of(map(policy.seen, jobs), pool)

    # 2. Who may run at all?
    admission = admit(demands, quotas=quotas, gpus=open_gpus, now=state.now)

    # 3. Who gets how much? GPUs of closed nodes count for those that hold them.
    gpus = open_gpus + sum(demand.stuck_gpus for demand in admission.admitted)
    objective = policy.objective(Situation(demands=admission.admitted, pool=pool, now=state.now))
    shares = split(admission.admitted, objective=objective, quotas=quotas, gpus=gpus, now=state.now)

    # 4. Where?
    outcomes = _outcomes(pool, demands, admission, shares)

    # 5. Why is read off the whole picture.
    return PoolPicture(
        pool=pool,
        now=state.now,
        quotas=quotas,
        admission=admission,
        split=shares,
        outcomes=outcomes,
        changes=tuple(change for change in state.changes if change.pool == pool.name),
    )


def _quotas(pool: Pool, jobs: Sequence[Job], state: ClusterState) -> Mapping[str, TeamQuota]:
    """By team; one without a quota is guaranteed nothing and limited by the pool only."""
    unquoted = {
        job.team: TeamQuota(team=job.team, pool=pool.name, guaranteed_gpus=0) for job in jobs
    }
    return unquoted | {quota.team: quota for quota in state.quotas if quota.pool == pool.name}


def _outcomes(
    pool: Pool, demands: Sequence[Demand], admission: Admission, shares: Split
) -> tuple[Outcome, ...]:
    sizes = _sizes(demands, admission, shares)
    places = place(pool.nodes, _seats(demands, sizes))
    smaller = {
        demand.job.job_id: demand.sizes[0]
        for demand in demands
        if demand.job.job_id in sizes and places[demand.job.job_id] is None and not demand.held
    }
    if smaller:  # too scattered for so many workers: a start may still fit at its smallest size
        sizes = sizes | smaller
        places = place(pool.nodes, _seats(demands, sizes))
    return tuple(
        _outcome(demand, sizes.get(demand.job.job_id), places.get(demand.job.job_id))
        for demand in demands
    )


def _sizes(demands: Sequence[Demand], admission: Admission, shares: Split) -> dict[str, Size]:
    """The chosen sizes; where no split exists, everybody who runs stays as he is."""
    if shares.solution is not None:
        return dict(shares.sizes)
    paused = {demand.job.job_id for demand in admission.paused}
    return {
        demand.job.job_id: demand.present
        for demand in demands
        if demand.present is not None and demand.job.job_id not in paused
    }


def _seats(demands: Sequence[Demand], sizes: Mapping[str, Size]) -> list[Seats]:
    return [
        Seats(
            job_id=demand.job.job_id,
            gpus_per_worker=demand.job.gpus_per_worker,
            workers=sizes[demand.job.job_id].workers,
            standing=demand.allocation.workers_by_node if demand.allocation else (),
        )
        for demand in demands
        if demand.job.job_id in sizes
    ]


def _outcome(
    demand: Demand, size: Size | None, workers_by_node: tuple[tuple[str, int], ...] | None
) -> Outcome:
    if size is None:
        action = Action.PAUSE if demand.is_active else Action.WAIT
        return Outcome(demand=demand, action=action, size=None, allocation=None)
    if workers_by_node is None:  # free GPUs too scattered: stay, or wait on
        action = Action.KEEP if demand.is_active else Action.WAIT
        return Outcome(
            demand=demand,
            action=action,
            size=demand.present,
            allocation=demand.allocation,
            is_fragmented=True,
        )
    allocation = Allocation(
        workers_by_node=workers_by_node, global_batch_size=size.global_batch_size
    )
    if not demand.is_active:
        action = Action.START
    elif demand.is_pinned or size == demand.present:
        action = Action.KEEP
    else:
        action = Action.RESCALE
    kept = demand.allocation if action is Action.KEEP else allocation
    return Outcome(demand=demand, action=action, size=size, allocation=kept)


def _decision(outcome: Outcome, picture: PoolPicture) -> Decision:
    return Decision(
        job_id=outcome.job_id,
        action=outcome.action,
        allocation=outcome.allocation,
        previous=outcome.demand.job.allocation,
        reason=picture.cause_of(outcome).reason,
    )


def _pool_outcome(picture: PoolPicture) -> PoolOutcome:
    solution = picture.split.solution
    return PoolOutcome(
        pool=picture.pool.name,
        policy=picture.pool.policy,
        value=solution.value if solution else 0.0,
        upper_bound=solution.upper_bound if solution else 0.0,
        gap=solution.gap if solution else 0.0,
        price=solution.price if solution else 0.0,
        gpus_total=picture.gpus_total,
        gpus_used=sum(outcome.gpus_after for outcome in picture.outcomes),
    )
