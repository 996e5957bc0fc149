"""What does the planner answer? A plan: one decision per job, each with its reason and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from autoscaler.planning.cluster_state import Allocation


class Action(StrEnum):
    """What a decision asks the control loop to do."""

    START = "start"  # waiting -> runs with `allocation`
    KEEP = "keep"  # active, nothing changes
    RESCALE = "rescale"  # active, other workers or another global batch
    PAUSE = "pause"  # active, gives everything back (checkpoint first), waits again
    WAIT = "wait"  # waiting, goes on waiting


class Reason(StrEnum):
    """Why: one stable code per decision. The first group explains waiting, the second change."""

    WAITING_FOR_QUOTA = "waiting_for_quota"
    WAITING_FOR_FAIR_SHARE = "waiting_for_fair_share"
    WAITING_FOR_RECLAIM = "waiting_for_reclaim"
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    BEHIND_HIGHER_PRIORITY = "behind_higher_priority"
    FRAGMENTED = "fragmented"
    EXCEEDS_LIMIT = "exceeds_limit"

    JOB_ARRIVED = "job_arrived"
    JOB_FINISHED = "job_finished"
    RECLAIM_GUARANTEE = "reclaim_guarantee"
    FAIR_SHARE = "fair_share"
    BATCH_RETUNE = "batch_retune"
    SCALING_INEFFICIENT = "scaling_inefficient"
    SCALING_EFFICIENT = "scaling_efficient"  # measured, and more workers pay on GPUs that are free
    NODE_LOST = "node_lost"
    NODE_JOINED = "node_joined"

    BEST_ALLOCATION = "best_allocation"  # kept: no other split of the pool is worth more
    COOLDOWN = "cooldown"  # kept: changed less than `min_interval` ago
    NOT_RESCALABLE = "not_rescalable"  # kept: starting, rescaling, or of mode `fixed`


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A number of workers with the batch the planner would pair it with, and what it is worth."""

    workers: int
    global_batch_size: int
    samples_per_second: float
    speedup: float  # S_j(k), 1.0 = the job's base rate on its smallest allocation
    value: float  # in the policy's own unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens to one job, and why, in words and numbers that are stored together."""

    job_id: str
    action: Action
    allocation: Allocation | None
    previous: Allocation | None
    reason: Reason
    message: str  # one sentence with numbers, for people
    beneficiaries: tuple[str, ...] = ()  # jobs that get what this one gives
    choices: tuple[Choice, ...] = ()  # k-1, k, k+1 (fewer at the ends)
    price: float | None = None  # shadow price: what one more GPU would add to the pool's value
    position: int | None = None  # place in the pool's queue, 1 = next
    gpus_asked: int | None = None
    gpus_free: int | None = None


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
    """All decisions of a tick, in the snapshot's job order."""

    decisions: tuple[Decision, ...]
    pools: tuple[PoolOutcome, ...] = field(default=())
