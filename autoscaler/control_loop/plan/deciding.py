"""Which plan may be applied? A sound one; if need be, of fewer pools, or without a few jobs.

A policy is chosen by an admin and may be anybody's code, and a job's data are anybody's. Neither a
policy that fails, nor a job that makes planning fail, nor values that make a plan break an
invariant, may keep a whole cluster from being planned. So where planning everything fails, each
pool is planned by itself; where that fails, by the default policy; where that fails too, without
the jobs that make it fail. These stand still: see `planning.standing_still`. A plan that takes too
long has failed as well; all attempts together take a bounded time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from autoscaler.control_loop.plan.processor_time import ProcessorTime
from autoscaler.planning.decisions.explanation import Explanation
from autoscaler.planning.decisions.invariants import Violation
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.policies import BUILT_IN, DEFAULT_POLICY
from autoscaler.planning.quarantine.culprits import culprits
from autoscaler.planning.quarantine.standing_still import standing_still, with_only
from autoscaler.planning.snapshot.cluster_state import (
    ClusterState,
    JobPhase,
    PlannedJob,
    PlannedPool,
)
from jobs.commands.quarantine import storable

Planner = Callable[[ClusterState], Plan]
Check = Callable[[ClusterState, Plan], Sequence[Violation]]

_NOTHING = Plan(decisions=(), pools=())
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningTime:
    """All are seconds of the processor, and guesses: a thousand jobs take less than one.

    Together below what a session may be silent (see `database_timeouts`), on a machine five times
    too busy.
    """

    whole: float = 15.0
    part: float = 4.0  # one pool, or some of its jobs
    together: float = 50.0  # enough to find one job among a thousand


PLANNING_TIME: Final = PlanningTime()


class PlanRefused(Exception):
    """A plan breaks an invariant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlans:
    """A sound plan of every pool that has one, and what was wrong with others.

    `alarm` is a sentence for admins, empty: nothing. `unplanned` says of each pool without a plan
    why, and `failing` of each job that was left out which error it makes.
    """

    plan: Plan
    alarm: str = ""
    unplanned: Mapping[str, str] = field(default_factory=dict)
    failing: Mapping[str, Exception] = field(default_factory=dict)


def decide(
    state: ClusterState, planner: Planner, check: Check, time: PlanningTime = PLANNING_TIME
) -> PoolPlans:
    """Plan everything; where that fails, each pool as far as it can be planned."""
    left = ProcessorTime(seconds=time.together)
    whole = _Attempt(planner, check, left, time.whole)(state)
    if isinstance(whole, Plan):
        return PoolPlans(plan=whole)
    _log.error("The planner failed.", exc_info=whole.error, extra={"action": "plan"})
    attempt = _Attempt(planner, check, left, time.part)
    parts: list[PoolPlans] = []
    for pool in state.pools:
        parts.append(_of_pool(pool, _with_starts(state, parts), attempt))
    decisions = {one.job_id: one for part in parts for one in part.plan.decisions}
    return PoolPlans(
        plan=Plan(
            decisions=tuple(decisions[job.job_id] for job in state.jobs if job.job_id in decisions),
            pools=tuple(outcome for part in parts for outcome in part.plan.pools),
            explanations=_JoinedExplanations([part.plan.explanations for part in parts]),
        ),
        alarm="; ".join(part.alarm for part in parts if part.alarm),
        unplanned={pool: why for part in parts for pool, why in part.unplanned.items()},
        failing={job_id: error for part in parts for job_id, error in part.failing.items()},
    )


def _of_pool(pool: PlannedPool, state: ClusterState, attempt: _Attempt) -> PoolPlans:
    own = only(pool, state)
    first = attempt(own)
    if isinstance(first, Plan):
        return PoolPlans(plan=first)
    safe = replace(own, pools=(_with_built_in_policy(pool),))
    second = first if safe == own else attempt(safe)
    if isinstance(second, Plan):
        alarm = f"planned by {DEFAULT_POLICY} instead of policies of extensions: {first}"
        return PoolPlans(plan=second, alarm=_of(pool, state, alarm))
    return _without_culprits(pool, state, safe, _Attempts(safe, attempt), known=second)


@dataclass(slots=True)
class _Attempts:
    """Plans of one pool in which only some jobs are looked into; the newest sound one is kept."""

    state: ClusterState
    attempt: _Attempt
    plan: Plan = field(default_factory=lambda: _NOTHING)

    def __call__(self, job_ids: frozenset[str]) -> Exception | None:
        tried = self.attempt(with_only(self.state, job_ids))
        if isinstance(tried, Plan):
            self.plan = tried
            return None
        return tried.error


def _without_culprits(
    pool: PlannedPool,
    state: ClusterState,
    safe: ClusterState,
    attempts: _Attempts,
    *,
    known: _Failure,
) -> PoolPlans:
    """The pool's plan without looking into some jobs; none where no job is to blame."""
    if attempts(frozenset()) is not None:
        alarm = _of(pool, state, str(known))
        return PoolPlans(plan=_NOTHING, alarm=alarm, unplanned={pool.name: str(known)})
    own = [job for job in safe.jobs if job.pool == pool.name]
    found = culprits(own, attempts, known=known.error)
    for job_id, error in found.failing.items():
        extra = {"action": "plan", "job_id": job_id}
        _log.error("A job is left out of the plan.", exc_info=error, extra=extra)
    return PoolPlans(plan=attempts.plan, failing=found.failing)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why there is no sound plan."""

    error: Exception

    def __str__(self) -> str:
        if isinstance(self.error, PlanRefused):
            return str(self.error)
        return f"planning failed: {storable(self.error)}"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A sound plan, in a bounded time."""

    planner: Planner
    check: Check
    left: ProcessorTime
    at_most: float

    def __call__(self, state: ClusterState) -> Plan | _Failure:
        try:
            plan, violations = self.left.bound(lambda: self._checked(state), at_most=self.at_most)
        except Exception as error:  # noqa: BLE001 - whatever it is, others have to be planned
            return _Failure(error)
        if violations:
            broken = (f"{violation.rule}: {violation.message}" for violation in violations)
            return _Failure(PlanRefused("; ".join(broken)))
        return plan

    def _checked(self, state: ClusterState) -> tuple[Plan, Sequence[Violation]]:
        plan = self.planner(state)
        return plan, self.check(state, plan)


class _JoinedExplanations(Mapping[str, Explanation]):
    """Explanations of several plans, still worked out only when one is asked for."""

    def __init__(self, parts: Sequence[Mapping[str, Explanation]]) -> None:
        self._parts = parts

    def __getitem__(self, job_id: str) -> Explanation:
        for part in self._parts:
            if job_id in part:
                return part[job_id]
        raise KeyError(job_id)

    def __iter__(self) -> Iterator[str]:
        return (job_id for part in self._parts for job_id in part)

    def __len__(self) -> int:
        return sum(map(len, self._parts))


def only(pool: PlannedPool, state: ClusterState) -> ClusterState:
    """The pool, and what jobs of other pools hold of what their users may have in all pools."""
    quotas = tuple(quota for quota in state.quotas if quota.pool == pool.name)
    limited = {quota.team for quota in quotas if quota.user_limit_gpus is not None}
    own = (job for job in state.jobs if job.pool == pool.name)
    others = (job for job in state.jobs if job.pool != pool.name and job.team in limited)
    holders = (standing_still(job) for job in others)
    return replace(
        state,
        pools=(pool,),
        quotas=quotas,
        jobs=(*own, *(job for job in holders if job is not None)),
        changes=tuple(change for change in state.changes if change.pool == pool.name),
    )


def _with_starts(state: ClusterState, planned: Iterable[PoolPlans]) -> ClusterState:
    """The snapshot in which jobs of pools that were planned hold, or will, what they are given."""
    given = {one.job_id: one.allocation for part in planned for one in part.plan.decisions}

    def after(job: PlannedJob) -> PlannedJob:
        way = given.get(job.job_id)
        return job if way is None else replace(job, phase=JobPhase.ACTIVE, target=way)

    return replace(state, jobs=tuple(map(after, state.jobs)))


def _with_built_in_policy(pool: PlannedPool) -> PlannedPool:
    name = pool.policy.partition(":")[0]
    return pool if name in BUILT_IN.names else replace(pool, policy=DEFAULT_POLICY)


def _of(pool: PlannedPool, state: ClusterState, alarm: str) -> str:
    return alarm if len(state.pools) == 1 else f"pool {pool.name}: {alarm}"
