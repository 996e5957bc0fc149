"""What does an explanation consist of? One small value per kind of decision, all numbers.

A value names no job without saying whose it is, so that `explanations.audience.seen_by` can take
out what a reader may not know. GPUs are counted, times are seconds, gains are relative: 0.31 is
31 % faster. All of it is plain data that `dataclasses.asdict` turns into JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Final

from autoscaler.job_vocabulary import JobReason

if TYPE_CHECKING:
    from autoscaler.planning.decisions.pool_offer import PoolOffer
    from autoscaler.planning.demand.application_metric import MetricReading
    from autoscaler.planning.placement.fragmentation import Fragmentation, MoveBalance
    from autoscaler.planning.snapshot.cluster_state import Straggler


class ExplanationKind(StrEnum):
    """What a decision does with a job; readers of a stored explanation tell its numbers by it."""

    RUNNING = "running"
    STARTED = "started"
    RESCALED = "rescaled"
    PAUSED = "paused"
    WAITING = "waiting"
    REFUSED = "refused"
    DROPPED = "dropped"


OTHER_TEAMS: Final = "other teams"  # those that a reader is told nothing of; no team's name


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRef:
    """A job an explanation speaks of. Without id and name its reader may only know the team."""

    job_id: str | None
    name: str | None
    team: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Some jobs, of which the first few are named, and how many more there are."""

    named: tuple[JobRef, ...] = ()
    more: int = 0

    @property
    def count(self) -> int:
        return len(self.named) + self.more


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeOption:
    """A number of workers with the batch the planner would pair it with, and what it is worth."""

    workers: int
    global_batch_size: int
    samples_per_second: float  # predicted; 0: not known
    speedup: float  # S_j(k), 1.0 = the job's base rate on its smallest allocation
    value: float  # in the policy's own unit
    efficiency: float = 1.0  # what a sample of this batch counts, by the gradient noise


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamShare:
    """A team's GPUs in one pool: before the plan, after it, and what it was promised."""

    team: str
    held_gpus: int
    planned_gpus: int
    guaranteed_gpus: int
    limit_gpus: int | None
    entitled_gpus: int  # what its jobs have a claim to now: of its guarantee, or of its fair share

    @property
    def borrowed_gpus(self) -> int:
        return max(self.planned_gpus - self.guaranteed_gpus, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserShare:
    """What the jobs hold together that a job's user has in its team, where these have a limit."""

    limit_gpus: int  # in all pools
    held_gpus: int  # in this pool, before the plan
    planned_gpus: int  # in this pool, after it
    elsewhere_gpus: int  # in other pools

    @property
    def used_gpus(self) -> int:
        return self.planned_gpus + self.elsewhere_gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A claim that is met by taking GPUs back: `missing_gpus` of a team's guarantee, for `jobs`.

    None are missing where the claim is to a share beyond the team's own guarantee.
    """

    team: str
    missing_gpus: int
    guaranteed_gpus: int
    entitled_gpus: int  # the whole claim: see `TeamShare`
    jobs: Jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """GPUs that add up for a large job which has waited long, `saved_gpus` of them so far.

    Those are free, or used by guests that give way. Moments are seconds on the snapshot's clock.
    """

    job: JobRef
    gpus: int
    saved_gpus: int
    since: float
    promised_at: float | None  # in whole minutes; None: of too many jobs the length is not known


class Hindrance(StrEnum):
    """What keeps a running job from having more."""

    RANGE = "range"  # it has the most it may use
    UNMEASURED = "unmeasured"  # it first has to be measured where it is
    UNMEASURABLE = "unmeasurable"  # nothing reports its speed: a guess decides
    PLAIN = "plain"  # each worker would do the same work once more
    TEAM_LIMIT = "team_limit"
    USER_LIMIT = "user_limit"
    RIVAL = "rival"  # the same GPUs bring another job more
    GAIN = "gain"  # GPUs are free, but the step would not pay for the change
    FRAGMENTED = "fragmented"  # no node has enough free GPUs together
    COOLDOWN = "cooldown"  # it was changed less than its `min_interval` ago
    CHANGING = "changing"  # a change is under way
    FIXED = "fixed"  # its mode allows no change


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """The next size up: how many GPUs more it takes, and how much faster the job would be."""

    workers: int
    gpus: int
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """The job that gained most from the last step it was given: the best other use of a GPU."""

    job: JobRef
    workers: int
    gpus: int  # that step took
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    seconds_ago: float
    min_interval_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """A slow worker leaves when another one, on this node, is ready."""

    straggler: Straggler
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job that stays as it is, and why it has not more."""

    kind: ClassVar = ExplanationKind.RUNNING
    reason: JobReason
    workers: int
    choices: tuple[SizeOption, ...]  # k-1, k, k+1 (fewer at the ends)
    price: float | None  # what one more GPU would add to the pool's value
    team: TeamShare
    hindrance: Hindrance
    next_step: NextStep | None
    rival: Rival | None
    cooldown: Cooldown | None
    straggler: Straggler | None = None  # that stays: there is no free GPU, or none that would help
    user: UserShare | None = None


class GpuOrigin(StrEnum):
    """Whose GPUs a job starts on."""

    GUARANTEE = "guarantee"
    PARTLY_BORROWED = "partly_borrowed"
    BORROWED = "borrowed"
    RETURNED = "returned"  # the guarantee, which others give back
    RESERVED = "reserved"  # saved up for it, and used by guests until now


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A waiting job that starts."""

    kind: ClassVar = ExplanationKind.STARTED
    reason: JobReason
    workers: int
    gpus: int
    global_batch_size: int
    is_measured: bool  # its speed there is known from before
    choices: tuple[SizeOption, ...]
    price: float | None
    team: TeamShare
    origin: GpuOrigin
    givers: Jobs  # those that give GPUs back for it
    pools: tuple[PoolOffer, ...] = ()  # of a job that may be in several: all of them, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaled:
    """A job before and after: what the change should bring (`gain`), what it costs (the stall)."""

    kind: ClassVar = ExplanationKind.RESCALED
    reason: JobReason
    before: SizeOption
    after: SizeOption
    gain: float | None  # None: one of both speeds is not known
    stall_seconds: float
    choices: tuple[SizeOption, ...]  # around the new size
    price: float | None
    team: TeamShare
    owed: Owed | None  # the claim it gives way to
    takers: Jobs  # who gets what it gives
    givers: Jobs  # who gives what it gets
    finished: Jobs  # what ended lately in the pool
    joined_nodes: tuple[str, ...]  # what joined it lately
    pool: str
    pool_gpus: int
    places: tuple[tuple[str, int], ...]  # workers by node, afterwards
    balance: MoveBalance | None  # of a move to other nodes that pays for itself
    reading: MetricReading | None  # of the metric its application scales on
    substitution: Substitution | None = None
    reports_speed: bool = True  # False: nothing ever will, as in restart mode
    user: UserShare | None = None

    @property
    def pays_back_after_seconds(self) -> float | None:
        """Return when samples missed during the stall are made up for; None: never, or unknown."""
        return self.stall_seconds / self.gain if self.gain and self.gain > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A running job that gives everything back."""

    kind: ClassVar = ExplanationKind.PAUSED
    reason: JobReason
    gpus_given: int
    needed_gpus: int
    gpus_left: int  # that it could have had
    pool: str
    owed: Owed | None  # the claim of another team it gives way to
    takers: Jobs  # who gets what it gives
    reserved: Reserved | None  # it was a guest on these


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A team that holds GPUs of the pool after the plan."""

    team: str
    gpus: int
    borrowed_gpus: int


class RemedyKind(StrEnum):
    """The one change that would start a waiting job."""

    HIGHER_PRIORITY = "higher_priority"  # raised to `priority`
    FREE_GPUS = "free_gpus"  # `gpus` more of them
    GPUS_TOGETHER = "gpus_together"  # `gpus` free ones on one node
    FEWER_WORKERS = "fewer_workers"  # `min_workers` lowered to `workers`
    RAISED_LIMIT = "raised_limit"  # the team's limit raised to `gpus`
    RAISED_USER_LIMIT = "raised_user_limit"  # that of each user of the team raised to `gpus`
    RAISED_GUARANTEE = "raised_guarantee"  # the team's guarantee raised to `gpus`
    OTHER_POOL = "other_pool"  # submitted to `pool` instead
    PREEMPTIBLE = "preemptible"  # that may borrow
    REOPENED_NODE = "reopened_node"  # `node` takes work again
    PATIENCE = "patience"  # none is needed: its GPUs are on their way
    NONE = "none"  # no single change of the job or of its team's quota would


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change, in the numbers that its kind has, and how many running jobs it would pause."""

    kind: RemedyKind
    gpus: int | None = None
    workers: int | None = None
    priority: int | None = None
    pool: str | None = None
    node: str | None = None
    paused_jobs: int = 0


class Closing(StrEnum):
    """Why a node takes no new work."""

    CORDONED = "cordoned"  # an admin said so
    DRAINING = "draining"  # an admin said so, and what runs there has to leave
    SILENT = "silent"  # it does not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedNode:
    """A node of the pool that takes no new work."""

    name: str
    gpus: int
    closing: Closing


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A job that waits, and time may help. What else may: see `remedy_search`."""

    kind: ClassVar = ExplanationKind.WAITING
    reason: JobReason
    needed_gpus: int  # for its smallest size
    gpus_per_worker: int
    free_gpus: int  # nobody holds them now
    available_gpus: int  # free, or can be freed by shrinking others
    asked_gpus: int  # by it and all that stand before it in the queue
    position: int | None  # in the pool's queue; 1 is next
    price: float | None
    choices: tuple[SizeOption, ...]  # its smallest size
    team: TeamShare
    is_owed: bool  # its smallest size is within its team's guarantee
    is_non_preemptible: bool
    blocker: JobRef | None  # whom it stands behind
    reserved: Reserved | None  # for itself, or for whom it stands behind
    givers: Jobs  # those that give GPUs back in this plan
    holders: tuple[Holder, ...]  # most first
    fragmentation: Fragmentation | None  # where the count fits and the shape does not
    movable: Jobs  # whose moves would make room, but cost more than they bring
    closed_nodes: tuple[ClosedNode, ...]  # most GPUs first; a few of them
    closed_nodes_count: int
    open_gpus: int  # of nodes that take new work
    pool: str
    pool_gpus: int
    user: UserShare | None = None
    pools: tuple[PoolOffer, ...] = ()  # as of a job that starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A job that can never start as it is: its user must change something."""

    kind: ClassVar = ExplanationKind.REFUSED
    reason: JobReason
    needed_gpus: int
    gpus_per_worker: int
    team: TeamShare
    pool: str
    pool_gpus: int
    remedy: Remedy | None
    user: UserShare | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A new job that does not fit, in a pool that keeps no queue: it is refused for good."""

    kind: ClassVar = ExplanationKind.DROPPED
    reason: JobReason
    needed_gpus: int
    available_gpus: int  # left when every admitted job takes its smallest size
    team: TeamShare
    pool: str


Explanation = Running | Started | Rescaled | Paused | Waiting | Refused | Dropped
