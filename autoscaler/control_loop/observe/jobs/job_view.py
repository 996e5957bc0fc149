"""How does one job stand, in the database and on the worker host, at this moment?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from cluster.models import Node, Pool
from cluster.worker_host import ObservedProcess

from autoscaler.control_loop.observe.jobs.names import coordinator_id
from autoscaler.reconciling.endings import WorkerEnding, ending_of
from jobs.job_mode import JobMode
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Assignment, Generation, Job, Worker
from jobs.spec.job_spec import JobSpec
from jobs.worker_phase import WorkerPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerView:
    """One worker: its row, and its process if the host lists one."""

    row: Worker
    process: ObservedProcess | None

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def node(self) -> Node:
        """Return where it is. A node can only be deleted once all that was there is long gone."""
        if self.row.node is None:
            raise ValueError(f"The node of {self.id}, {self.row.node_name}, was deleted.")
        return self.row.node

    @property
    def is_gone(self) -> bool:
        return self.row.phase == WorkerPhase.GONE

    @property
    def ending(self) -> WorkerEnding | None:
        """Return how it ended; None while it is not gone."""
        return ending_of(self.row.exit_code, self.row.failing) if self.is_gone else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveJob:
    """One live job, with the workers of its newest assignment and all that are not gone.

    Views of a job that differ in nothing but what moves with each report have the same `likeness`.
    """

    job: Job
    spec: JobSpec
    assignment: Assignment | None
    generation: Generation | None  # the newest, open or ended
    workers: tuple[WorkerView, ...]
    coordinator: ObservedProcess | None
    other_pools: tuple[Pool, ...] = ()  # in which it may be beside that of its row
    spec_characters: int = 0  # as it is stored
    data_seconds: float = 0.0  # until data that is fetched for it is there
    unreadable: tuple[str, ...] = ()  # fields of its spec that stand at their defaults, unread
    likeness: object = field(default_factory=object, compare=False)

    @property
    def id(self) -> str:
        return self.job.id

    @property
    def coordinator_id(self) -> str:
        job = self.job
        return coordinator_id(job.id, term=job.coordinator_term, epoch=job.database_epoch)

    @property
    def state(self) -> JobState:
        return JobState(self.job.state)

    @property
    def state_since(self) -> datetime:
        """The moment when it came into its present state."""
        return self.job.state_since or self.job.submitted_at

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def may_hold_gpus(self) -> bool:
        """Its workers are on record, or the host may still have processes of it."""
        return self.is_active or self.state is JobState.STOPPING or bool(self.live)

    @property
    def is_queued(self) -> bool:
        return self.state is JobState.QUEUED

    @property
    def is_hot(self) -> bool:
        """Its workers are led by a coordinator and survive each other's loss."""
        return self.job.mode != JobMode.RESTART

    @property
    def is_plain(self) -> bool:
        """Nothing says that its workers share the work: each would do all of it."""
        is_declared = self.spec.elastic.mode is JobMode.RESTART
        return not self.is_hot and not is_declared and self.job.group_seen_at is None

    @property
    def wanted(self) -> tuple[str, ...]:
        """Ids of the newest assignment's workers, in rank order."""
        return tuple(self.assignment.worker_ids) if self.assignment else ()

    @property
    def members(self) -> tuple[WorkerView, ...]:
        """Workers of the newest assignment that have a row, gone or not, in rank order."""
        by_id = {worker.id: worker for worker in self.workers}
        return tuple(by_id[worker_id] for worker_id in self.wanted if worker_id in by_id)

    @property
    def live(self) -> tuple[WorkerView, ...]:
        """Workers that hold GPUs."""
        return tuple(worker for worker in self.workers if not worker.is_gone)

    @property
    def nodes(self) -> frozenset[str]:
        """Names of those on which it holds GPUs."""
        return frozenset(worker.node.name for worker in self.workers if not worker.is_gone)

    @property
    def leavers(self) -> tuple[WorkerView, ...]:
        """Workers that hold GPUs and are not wanted any more."""
        return tuple(worker for worker in self.live if worker.id not in self.wanted)

    @property
    def is_between_sets(self) -> bool:
        """A restart: the new workers have no rows before the old ones have gone."""
        return len(self.members) < len(self.wanted)


def has_only_waited(job: Job) -> bool:
    """It is queued since it was submitted: no worker belongs to it, and it measured nothing yet."""
    return job.state == JobState.QUEUED and job.starts == 0 and job.attempt == 0


def ids(workers: Iterable[WorkerView]) -> list[str]:
    return [worker.id for worker in workers]
