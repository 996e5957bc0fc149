"""What must hold of every plan, whatever made it? Checked before a plan is applied.

Written against the contract alone, not against the planner's modules, so that a mistake there
does not excuse itself here. A state that is already broken is not held against a plan that makes
it no worse.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.held_gpus import gpus_by_node, gpus_of, standing
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.decisions.pool_moves import after_moves, first_wrong_move
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant, Preemptibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autoscaler.planning.decisions.plan import Decision, Plan
    from autoscaler.planning.policies import Catalogue
    from autoscaler.planning.snapshot.cluster_state import (
        Allocation,
        ClusterState,
        PlannedJob,
        PlannedPool,
        TeamQuota,
    )

_User = tuple[str, str]  # the team, and the user in it
_DROPPING: Final = AdmissionVariant.DROPPING
_FOR_WAITING: Final = frozenset({Action.START, Action.WAIT, Action.DROP})
_ANY_SIZE_UP_TO: Final = 16  # GPUs of a pool in which every size of a job's range is tried
_GIVES_NOTHING: Final = frozenset({Action.WAIT, Action.DROP, Action.PAUSE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A rule a plan breaks, where, and by how much."""

    rule: str
    message: str


def check(state: ClusterState, plan: Plan, policies: Catalogue = BUILT_IN) -> tuple[Violation, ...]:
    """Everything that is wrong with the plan; empty when it may be applied.

    A pool's policy may narrow what its jobs may have; the rules hold for what it leaves of them.
    A job that goes to another of its pools is held to the rules there.
    """
    if (wrong := first_wrong_move(state, plan)) is not None:
        return (Violation(rule="only_waiting_jobs_go_to_their_other_pools", message=wrong),)
    state = after_moves(state, plan)
    restricted_in = {pool.name: policies.policy(pool.policy).restrict for pool in state.pools}
    decided_on = [job for job in state.jobs if job.pool in restricted_in]
    jobs = {job.job_id: restricted_in[job.pool](job) for job in decided_on}
    decisions = {decision.job_id: decision for decision in plan.decisions}
    if sorted(decision.job_id for decision in plan.decisions) != sorted(jobs):
        message = "the plan does not decide on every job exactly once"
        return (Violation(rule="one_decision_per_job", message=message),)
    found = [v for job in decided_on for v in _job_rules(job, decisions[job.job_id])]
    of_users = _of_users(state, jobs, decisions)
    for pool in state.pools:
        own = [(job, decisions[job.job_id]) for job in jobs.values() if job.pool == pool.name]
        quotas = {quota.team: quota for quota in state.quotas if quota.pool == pool.name}
        elsewhere = sum((n for name, n in of_users.items() if name != pool.name), Counter[_User]())
        found += [*_drop_rules(pool, own), *_node_rules(pool, own)]
        found += _team_rules(pool, own, quotas, elsewhere)
    return (*found, *_user_rules(state, jobs, decisions))


def _job_rules(job: PlannedJob, decision: Decision) -> Iterator[Violation]:
    action, allocation, name = decision.action, decision.allocation, job.job_id
    if (action in _FOR_WAITING) != (job.phase is JobPhase.WAITING):
        yield Violation(rule="action_fits_phase", message=f"{action} for {job.phase} {name}")
    if (allocation is None) != (action in _GIVES_NOTHING) and job.allocation is not None:
        yield Violation(rule="allocation_fits_action", message=f"{action} of {name}: {allocation}")
    if action is Action.PAUSE and job.preemptibility is Preemptibility.NON_PREEMPTIBLE:
        yield Violation(rule="non_preemptible_never_paused", message=f"{name} would be paused")
    if not job.can_rescale and job.phase is JobPhase.ACTIVE:
        may = {Action.KEEP, Action.PAUSE} if job.can_pause else {Action.KEEP}
        if action not in may:
            yield Violation(rule="pinned_jobs_stay", message=f"{action} for {name}")
    if allocation is not None and action in {Action.START, Action.RESCALE}:
        yield from _range_rules(job, allocation)


def _range_rules(job: PlannedJob, allocation: Allocation) -> Iterator[Violation]:
    workers, batch, rules = allocation.workers, allocation.global_batch_size, job.batch
    stays = job.allocation is not None and workers == job.allocation.workers
    if not stays and not job.min_workers <= workers <= job.max_workers:
        message = f"{job.job_id} gets {workers} workers of {job.min_workers}..{job.max_workers}"
        yield Violation(rule="worker_range", message=message)
    if not stays and job.allowed_workers is not None and workers not in job.allowed_workers:
        message = f"{job.job_id} gets {workers} workers of {job.allowed_workers}"
        yield Violation(rule="allowed_workers", message=message)
    if not stays and (workers - job.min_workers) % job.worker_step:
        message = f"{job.job_id} gets {workers} workers, {job.min_workers} + n * {job.worker_step}"
        yield Violation(rule="worker_step", message=message)
    if not rules.minimum <= batch <= rules.maximum or batch % rules.multiple_of or batch < workers:
        message = f"{job.job_id} gets batch {batch} on {workers} workers"
        yield Violation(rule="batch_range", message=message)


def _drop_rules(pool: PlannedPool, own: list[tuple[PlannedJob, Decision]]) -> Iterator[Violation]:
    for job, decision in own:
        is_new = job.started_at is None
        if decision.action is Action.DROP and not (is_new and pool.admission is _DROPPING):
            yield Violation(rule="only_new_jobs_are_dropped", message=f"{job.job_id} is dropped")


def _node_rules(pool: PlannedPool, own: list[tuple[PlannedJob, Decision]]) -> Iterator[Violation]:
    """No GPU used twice, none that does not exist, nothing new on closed nodes."""
    before, after = Counter[str](), Counter[str]()
    for job, decision in own:
        before.update(gpus_by_node(job, standing(job)))
        after.update(gpus_by_node(job, decision.allocation))
    nodes = {node.name: node for node in pool.nodes}
    for name, used in sorted(after.items()):
        node = nodes.get(name)
        if node is None:
            yield Violation(rule="known_nodes", message=f"{name} is no node of pool {pool.name}")
        elif used > max(node.gpus, before[name]):
            message = f"node {name} has {node.gpus} GPUs, the plan uses {used}"
            yield Violation(rule="no_gpu_used_twice", message=message)
        elif not node.is_schedulable and used > before[name]:
            message = f"closed node {name} would go from {before[name]} to {used} GPUs"
            yield Violation(rule="nothing_new_on_closed_nodes", message=message)


def _team_rules(
    pool: PlannedPool,
    own: list[tuple[PlannedJob, Decision]],
    quotas: Mapping[str, TeamQuota],
    elsewhere: Mapping[_User, int],
) -> Iterator[Violation]:
    held_back = _held_back(own, quotas, elsewhere)
    planned: defaultdict[str, int] = defaultdict(int)
    unavoidable: defaultdict[str, int] = defaultdict(int)
    for job, decision in own:
        planned[job.team] += gpus_of(job, decision.allocation)
        if job.phase is JobPhase.ACTIVE:
            unavoidable[job.team] += gpus_of(job, decision.allocation) - _can_give(
                job, decision, pool
            )
    inside, at_least = _subtree_sums(planned, quotas), _subtree_sums(unavoidable, quotas)
    yield from _lending_rule(pool, quotas, planned, unavoidable)
    for team, quota in sorted(quotas.items()):
        limit = quota.limit_gpus
        if limit is not None and inside[team] > max(limit, at_least[team]):
            message = f"team {team} would use {inside[team]} of at most {limit} GPUs"
            yield Violation(rule="team_limit", message=message)
        yield from _guarantee_rule(pool, own, quotas, planned, quota, held_back=held_back)


def _user_rules(
    state: ClusterState, jobs: Mapping[str, PlannedJob], decisions: Mapping[str, Decision]
) -> Iterator[Violation]:
    """No user's jobs of a team hold more than its limit of users, unless they cannot give it up."""
    limits = _user_limits(state.quotas)
    pools = {pool.name: pool for pool in state.pools}
    planned, unavoidable = Counter[_User](), Counter[_User]()
    for name, held in _of_users(state, jobs, decisions).items():
        if name not in pools:  # nothing is decided there
            planned, unavoidable = planned + held, unavoidable + held
    for job in jobs.values():
        decision, whose = decisions[job.job_id], (job.team, job.user)
        gpus = gpus_of(job, decision.allocation)
        planned[whose] += gpus
        if job.phase is JobPhase.ACTIVE:
            unavoidable[whose] += gpus - _can_give(job, decision, pools[job.pool])
    for (team, user), used in sorted(planned.items()):
        limit = limits.get(team)
        if user and limit is not None and used > max(limit, unavoidable[team, user]):
            message = f"{user} would use {used} of at most {limit} GPUs in team {team}"
            yield Violation(rule="user_limit", message=message)


def _user_limits(quotas: Iterable[TeamQuota]) -> Mapping[str, int]:
    return {q.team: q.user_limit_gpus for q in quotas if q.user_limit_gpus is not None}


def _of_users(
    state: ClusterState, jobs: Mapping[str, PlannedJob], decisions: Mapping[str, Decision]
) -> Mapping[str, Counter[_User]]:
    """Return what each user's jobs hold by pool: before, after, or at least; whichever is more."""
    found: defaultdict[str, Counter[_User]] = defaultdict(Counter)
    for job in state.jobs if _user_limits(state.quotas) else ():
        ways, least = [job.allocation, job.target], 0
        if job.job_id in jobs:
            ways.append(decisions[job.job_id].allocation)
            if job.phase is JobPhase.ACTIVE:
                least = _smallest(jobs[job.job_id]) * job.gpus_per_worker
        found[job.pool][job.team, job.user] += max(least, *(gpus_of(job, way) for way in ways))
    return found


def _held_back(
    own: list[tuple[PlannedJob, Decision]],
    quotas: Mapping[str, TeamQuota],
    elsewhere: Mapping[_User, int],
) -> frozenset[str]:
    """Return the jobs whose smallest size does not fit beside what their user's others hold."""
    limits, used = _user_limits(quotas.values()), Counter(elsewhere)
    for job, decision in own:
        if decision.allocation is not None:
            least = _smallest(job) * job.gpus_per_worker
            used[job.team, job.user] += max(gpus_of(job, decision.allocation), least)
    return frozenset(
        job.job_id
        for job, _ in own
        if (limit := limits.get(job.team)) is not None
        and job.user
        and used[job.team, job.user] + _smallest(job) * job.gpus_per_worker > limit
    )


def _guarantee_rule(
    pool: PlannedPool,
    own: list[tuple[PlannedJob, Decision]],
    quotas: Mapping[str, TeamQuota],
    planned: Mapping[str, int],
    quota: TeamQuota,
    *,
    held_back: frozenset[str],
) -> Iterator[Violation]:
    """The first waiting job that fits its team's guarantee must not wait for others' surplus."""
    queue = sorted(
        (
            (-job.priority, job.submitted_at, job.job_id, job)
            for job, decision in own
            if job.team == quota.team
            and decision.action in {Action.WAIT, Action.DROP}
            and decision.reason is not JobReason.EXCEEDS_LIMIT
            and job.job_id not in held_back
        ),
    )
    gives_up_own = any(
        job.team == quota.team and decision.action is Action.PAUSE for job, decision in own
    )  # those still count for their team until they are gone
    if not queue or gives_up_own:
        return
    job = queue[0][-1]
    needed = _smallest(job) * job.gpus_per_worker
    team_after = planned.get(quota.team, 0) + needed
    waits_by_rule = pool.reclaim.delay_seconds > 0 or pool.reclaim.min_runtime_seconds > 0
    # Between tidy sizes of a large pool the planner may have to take the next larger one.
    is_forced_up = _for_memory(job) > job.min_workers and _has_tidy_sizes(pool)
    scattered = (
        waits_by_rule
        or is_forced_up
        or any(decision.reason is JobReason.FRAGMENTED for _, decision in own)
        or any(other.gpus_per_worker > 1 for other, _ in own)
    )
    if (
        scattered
        or team_after > _promised_to_itself(quota, quotas)
        or not _limits_allow(needed, quota.team, planned, quotas)
    ):
        return
    to_be_had = _idle(pool, own) + sum(
        min(_surplus(team, own, pool), max(used - _guaranteed(team, quotas), 0))
        for team, used in planned.items()
        if team != quota.team
    )
    if to_be_had >= needed:
        message = f"{job.job_id} of team {quota.team} waits for {needed}, {to_be_had} can be had"
        yield Violation(rule="guarantees_honoured", message=message)


def _subtree_sums(own: Mapping[str, int], quotas: Mapping[str, TeamQuota]) -> Counter[str]:
    """Return what each team uses together with all teams below it."""
    sums = Counter[str]()
    for team, gpus in own.items():
        for above in _path(team, quotas):
            sums[above] += gpus
    return sums


def _promised_to_itself(quota: TeamQuota, quotas: Mapping[str, TeamQuota]) -> int:
    """Return what is guaranteed to the team and to none of those below it."""
    below = sum(q.guaranteed_gpus for q in quotas.values() if q.parent == quota.team)
    return quota.guaranteed_gpus - below


def _limits_allow(
    more: int, team: str, planned: Mapping[str, int], quotas: Mapping[str, TeamQuota]
) -> bool:
    """GPUs that a team below never lends count for the limit as if they were used."""
    inside = _subtree_sums(planned, quotas)
    for above in _path(team, quotas):
        quota = quotas.get(above)
        kept = sum(
            q.guaranteed_gpus - q.lending_limit_gpus
            for name, q in quotas.items()
            if q.lending_limit_gpus is not None and above in _path(name, quotas)[1:]
        )
        limit = quota.limit_gpus if quota else None
        if limit is not None and inside[above] + kept + more > limit:
            return False
    return True


def _path(team: str, quotas: Mapping[str, TeamQuota]) -> list[str]:
    """The team and those above it; a circle ends where it would close."""
    path: list[str] = []
    above: str | None = team
    while above is not None and above not in path:
        path.append(above)
        above = quotas[above].parent if above in quotas else None
    return path


def _lending_rule(
    pool: PlannedPool,
    quotas: Mapping[str, TeamQuota],
    planned: Mapping[str, int],
    unavoidable: Mapping[str, int],
) -> Iterator[Violation]:
    """Used GPUs and those that idle teams never lend fit the pool, where promises do at all."""
    gpus = sum(node.gpus for node in pool.nodes)
    promised = sum(quota.guaranteed_gpus for quota in quotas.values())
    if promised > gpus or not all(node.is_schedulable for node in pool.nodes):
        return
    taken = _taken_up(planned, quotas)
    if taken > max(gpus, _taken_up(unavoidable, quotas), sum(planned.values())):
        message = f"{taken} GPUs of pool {pool.name} would be used or kept, it has {gpus}"
        yield Violation(rule="lending_limit", message=message)


def _taken_up(used: Mapping[str, int], quotas: Mapping[str, TeamQuota]) -> int:
    """Each subtree takes up what is used in it, and no less than what it never lends."""
    inside = Counter(used)
    for team in sorted({*used, *quotas}, key=lambda name: -len(_path(name, quotas))):
        quota = quotas.get(team)
        if quota is not None and quota.lending_limit_gpus is not None:
            kept = quota.guaranteed_gpus - quota.lending_limit_gpus
            inside[team] = max(inside[team], kept)
        inside[_path(team, quotas)[1] if len(_path(team, quotas)) > 1 else ""] += inside[team]
    return inside[""]


def _guaranteed(team: str, quotas: Mapping[str, TeamQuota]) -> int:
    return quotas[team].guaranteed_gpus if team in quotas else 0


def _idle(pool: PlannedPool, own: list[tuple[PlannedJob, Decision]]) -> int:
    used = Counter[str]()
    for job, decision in own:
        used.update(gpus_by_node(job, decision.allocation))
    return sum(max(n.gpus - used[n.name], 0) for n in pool.nodes if n.is_schedulable)


def _surplus(team: str, own: list[tuple[PlannedJob, Decision]], pool: PlannedPool) -> int:
    return sum(_can_give(job, decision, pool) for job, decision in own if job.team == team)


def _can_give(job: PlannedJob, decision: Decision, pool: PlannedPool) -> int:
    """GPUs the job could give up by shrinking that others could use."""
    if decision.allocation is None or (job.phase is JobPhase.ACTIVE and not job.can_rescale):
        return 0
    closed = {node.name for node in pool.nodes if not node.is_schedulable}
    stuck = sum(count for node, count in decision.allocation.workers_by_node if node in closed)
    floor = _smallest(job, at_least=stuck)
    return max(decision.allocation.workers - floor, 0) * job.gpus_per_worker


def _smallest(job: PlannedJob, *, at_least: int = 0) -> int:
    floor = max(job.min_workers, at_least, _for_memory(job))
    if job.allowed_workers is None:
        return floor + (job.min_workers - floor) % job.worker_step
    return min((count for count in job.allowed_workers if count >= floor), default=floor)


def _for_memory(job: PlannedJob) -> int:
    """Workers that hold the smallest batch, where gradients are not accumulated."""
    rules = job.batch
    if rules.max_per_gpu is None or rules.accumulation:
        return 1
    lowest = math.ceil(rules.minimum / rules.multiple_of) * rules.multiple_of
    return math.ceil(lowest / rules.max_per_gpu)


def _has_tidy_sizes(pool: PlannedPool) -> bool:
    """True if the planner may leave out sizes that pack badly."""
    return sum(node.gpus for node in pool.nodes) > _ANY_SIZE_UP_TO
