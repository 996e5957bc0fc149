"""What happens to each job of a pool, and what of the pool explains it?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest
from itertools import accumulate
from typing import TYPE_CHECKING

from autoscaler.planning.decisions.explanation import Holder
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.outcomes.reasons import cause_of
from autoscaler.planning.snapshot.cluster_state import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.allocation.split import Split
    from autoscaler.planning.decisions.explanation import Substitution
    from autoscaler.planning.decisions.pool_offer import PoolOffer
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.fair_share import Admission
    from autoscaler.planning.outcomes.reasons import Cause
    from autoscaler.planning.placement.fragmentation import Fragmentation, MoveBalance
    from autoscaler.planning.snapshot.cluster_state import (
        Allocation,
        PlannedJob,
        PlannedNode,
        PlannedPool,
        PoolChange,
        TeamQuota,
    )
    from autoscaler.planning.teams.user_limits import UserLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationOutcome:
    """One job: what it had, what it gets. `size` None: it gets nothing."""

    demand: Demand
    action: Action
    size: Size | None
    allocation: Allocation | None
    fragmentation: Fragmentation | None = None  # enough GPUs are free for more, but not together
    balance: MoveBalance | None = None  # of a move that pays for itself
    substitution: Substitution | None = None  # of a slow worker, the size staying as it is

    @property
    def job_id(self) -> str:
        return self.demand.job.job_id

    @property
    def is_fragmented(self) -> bool:
        return self.fragmentation is not None

    @property
    def gpus_before(self) -> int:
        return self.demand.held_gpus

    @property
    def gpus_after(self) -> int:
        return self.size.workers * self.demand.job.gpus_per_worker if self.size else 0

    @property
    def gains(self) -> bool:
        return self.gpus_after > self.gpus_before

    @property
    def loses(self) -> bool:
        return self.gpus_after < self.gpus_before


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStep:
    """What a job gained by the last step up to its size, over its next smaller one."""

    outcome: AllocationOutcome
    gain: float
    gpus: int


@dataclass(frozen=True, kw_only=True)
class PoolPicture:
    """A pool before and after the plan: everything reasons and explanations are made of.

    What all jobs share is worked out once, when the first of them asks for it.
    """

    pool: PlannedPool
    # by id, as submitted; `demand.job` is as the policy restricts it
    jobs: Mapping[str, PlannedJob]
    now: float
    quotas: Mapping[str, TeamQuota]
    users: UserLimits
    admission: Admission
    split: Split
    outcomes: tuple[AllocationOutcome, ...]
    changes: tuple[PoolChange, ...]
    offers: Mapping[str, tuple[PoolOffer, ...]] = field(default_factory=dict)  # to those that chose
    _causes: dict[str, Cause] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def gpus_total(self) -> int:
        return sum(node.gpus for node in self.pool.nodes)

    @cached_property
    def gpus_free_now(self) -> int:
        """GPUs nobody holds, on nodes that take new workers."""
        stuck = sum(o.demand.stuck_gpus for o in self.outcomes)
        held = sum(o.gpus_before for o in self.outcomes)
        return max(self.gpus_open - held + stuck, 0)

    @cached_property
    def gpus_open(self) -> int:
        """GPUs on nodes that take new workers."""
        return sum(node.gpus for node in self.pool.nodes if node.is_schedulable)

    @cached_property
    def closed_nodes(self) -> tuple[PlannedNode, ...]:
        """Nodes with GPUs that take no new work, those with most first."""
        closed = (node for node in self.pool.nodes if not node.is_schedulable and node.gpus)
        return tuple(sorted(closed, key=lambda node: (-node.gpus, node.name)))

    @cached_property
    def held_by_team(self) -> Mapping[str, int]:
        held: defaultdict[str, int] = defaultdict(int)
        for outcome in self.outcomes:
            held[outcome.demand.job.team] += outcome.gpus_before
        return held

    @cached_property
    def planned_by_team(self) -> Mapping[str, int]:
        planned: defaultdict[str, int] = defaultdict(int)
        for outcome in self.outcomes:
            planned[outcome.demand.job.team] += outcome.gpus_after
        return planned

    @cached_property
    def by_id(self) -> Mapping[str, AllocationOutcome]:
        return {outcome.job_id: outcome for outcome in self.outcomes}

    @cached_property
    def gainers(self) -> tuple[AllocationOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.gains)

    @cached_property
    def losers(self) -> tuple[AllocationOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.loses)

    @cached_property
    def starts(self) -> tuple[AllocationOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.action is Action.START)

    @cached_property
    def held_by_user(self) -> Mapping[tuple[str, str], int]:
        """Return what each user's jobs of a team hold, by team and user."""
        held: defaultdict[tuple[str, str], int] = defaultdict(int)
        for outcome in self.outcomes:
            held[outcome.demand.job.team, outcome.demand.job.user] += outcome.gpus_before
        return held

    @cached_property
    def planned_by_user(self) -> Mapping[tuple[str, str], int]:
        planned: defaultdict[tuple[str, str], int] = defaultdict(int)
        for outcome in self.outcomes:
            planned[outcome.demand.job.team, outcome.demand.job.user] += outcome.gpus_after
        return planned

    def is_below_guarantee(self, team: str) -> bool:
        return self.held_by_team[team] < self.quotas[team].guaranteed_gpus

    def is_above_guarantee(self, team: str) -> bool:
        return self.held_by_team[team] > self.quotas[team].guaranteed_gpus

    def changed(self, kind: ChangeKind) -> tuple[PoolChange, ...]:
        """Return what happened lately in this pool."""
        return tuple(change for change in self.changes if change.kind is kind)

    @property
    def has_lost_nodes(self) -> bool:
        """True if a node is closed, or was lost lately."""
        is_closed = any(not node.is_schedulable for node in self.pool.nodes)
        return is_closed or bool(self.changed(ChangeKind.NODE_LOST))

    def cause_of(self, outcome: AllocationOutcome) -> Cause:
        if (known := self._causes.get(outcome.job_id)) is None:
            known = self._causes[outcome.job_id] = cause_of(outcome, self)
        return known

    @property
    def price(self) -> float | None:
        """The value that one more GPU would add to the pool."""
        return self.split.solution.price if self.split.solution else None

    @cached_property
    def givers_back(self) -> tuple[AllocationOutcome, ...]:
        """The jobs that lose GPUs which their team holds beyond its guarantee."""
        return tuple(o for o in self.losers if self.is_above_guarantee(o.demand.job.team))

    @cached_property
    def claimants(self) -> tuple[AllocationOutcome, ...]:
        """The jobs that gain GPUs which their team lacks of its guarantee."""
        return tuple(o for o in self.gainers if self.is_below_guarantee(o.demand.job.team))

    @cached_property
    def owed(self) -> tuple[AllocationOutcome, ...]:
        return tuple(self.by_id[demand.job.job_id] for demand in self.admission.owed)

    @cached_property
    def owed_ids(self) -> frozenset[str]:
        return frozenset(demand.job.job_id for demand in self.admission.owed)

    def guests_of(self, outcome: AllocationOutcome) -> tuple[AllocationOutcome, ...]:
        """Return the jobs that are paused now because this one fits on what was reserved for it."""
        gave_way = self.admission.gave_way.items()
        return tuple(self.by_id[guest] for guest, due in gave_way if due.job_id == outcome.job_id)

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """Return who holds the pool after the plan, most first."""
        held = {team: count for team, count in self.planned_by_team.items() if count}
        return tuple(
            Holder(
                team=team,
                gpus=held[team],
                borrowed_gpus=max(held[team] - self.quotas[team].guaranteed_gpus, 0),
            )
            for team in sorted(held, key=lambda name: (-held[name], name))
        )

    @cached_property
    def free_by_node(self) -> tuple[tuple[str, int], ...]:
        """Nodes that take new workers and have GPUs left when the plan is carried out."""
        free = {node.name: node.gpus for node in self.pool.nodes if node.is_schedulable}
        for outcome in self.outcomes:
            places = outcome.allocation.workers_by_node if outcome.allocation else ()
            for node, workers in places:
                if node in free:
                    free[node] -= workers * outcome.demand.job.gpus_per_worker
        return tuple((node, gpus) for node, gpus in free.items() if gpus > 0)

    def best_last_step(self, *, besides: AllocationOutcome) -> LastStep | None:
        """Return who gained most from the last step it was given, this job left out."""
        others = (step for step in self._best_last_steps if step.outcome is not besides)
        return next(others, None)

    @cached_property
    def _best_last_steps(self) -> tuple[LastStep, ...]:
        """The two best: whoever asks, one of them is another job's."""
        steps = (step for step in map(_last_step, self.outcomes) if step is not None)
        return tuple(nlargest(2, steps, key=lambda step: (step.gain, step.outcome.job_id)))

    def gpus_asked_up_to(self, outcome: AllocationOutcome) -> int:
        """Return what the job and all that stand before it in the queue need together."""
        return self._asked_by_position[self.admission.refused[outcome.job_id].position]

    @cached_property
    def _asked_by_position(self) -> Mapping[int, int]:
        queue = sorted(
            (refusal.position, self.by_id[job_id].demand.needed_gpus)
            for job_id, refusal in self.admission.refused.items()
        )
        positions = [position for position, _ in queue]
        totals = accumulate(needed if position else 0 for position, needed in queue)
        return dict(zip(positions, totals, strict=True))


def _last_step(outcome: AllocationOutcome) -> LastStep | None:
    size = outcome.size
    if size is None or not size.samples_per_second:
        return None
    below = [s for s in outcome.demand.sizes if s.workers < size.workers]
    if not below:
        return None
    return LastStep(
        outcome=outcome,
        gain=size.speedup / below[-1].speedup - 1,
        gpus=(size.workers - below[-1].workers) * outcome.demand.job.gpus_per_worker,
    )
