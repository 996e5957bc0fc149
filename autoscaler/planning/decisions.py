"""What does the planner answer? A plan: one decision per job, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from autoscaler.planning.cluster_state import Allocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.planning.explanations.values import Explanation


class Action(StrEnum):
    """What a decision asks the control loop to do."""

    START = "start"  # waiting -> runs with `allocation`
    KEEP = "keep"  # active, nothing changes
    RESCALE = "rescale"  # active, other workers or another global batch
    PAUSE = "pause"  # active, gives everything back (checkpoint first), waits again
    WAIT = "wait"  # waiting, goes on waiting
    DROP = "drop"  # new, does not fit, and its pool keeps no queue: it is refused for good


class Reason(StrEnum):
    """Why: one stable code per decision. The first group explains waiting, the second change."""

    WAITING_FOR_QUOTA = "waiting_for_quota"
    WAITING_FOR_FAIR_SHARE = "waiting_for_fair_share"
    WAITING_FOR_RECLAIM = "waiting_for_reclaim"
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    BEHIND_HIGHER_PRIORITY = "behind_higher_priority"  # it waits, or is paused for one of its team
    FRAGMENTED = "fragmented"
    EXCEEDS_LIMIT = "exceeds_limit"
    DROPPED = "dropped"  # did not fit when it arrived, in a pool that keeps no queue

    JOB_ARRIVED = "job_arrived"
    JOB_FINISHED = "job_finished"
    RECLAIM_GUARANTEE = "reclaim_guarantee"
    FAIR_SHARE = "fair_share"
    RESERVATION = "reservation"  # GPUs saved up for a large job: it starts, and its guests pause
    BATCH_RETUNE = "batch_retune"
    APPLICATION_METRIC = "application_metric"  # the application asks for it: see `scale_on`
    SCALING_INEFFICIENT = "scaling_inefficient"
    SCALING_EFFICIENT = "scaling_efficient"  # measured, and more workers pay on GPUs that are free
    NODE_LOST = "node_lost"
    NODE_JOINED = "node_joined"
    NODE_DRAINED = "node_drained"
    STRAGGLER = "straggler"  # a worker slower than the others is replaced
    DEFRAGMENT = "defragment"  # moved to other nodes: it gets faster there, or makes room

    BEST_ALLOCATION = "best_allocation"  # no other split of the pool is worth more
    COOLDOWN = "cooldown"  # kept: changed less than `min_interval` ago
    NOT_RESCALABLE = "not_rescalable"  # kept: starting, rescaling, or of mode `fixed`


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineWarning:
    """A job that is predicted to end after its deadline. Times are on the snapshot's clock.

    A job that waits is warned of when even its fastest size, taken now, would be too late.
    """

    deadline: float
    expected_at: float | None  # its end at the chosen size; None: it gets nothing now
    soonest_at: float  # its end if it got the size that is fastest for it, from now on
    is_out_of_reach: bool  # no size of the job meets its deadline any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens to one job. Why, in numbers: the plan's `explanations`."""

    job_id: str
    action: Action
    allocation: Allocation | None
    previous: Allocation | None
    reason: Reason
    deadline_warning: DeadlineWarning | None = None
    replaces: str | None = None  # the worker that leaves for another one


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOutcome:
    """The optimisation of one pool, with its certificate: `gap` is 0 for an exact solution."""

    pool: str
    policy: str
    value: float
    upper_bound: float
    gap: float
    price: float
    gpus_total: int
    gpus_used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All decisions of a tick, in the snapshot's job order.

    `explanations`, by job id, are worked out one by one when they are asked for.
    """

    decisions: tuple[Decision, ...]
    pools: tuple[PoolOutcome, ...] = field(default=())
    explanations: Mapping[str, Explanation] = field(default_factory=dict, compare=False, repr=False)
