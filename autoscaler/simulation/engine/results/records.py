"""What came out of a simulation? One record per job, and how the cluster was used over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationSpan:
    """The job held so many workers from `since` on, with this global batch; 0 workers: paused.

    By then it had made `done` of its samples.
    """

    since: float
    workers: int
    nodes: int
    global_batch_size: int
    done: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """How one job fared. Seconds on the trace's clock; None: it did not come to that.

    `mean_contention` is the mean number of jobs in its pool during its life, itself included;
    `isolated_seconds` is how long it would have run alone on that fraction of the pool.
    """

    name: str
    job_id: str
    team: str
    pool: str
    profile: str
    submitted_at: float
    first_started_at: float | None
    finished_at: float | None
    dropped_at: float | None
    rescales: int
    pauses: int
    losses: int  # times it lost workers to a failure
    stall_seconds: float  # starts and restarts included
    gpu_seconds: float
    samples: float
    samples_done: float
    deadline: float | None
    mean_contention: float
    isolated_seconds: float
    history: tuple[AllocationSpan, ...] = ()

    @property
    def completion_seconds(self) -> float | None:
        return None if self.finished_at is None else self.finished_at - self.submitted_at

    @property
    def is_backlog(self) -> bool:
        """Neither finished nor dropped when the simulation ended."""
        return self.finished_at is None and self.dropped_at is None

    @property
    def met_deadline(self) -> bool | None:
        """None for a job without one."""
        if self.deadline is None:
            return None
        return self.finished_at is not None and self.finished_at <= self.deadline

    @property
    def fairness(self) -> float | None:
        """Finish-time fairness rho (Themis, NSDI 2020): above 1 it fared worse than isolated."""
        taken = self.completion_seconds
        return None if taken is None else taken / self.isolated_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSample:
    """The state of a pool from `time` to its next sample."""

    time: float
    pool: str
    gpus_by_team: Mapping[str, int]
    waiting_by_team: Mapping[str, int]
    speedup: float  # sum over running jobs of the true rate over that of the smallest size

    @property
    def gpus_used(self) -> int:
        return sum(self.gpus_by_team.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkAhead:
    """What is in sight: jobs that are yet to come, and the ends of those that are present.

    Each of them is taken to run alone from now on, as the last ones do. `job_seconds` is how long
    they still run, added up, after the last job has come.
    """

    present: int
    last_arrival: float
    end: float
    job_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationProgress:
    """How far a simulation is. `look_ahead` looks at each job that is present."""

    now: float
    jobs_ended: int
    jobs: int
    look_ahead: Callable[[], WorkAhead]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """Everything a summary is made of. Jobs are in the trace's order."""

    trace: str
    started_at: float
    ended_at: float
    jobs: tuple[JobRecord, ...]
    usage: tuple[UsageSample, ...]
    plans: int
    decision_seconds: tuple[float, ...]  # one per plan; empty without a clock
