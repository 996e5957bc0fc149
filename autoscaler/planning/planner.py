"""What should happen to every job now? `plan(state) -> Plan`, a pure function.

Per pool, in five steps, each in a place of its own: what could each job do (`demand`), who may run
(`fair_share`), who gets how much (`allocation.split`), where (`allocation.placing`), why
(`outcomes`). Waiting jobs that may be in several pools are put into one of them before
(`pool_choice`), for which pools are planned several times. Explanations with all numbers, and
words, are worked out later, for those who ask (`explanations`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.allocation.guarantees import team_bounds
from autoscaler.planning.allocation.placing import place_split
from autoscaler.planning.allocation.plan_values import PlanValues
from autoscaler.planning.allocation.split import split
from autoscaler.planning.decisions.plan import Action, Decision, Plan, PoolOutcome
from autoscaler.planning.decisions.pool_offer import PoolAnswer
from autoscaler.planning.demand import demands_of
from autoscaler.planning.explanations.derived import OnDemand
from autoscaler.planning.fair_share.dropping import admit_or_drop
from autoscaler.planning.outcomes.deadlines import deadline_warning
from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture
from autoscaler.planning.outcomes.replacing import with_substitutes
from autoscaler.planning.policies import BUILT_IN, Situation
from autoscaler.planning.pool_choice.asking import PoolSearch, placed
from autoscaler.planning.pool_choice.wishes import is_choosing, not_to_be_dropped, wishes_of
from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedPool, TeamQuota
from autoscaler.planning.teams.team_tree import TeamTree
from autoscaler.planning.teams.user_limits import UserHoldings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from autoscaler.planning.allocation.placing import Placing
    from autoscaler.planning.allocation.split import Split
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.placement.seats import WorkersByNode
    from autoscaler.planning.policies import Catalogue, Policy
    from autoscaler.planning.pool_choice.asking import Answers
    from autoscaler.planning.pool_choice.wishes import Wishes
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
    from autoscaler.planning.teams.user_limits import UserLimits


def plan(state: ClusterState, policies: Catalogue = BUILT_IN) -> Plan:
    """One decision for each job, in the snapshot's order. Same state, same plan.

    GPUs that one decision of the plan takes are counted on by the others: whoever applies a plan
    shrinks and pauses first, and starts or grows a job as its GPUs become free. Until they are,
    the next plan decides the same again.
    """
    planning = _PoolPlanning(policies=policies)
    state, search = _searched(state, planning)
    pictures = planning.pictures(placed(state, search.places))
    decisions = {
        outcome.job_id: _decision(outcome, picture)
        for picture in pictures
        for outcome in picture.outcomes
    }
    return Plan(
        decisions=tuple(
            _with_pool(decisions[job.job_id], job, search)
            for job in state.jobs
            if job.job_id in decisions
        ),
        pools=tuple(_pool_outcome(picture) for picture in pictures),
        explanations=OnDemand([_with_offers(picture, search) for picture in pictures]),
    )


def _searched(state: ClusterState, planning: _PoolPlanning) -> tuple[ClusterState, PoolSearch]:
    """0. In which pool is each job that waits and may be in several?

    Returns the snapshot, too, in which it says who may be refused for good.
    """
    wishes: Wishes = {}
    if any(map(is_choosing, state.jobs)):
        policies = {p.name: planning.policies.policy(p.policy) for p in state.pools}
        demands = planning.demands(state)
        wishes = wishes_of(state, demands, policies)
        state = _without_drops(state, not_to_be_dropped(state, demands, wishes))
    home = {job.job_id: job.pool for job in state.jobs if job.job_id in wishes}
    search = PoolSearch(wishes=wishes, home=home)
    if wishes:
        search.run(lambda places: planning.answers(placed(state, places), places))
    return state, search


def _without_drops(state: ClusterState, kept: Collection[str]) -> ClusterState:
    if not kept:
        return state
    jobs = (replace(job, may_be_dropped=job.job_id not in kept) for job in state.jobs)
    return replace(state, jobs=tuple(jobs))


def _with_pool(decision: Decision, job: PlannedJob, search: PoolSearch) -> Decision:
    place = search.places.get(job.job_id, job.pool)
    return decision if place == job.pool else replace(decision, pool=place)


def _with_offers(picture: PoolPicture, search: PoolSearch) -> PoolPicture:
    own = [job_id for job_id in search.places if job_id in picture.jobs]
    return replace(picture, offers={i: search.offers(i) for i in own}) if own else picture


@dataclass(frozen=True, kw_only=True)
class _PoolPlanning:
    """Plans all pools, several times where jobs look for one; what is as it was is not redone."""

    policies: Catalogue
    _known: dict[str, list[_PlannedPool]] = field(default_factory=dict)  # by pool

    def demands(self, state: ClusterState) -> dict[str, list[Demand]]:
        """1. What could each job run with, and how fast?"""
        return {pool.name: _demands(pool, state, self.policies) for pool in state.pools}

    def pictures(self, state: ClusterState) -> list[PoolPicture]:
        demands, pictures = self.demands(state), []
        held = UserHoldings(state, _smallest(chain.from_iterable(demands.values())))
        for pool in state.pools:
            limits = held.limits_in(pool.name)
            picture = self._picture(pool, state, demands[pool.name], limits)
            held.planned(pool.name, ((one.demand.job, one.gpus_after) for one in picture.outcomes))
            pictures.append(picture)
        return pictures

    def answers(self, state: ClusterState, job_ids: Iterable[str]) -> Answers:
        """Return what the pools would say to these jobs, as they are placed in the snapshot."""
        pictures = self.pictures(state)
        of_pool = {job_id: picture for picture in pictures for job_id in picture.by_id}
        return {job_id: _answer(job_id, of_pool[job_id]) for job_id in job_ids}

    def _picture(
        self, pool: PlannedPool, state: ClusterState, demands: Sequence[Demand], users: UserLimits
    ) -> PoolPicture:
        jobs = tuple(demand.job.job_id for demand in demands)
        for known in self._known.setdefault(pool.name, []):
            if known.jobs == jobs and known.users == users:
                return known.picture
        policy = self.policies.policy(pool.policy)
        picture = _plan_pool(pool, state, demands, policy, users)
        self._known[pool.name].append(_PlannedPool(jobs=jobs, users=users, picture=picture))
        return picture


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedPool:
    """What came of a pool with these jobs, beside what users hold in others."""

    jobs: tuple[str, ...]
    users: UserLimits
    picture: PoolPicture


def _answer(job_id: str, picture: PoolPicture) -> PoolAnswer:
    outcome = picture.by_id[job_id]
    if outcome.action is Action.START:
        return PoolAnswer.STARTS
    if outcome.action is Action.DROP:
        return PoolAnswer.REFUSED
    match picture.cause_of(outcome).reason:
        case JobReason.EXCEEDS_LIMIT:
            return PoolAnswer.REFUSED
        case JobReason.WAITING_FOR_RECLAIM if job_id in picture.admission.guaranteed:
            return PoolAnswer.OWED
        case _:
            return PoolAnswer.WAITS


def _demands(pool: PlannedPool, state: ClusterState, policies: Catalogue) -> list[Demand]:
    jobs = (job for job in state.jobs if job.pool == pool.name)
    return demands_of(map(policies.policy(pool.policy).restrict, jobs), pool, state.now)


def _smallest(demands: Iterable[Demand]) -> Mapping[str, int]:
    """Return the smallest size of each running job, in GPUs."""
    return {one.job.job_id: one.smallest_gpus for one in demands if one.is_active and one.sizes}


def _plan_pool(
    pool: PlannedPool,
    state: ClusterState,
    demands: Sequence[Demand],
    policy: Policy,
    users: UserLimits,
) -> PoolPicture:
    jobs = [job for job in state.jobs if job.pool == pool.name]
    quotas = _quotas(pool, jobs, state)
    tree = TeamTree.of(quotas.values(), users)
    open_gpus = sum(node.gpus for node in pool.nodes if node.is_schedulable)

    # 2. Who may run at all?
    admission, dropped = admit_or_drop(demands, pool=pool, tree=tree, gpus=open_gpus, now=state.now)

    # 3. Who gets how much? GPUs of closed nodes count for those that hold them.
    values = PlanValues(
        objective_of=lambda some: policy.objective(
            Situation(demands=some, pool=pool, now=state.now)
        ),
        now=state.now,
    )

    def split_among(some: Sequence[Demand]) -> Split:
        gpus = open_gpus + sum(demand.stuck_gpus for demand in some)
        bounds = partial(team_bounds, pool=pool, tree=tree, gpus=gpus)
        return split(values.of(some), bounds=bounds, now=state.now)

    # 4. Where? And where a size does not fit: which one instead?
    placing = place_split(pool.nodes, admission.admitted, split_among, now=state.now)
    outcomes = tuple(_outcome(demand, placing) for demand in demands)
    outcomes = tuple(
        replace(outcome, action=Action.DROP) if outcome.job_id in dropped else outcome
        for outcome in outcomes
    )
    outcomes = tuple(with_substitutes(outcomes, placing.room, now=state.now))

    # 5. Why is read off the whole picture.
    return PoolPicture(
        pool=pool,
        jobs={job.job_id: job for job in jobs},
        now=state.now,
        quotas=quotas,
        users=users,
        admission=admission,
        split=placing.split,
        outcomes=outcomes,
        changes=tuple(change for change in state.changes if change.pool == pool.name),
    )


def _quotas(
    pool: PlannedPool, jobs: Sequence[PlannedJob], state: ClusterState
) -> Mapping[str, TeamQuota]:
    """Return quotas by team; one without is guaranteed nothing and limited by the pool only."""
    unquoted = {
        job.team: TeamQuota(team=job.team, pool=pool.name, guaranteed_gpus=0) for job in jobs
    }
    return unquoted | {quota.team: quota for quota in state.quotas if quota.pool == pool.name}


def _outcome(demand: Demand, placing: Placing) -> AllocationOutcome:
    job_id = demand.job.job_id
    demand = placing.demands.get(job_id, demand)
    size, place = placing.sizes.get(job_id), placing.places.get(job_id)
    fragmentation = placing.fragmentations.get(job_id)
    if size is None or (place is None and not demand.is_active):
        action = Action.PAUSE if demand.is_active else Action.WAIT
        return AllocationOutcome(
            demand=demand, action=action, size=None, allocation=None, fragmentation=fragmentation
        )
    if place is None or demand.is_pinned or _is_as_before(demand, size, place):
        return AllocationOutcome(
            demand=demand,
            action=Action.KEEP,
            size=demand.present,
            allocation=demand.allocation,
            fragmentation=fragmentation,
        )
    return AllocationOutcome(
        demand=demand,
        action=Action.RESCALE if demand.is_active else Action.START,
        size=size,
        allocation=Allocation(workers_by_node=place, global_batch_size=size.global_batch_size),
        balance=placing.balances.get(job_id),
    )


def _is_as_before(demand: Demand, size: Size, place: WorkersByNode) -> bool:
    return demand.allocation == Allocation(
        workers_by_node=place, global_batch_size=size.global_batch_size
    )


def _decision(outcome: AllocationOutcome, picture: PoolPicture) -> Decision:
    return Decision(
        job_id=outcome.job_id,
        action=outcome.action,
        allocation=outcome.allocation,
        previous=outcome.demand.job.allocation,
        reason=picture.cause_of(outcome).reason,
        deadline_warning=deadline_warning(outcome, picture.now),
        replaces=outcome.substitution.straggler.worker_id if outcome.substitution else None,
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
