"""What is to be done for a job? Values, which the control loop carries out.

What one rule gives is done as one: what is written comes first, in a transaction that holds the
job's row, then the orders to the worker host. What is written compares before it sets: if somebody
else was first, nothing of it remains and no order is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.reconciling.snapshot import LimitsTold, RescaleMode
from jobs.lifecycle import JobState


class Instruction:
    """One thing to be done."""

    __slots__ = ()


class JobChange(Instruction):
    """The job is another afterwards: it is looked at anew before any further rule decides."""

    __slots__ = ()


class HostInstruction(Instruction):
    """What the worker host has to do. It is given again and again until it was seen to be done."""

    __slots__ = ()


Instructions = tuple[Instruction, ...]
NOTHING: Instructions = ()


def change_the_job(instructions: Iterable[Instruction]) -> bool:
    return any(isinstance(instruction, JobChange) for instruction in instructions)


# What becomes of the job.


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What is counted of a job with a change; None: it stays as it is."""

    attempt: int | None = None
    failures: int | None = None
    not_before: datetime | None = None
    losses_in_a_row: int | None = None
    lost_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(JobChange):
    """Let the job's workers end; it becomes `ends_as` once they have."""

    ends_as: JobState
    reason: JobReason
    message: str
    data: Mapping[str, object] = field(default_factory=dict)
    counters: Counters = field(default_factory=Counters)
    version: int | None = None  # of its spec, by which this was decided; None: by any


@dataclass(frozen=True, slots=True, kw_only=True)
class EndAs(JobChange):
    """Let a job that stops already become something else than was meant."""

    ends_as: JobState
    reason: JobReason
    message: str


@dataclass(frozen=True, slots=True)
class Finish(JobChange):
    """All its processes have gone: let it become what it ends as."""


@dataclass(frozen=True, slots=True)
class ChangeMode(JobChange):
    """The job changes its workers in this way from now on."""

    mode: RescaleMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember(JobChange):
    """Keep when something happened last; None: it did not happen now."""

    life_at: datetime | None = None  # the job showed that it gets somewhere
    told_of_silence_at: datetime | None = None  # its people heard that it stands still


# Its workers.


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassign(JobChange):
    """Let the job go on with these of its workers, as its next assignment."""

    workers: tuple[str, ...]
    message: str
    begins_rescale: bool = False  # it runs, and is to change


@dataclass(frozen=True, slots=True)
class SeatNextSet(JobChange):
    """Give the workers of the newest assignment their GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginGeneration(JobChange):
    """Its workers train together from now on, as far as anybody can see."""

    number: int
    is_first: bool
    is_rescale: bool
    stall_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CountEnding:
    """What a worker's end counts as, while its job is active; what is told of is on record."""

    losses: int = 0
    failures: int = 0
    lived_at: datetime | None = None  # its script got so far
    tell: Tell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseWorker(JobChange):
    """The worker is gone: free its GPUs, keep how it ended, and count it, all exactly once."""

    worker: str
    gone_at: datetime
    exit_code: int | None = None
    failing: str = ""
    error: str = ""
    last_lines: tuple[str, ...] = ()
    count: CountEnding | None = None


# What its people read.


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell(Instruction):
    """Write an event; an alarm also reaches those who run the machines."""

    kind: EventKind
    message: str
    reason: JobReason | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    is_alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordNotice(Instruction):
    """Keep that people have heard something, so that they hear it once."""

    preparation_revision: int | None = None
    disk_start: int | None = None
    idle_since: datetime | None = None
    limits: LimitsTold | None = None
    is_busy: bool = False  # they heard that it is idle no more
    silence_of: tuple[str, ...] = ()  # workers whose node does not answer
    slowness_of: tuple[str, ...] = ()  # workers whose node slows its workers down


@dataclass(frozen=True, slots=True)
class Say(Instruction):
    """Show this as the job's message while it stays in its state."""

    message: str


# Its processes.


@dataclass(frozen=True, slots=True)
class BeginTerm(Instruction):
    """Give the next coordinator another name: nobody takes it for one that may still be there."""

    node: str


@dataclass(frozen=True, slots=True)
class StartCoordinator(HostInstruction):
    """Start the coordinator of the present term."""

    node: str


@dataclass(frozen=True, slots=True)
class StartWorkers(HostInstruction):
    """Start those that are on record and have no process."""

    workers: tuple[str, ...]
    coordinator_node: str
    is_first_set: bool  # nobody trains: their image must be allowed as when it was submitted


@dataclass(frozen=True, slots=True)
class StopProcess(HostInstruction):
    """Ask it to end, and kill it after the grace period."""

    process: str
    grace_seconds: float


@dataclass(frozen=True, slots=True)
class Forget(HostInstruction, JobChange):
    """Drop the host's record of a process that has ended."""

    process: str
