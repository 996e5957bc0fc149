"""What does the planner answer? A plan: one decision per job, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import Allocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.job_vocabulary import JobReason
    from autoscaler.planning.decisions.explanation import Explanation


class Action(StrEnum):
    """What a decision asks the control loop to do."""

    START = "start"  # waiting -> runs with `allocation`
    KEEP = "keep"  # active, nothing changes
    RESCALE = "rescale"  # active, other workers or another global batch
    PAUSE = "pause"  # active, gives everything back (checkpoint first), waits again
    WAIT = "wait"  # waiting, goes on waiting
    DROP = "drop"  # new, does not fit, and its pool keeps no queue: it is refused for good


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
    reason: JobReason
    deadline_warning: DeadlineWarning | None = None
    replaces: str | None = None  # the worker that leaves for another one
    pool: str | None = None  # another of its pools, to which a waiting job goes; None: it stays


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
