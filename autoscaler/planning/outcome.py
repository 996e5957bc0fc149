"""What happens to each job of a pool, before it is put into words?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from autoscaler.planning.decisions import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.cluster_state import Allocation, Change, ChangeKind, Pool, TeamQuota
    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.fair_share import Admission
    from autoscaler.planning.split import Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One job: what it had, what it gets. `size` None: it gets nothing."""

    demand: Demand
    action: Action
    size: Size | None
    allocation: Allocation | None
    is_fragmented: bool = False

    @property
    def job_id(self) -> str:
        return self.demand.job.job_id

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


@dataclass(frozen=True, kw_only=True)
class PoolPicture:
    """A pool before and after the plan: everything reasons and sentences are made of."""

    pool: Pool
    now: float
    quotas: Mapping[str, TeamQuota]
    admission: Admission
    split: Split
    outcomes: tuple[Outcome, ...]
    changes: tuple[Change, ...]

    @cached_property
    def gpus_total(self) -> int:
        return sum(node.gpus for node in self.pool.nodes)

    @cached_property
    def gpus_free_now(self) -> int:
        """GPUs nobody holds, on nodes that take new workers."""
        stuck = sum(o.demand.stuck_gpus for o in self.outcomes)
        held = sum(o.gpus_before for o in self.outcomes)
        return max(
            sum(node.gpus for node in self.pool.nodes if node.is_schedulable) - held + stuck, 0
        )

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
    def by_id(self) -> Mapping[str, Outcome]:
        return {outcome.job_id: outcome for outcome in self.outcomes}

    @cached_property
    def gainers(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.gains)

    @cached_property
    def losers(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.loses)

    @cached_property
    def starts(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.action is Action.START)

    def is_below_guarantee(self, team: str) -> bool:
        return self.held_by_team[team] < self.quotas[team].guaranteed_gpus

    def is_above_guarantee(self, team: str) -> bool:
        return self.held_by_team[team] > self.quotas[team].guaranteed_gpus

    def changed(self, kind: ChangeKind) -> tuple[str, ...]:
        """Names of what happened lately in this pool."""
        return tuple(change.name for change in self.changes if change.kind is kind)
