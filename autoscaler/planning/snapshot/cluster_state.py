"""What does the planner look at? One immutable snapshot of the cluster, taken at one moment.

Everything here is a plain value: no database, no clock, no I/O. The control loop builds it from
what it observed, tests and the simulator build it by hand, and `planner.plan` reads nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.job_terms import BatchRange, JobTerms
from autoscaler.planning.snapshot.vocabulary import (
    RECLAIM_DELAY_SECONDS,
    AdmissionVariant,
    ReclaimTarget,
)

if TYPE_CHECKING:
    from autoscaler.planning.speed.all_reduce import AllReduceTable
    from autoscaler.planning.speed.scaling import ScalingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A machine of a pool. A slot stands for a GPU on a machine without GPUs.

    One that is not schedulable is closed: it gets nothing new, and workers there may stay. If it
    is draining as well they have to leave: to other nodes if there is room, else by a pause.
    """

    name: str
    gpus: int
    is_schedulable: bool = True
    is_draining: bool = False
    is_silent: bool = False  # it does not answer, which is why it gets nothing new


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRules:
    """When and how far GPUs are taken back. Borrowers are shrunk first, then paused."""

    target: ReclaimTarget = ReclaimTarget.GUARANTEE
    delay_seconds: float = RECLAIM_DELAY_SECONDS  # GPUs may become free by themselves
    min_runtime_seconds: float = 0.0  # a borrower that runs for less is only shrunk for a claim


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPool:
    """GPUs of one type, planned together under one policy.

    `usage_weight` says how much decayed usage of the past counts against a team when GPUs are
    lent: 0 not at all. `dollars_per_gpu_hour` is what policies about money reckon with.
    """

    name: str
    nodes: tuple[PlannedNode, ...]
    policy: str = "completion_time"
    gpu_type: str = ""
    admission: AdmissionVariant = AdmissionVariant.QUEUEING
    reclaim: ReclaimRules = field(default_factory=ReclaimRules)
    usage_weight: float = 0.0
    dollars_per_gpu_hour: float = 0.0
    all_reduce: AllReduceTable | None = None  # measured once; a better prior for new jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamQuota:
    """What a team may use of one pool. `limit_gpus` None: no limit but the pool.

    Bounds of a team with children hold for all of its jobs and those of its descendants together.
    `lending_limit_gpus` is the most of the guarantee that others may use while it lies idle; None:
    all of it. `decayed_gpu_seconds` is the team's usage of the past, halved every half-life.
    `user_limit_gpus` is the most that one user's jobs of the team itself may hold together, in all
    pools; None: no limit.
    """

    team: str
    pool: str
    guaranteed_gpus: int
    limit_gpus: int | None = None
    over_quota_weight: float = 1.0
    parent: str | None = None
    lending_limit_gpus: int | None = None
    decayed_gpu_seconds: float = 0.0
    user_limit_gpus: int | None = None


class JobPhase(StrEnum):
    """What the planner must know of a job's state."""

    WAITING = "waiting"  # holds no GPU and wants some
    ACTIVE = "active"  # holds GPUs: starting, running or rescaling


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Mean step time at one configuration, as the workers reported it; `fitting` reads it."""

    workers: int
    nodes: int
    global_batch_size: int
    steps: int
    step_seconds: float
    gpu_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """What a job holds: workers per node, and the global batch it trains with."""

    workers_by_node: tuple[tuple[str, int], ...]
    global_batch_size: int

    @property
    def workers(self) -> int:
        return sum(workers for _, workers in self.workers_by_node)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTarget:
    """A metric the application reports itself, and between which values its size is right."""

    metric: str
    grow_above: float | None = None  # None: never grows for it
    shrink_below: float | None = None  # None: never shrinks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """A worker that holds the others of its job up: each step takes as long as it does."""

    worker_id: str
    node: str
    relative_speed: float  # 0.6: 40 % slower than the median of the job's workers
    may_be_replaced: bool = True  # False: so many were replaced lately that it would not help


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPool:
    """A further pool in which a waiting job may be, and what is known of the job there."""

    name: str
    batch: BatchRange  # within the memory of the GPUs there
    scaling: ScalingModel | None = None  # fitted on the GPU type there; None: never measured
    is_measurable: bool = True  # as of the job


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob(JobTerms):
    """One queued or active job: its terms, and what was observed of it.

    Times are seconds on the snapshot's clock.

    `target` belongs to a job with `can_rescale=False` whose change is under way: what it will hold
    when the change is over (no worker at all for a job being stopped). The planner counts on it,
    so that GPUs which are already on their way back are not asked for a second time from
    somebody else. None: the job stays with `allocation`.
    """

    job_id: str
    phase: JobPhase
    allocation: Allocation | None = None
    started_at: float | None = None
    last_rescaled_at: float | None = None
    rescales: int = 0
    stall_seconds: float = 0.5  # measured stall of the job's own rescales; guessed until then
    attained_gpu_seconds: float = 0.0
    remaining_samples: int | None = None  # None: length unknown
    model_bytes: int = 0
    can_rescale: bool = True  # False while starting, rescaling, stopping or of mode `fixed`
    target: Allocation | None = None  # where a change under way leads; see below
    can_pause: bool = False  # True where `can_rescale` is False and pausing works: mode `fixed`
    scaling: ScalingModel | None = None  # fitted on the pool's GPU type; None: never measured
    is_measurable: bool = True  # False: nothing reports its speed, as of many a plain script
    shares_work: bool = True  # False: a plain script; each worker would do the same once more
    running_since: float | None = None  # when its present run began; None: `started_at`
    waiting_since: float | None = None  # of a waiting job that ran before; None: `submitted_at`
    # Of a job that waits for something else than GPUs, such as its data: when that is there;
    # infinite: nobody can tell. The planner is shown no such job, who looks ahead is.
    ready_at: float | None = None
    noise_scale: float | None = None  # gradient noise phi, in samples, at the base batch
    scale_on: MetricTarget | None = None
    straggler: Straggler | None = None  # the slowest of them
    avoided_nodes: tuple[str, ...] = ()  # where a substitute would be slow as well
    # Newest values of the application's own metrics, reported at its present size.
    reported: tuple[tuple[str, float], ...] = ()
    # Where it may be instead of `pool`, as long as it waits; `pool_choice` says where it is to be.
    other_pools: tuple[OtherPool, ...] = ()
    may_be_dropped: bool = True  # False: another of its pools was not asked yet, and may take it

    def in_pool(self, name: str) -> PlannedJob:
        """Return the job in another of its pools; the one where it was is among the others then."""
        if name == self.pool:
            return self
        there = next(one for one in self.other_pools if one.name == name)
        here = OtherPool(
            name=self.pool,
            batch=self.batch,
            scaling=self.scaling,
            is_measurable=self.is_measurable,
        )
        others = (here if one is there else one for one in self.other_pools)
        return replace(
            self,
            pool=name,
            batch=there.batch,
            scaling=there.scaling,
            is_measurable=there.is_measurable,
            other_pools=tuple(others),
        )


class ChangeKind(StrEnum):
    """What happened to a pool lately; used to say why a plan changes, never to make it."""

    JOB_FINISHED = "job_finished"  # completed, failed, cancelled or paused by its user
    WORKER_LOST = "worker_lost"  # `name` is the job that lost it
    TERMS_CHANGED = "terms_changed"  # `name` is the id of the job that may have other sizes now
    IDLE = "idle"  # `name` is the id of the job that does nothing, and may have its fewest workers
    NODE_LOST = "node_lost"
    NODE_JOINED = "node_joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """One recent event of a pool: `name` is the job's or the node's.

    Of `worker_lost`, `terms_changed` and `idle` it is the job's id.
    `team` is the job's; None: nobody may be told its name.
    """

    kind: ChangeKind
    pool: str
    name: str
    team: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """The whole snapshot. `now` is in seconds on the clock all other times use.

    `changes` holds what happened since the last applied plan, or within the last few seconds.
    """

    now: float
    pools: tuple[PlannedPool, ...]
    quotas: tuple[TeamQuota, ...]
    jobs: tuple[PlannedJob, ...]
    changes: tuple[PoolChange, ...] = ()
