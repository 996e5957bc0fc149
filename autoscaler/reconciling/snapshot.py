"""How does one job stand at this moment, in the database and on the worker host? As values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeVar, cast

from cluster.worker_host import ObservedProcess, ProcessPhase

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.limits import LIMITS, TimeLimits
from autoscaler.reconciling.questions import Question, Unanswered
from autoscaler.reconciling.worker_snapshot import NodeSnapshot, WorkerSnapshot
from autoscaler.team_budget import TeamBudget
from jobs.admission.disk_limits import DiskLimits, TeamDisk
from jobs.job_mode import JobMode
from jobs.lifecycle import ACTIVE, JobState
from jobs.spec.job_spec import JobSpec

_Answer = TypeVar("_Answer")


class RescaleMode(StrEnum):
    """How a job changes its workers."""

    HOT = "hot"  # led by a coordinator; they survive each other's loss
    RESTART = "restart"  # all of them end, then the next set starts


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSnapshot:
    """A job's coordinator in its present term."""

    node: str = ""  # where it was started last; empty: nowhere yet
    port: int | None = None
    seen_at: datetime | None = None  # when it spoke last
    restarts: int = 0  # since the job came into its state
    process: ObservedProcess | None = None
    is_being_started: bool = False

    @property
    def is_missing(self) -> bool:
        return self.process is None and not self.is_being_started


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentSnapshot:
    """What the job should run with, as written down last."""

    at: datetime
    worker_ids: tuple[str, ...]  # in rank order
    reason: str = ""
    message: str = ""
    replaces: str | None = None  # the worker that leaves for another


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSnapshot:
    """What the job trained with last, or trains with."""

    number: int
    worker_ids: tuple[str, ...]
    began_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignsOfLife:
    """When the job last showed that it gets anywhere, and when it was lost."""

    samples: int = 0
    progress_at: datetime | None = None
    trained_at: datetime | None = None  # its last epoch was over
    told_of_silence_at: datetime | None = None
    lost_at: datetime | None = None
    losses_in_a_row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsTold:
    """Limits of its spec of which the job's people know that they are near; None: not so."""

    max_duration: float | None = None
    budget_gpu_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """What the job's people have heard already; None: nothing yet."""

    preparation_revision: int | None = None  # the newest that they know to be in preparation
    disk_start: int | None = None  # the newest start of which they know that its disk fills
    idle_since: datetime | None = None  # of the idleness that they know of
    limits: LimitsTold = field(default_factory=LimitsTold)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """What was measured last of the job's files; None: nothing was."""

    disk_bytes: int | None = None
    disk_files: int | None = None
    bytes_within: int | None = None  # that they took at most while its team had room
    has_closed_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedUp:
    """What the job has used up so far, as counted last, which may be some seconds ago."""

    gpu_seconds: float = 0.0
    held_seconds: float = 0.0  # in which it held any GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What holds for all jobs of a look, or for all of a pool."""

    now: datetime
    limits: TimeLimits = LIMITS
    disk_limits: DiskLimits = field(default_factory=DiskLimits)
    team_disk: TeamDisk | None = None  # of the job's team
    used_up_budget: TeamBudget | None = None  # of the job's team, or of one above
    reclaim_seconds: float = 60.0  # after which lent GPUs must be back


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedProcesses:
    """Processes that the worker host refused in this look, and why it always will."""

    reason: JobReason
    why: str
    workers: tuple[str, ...]  # empty: the coordinator was refused


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSnapshot:
    """One job, with the workers of its newest assignment and all that are not gone."""

    id: str
    state: JobState
    state_since: datetime
    spec: JobSpec
    context: Context
    version: int = 1  # of its spec
    mode: RescaleMode = RescaleMode.HOT
    is_mode_known: bool = False  # its script registered once
    forms_group: bool = False  # its workers were seen to
    attempt: int = 1
    failures: int = 0
    starts: int = 1
    revision: int = 0
    ends_as: JobState | None = None
    reason: str = ""
    message: str = ""
    life: SignsOfLife = field(default_factory=SignsOfLife)
    notices: Notices = field(default_factory=Notices)
    disk: DiskUse = field(default_factory=DiskUse)
    used_up: UsedUp = field(default_factory=UsedUp)
    idle_since: datetime | None = None  # all its workers have done nothing since then
    assignment: AssignmentSnapshot | None = None
    generation: GenerationSnapshot | None = None  # the newest, open or ended
    workers: tuple[WorkerSnapshot, ...] = ()
    coordinator: CoordinatorSnapshot = field(default_factory=CoordinatorSnapshot)
    refused: RefusedProcesses | None = None
    answers: Mapping[Question[object], object] = field(default_factory=dict)

    def answer_to(self, question: Question[_Answer]) -> _Answer:
        """Return what was found out. Raises: Unanswered."""
        try:
            return cast("_Answer", self.answers[question])
        except KeyError:
            raise Unanswered(question) from None

    def seconds_since(self, moment: datetime | None) -> float:
        """Return how long ago it was; infinite for something that never happened."""
        return float("inf") if moment is None else (self.context.now - moment).total_seconds()

    @property
    def limits(self) -> TimeLimits:
        return self.context.limits

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def is_hot(self) -> bool:
        return self.mode is RescaleMode.HOT

    @property
    def can_shrink(self) -> bool:
        """Its workers share the work; else each would do all of it, whatever their number."""
        return self.is_hot or self.forms_group or self.spec.elastic.mode is JobMode.RESTART

    @property
    def wanted(self) -> tuple[str, ...]:
        """Ids of the newest assignment's workers, in rank order."""
        return self.assignment.worker_ids if self.assignment else ()

    @property
    def members(self) -> tuple[WorkerSnapshot, ...]:
        """Workers of the newest assignment that are on record, gone or not, in rank order."""
        by_id = {worker.id: worker for worker in self.workers}
        return tuple(by_id[worker_id] for worker_id in self.wanted if worker_id in by_id)

    @property
    def staying(self) -> tuple[WorkerSnapshot, ...]:
        """Members that are not gone."""
        return tuple(worker for worker in self.members if not worker.is_gone)

    @property
    def trained(self) -> tuple[WorkerSnapshot, ...]:
        """Members of the newest generation that are still wanted; all of its members if none is.

        Workers that others are to replace train on until these are ready, perhaps to the end.
        """
        newest = self.generation
        if newest is None:
            return ()
        wanted = tuple(worker for worker in self.members if worker.id in newest.worker_ids)
        if wanted or newest.ended_at is not None:
            return wanted
        return tuple(worker for worker in self.workers if worker.id in newest.worker_ids)

    @property
    def live(self) -> tuple[WorkerSnapshot, ...]:
        """Workers that hold GPUs."""
        return tuple(worker for worker in self.workers if not worker.is_gone)

    @property
    def goes_on_without_newcomers(self) -> bool:
        """Others train already, and do not need those that cannot be started."""
        return self.is_hot and any(worker.has_registered for worker in self.members)

    @property
    def in_preparation(self) -> tuple[ObservedProcess, ...]:
        """Processes that its host is making ready to run: of what it wants, and its coordinator."""
        processes = (self.coordinator.process, *(worker.process for worker in self.members))
        return tuple(p for p in processes if p and p.phase is ProcessPhase.PREPARING)

    @property
    def is_between_sets(self) -> bool:
        """A restart: the new workers are on record only when the old ones have gone."""
        return len(self.members) < len(self.wanted)

    @property
    def is_starting_over(self) -> bool:
        return self.state is JobState.STARTING and not any(w.has_registered for w in self.members)

    @property
    def is_heard(self) -> bool:
        """Its coordinator speaks; else what it would say is unknown."""
        is_at_rest, limits = self.state is JobState.RUNNING, self.limits
        silence = limits.silence_at_rest if is_at_rest else limits.coordinator_silence
        return self.seconds_since(self.coordinator.seen_at) < silence

    @property
    def is_trained(self) -> bool:
        """Its last epoch is over; what its script does now is its own affair."""
        over = self.life.trained_at
        return over is not None and self.assignment is not None and over >= self.assignment.at

    def counts_as_lost(self, node: NodeSnapshot) -> bool:
        """The node has been silent for so long that what ran there counts as lost."""
        silent_since = node.silent_since
        return (
            silent_since is not None
            and self.seconds_since(silent_since) >= self.limits.node_lost_after
        )

    def seconds_since_ready(self, moment: datetime) -> float:
        """Since this moment, or since all that is wanted began to run, if that was later."""
        if self.in_preparation:
            return 0.0
        started = [worker.process.started_at for worker in self.members if worker.process]
        return self.seconds_since(max([moment, *started]))
