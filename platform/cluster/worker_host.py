"""How does the service start, stop and find the processes of jobs? Through this one small port.

Adapters: `process_host` (a machine without Docker), `in_memory_host` (tests); later Docker. All
pass `tests/contract/test_worker_host.py`. Calls return at once and are idempotent, because the
control loop repeats them until what it observes is what it wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Role(StrEnum):
    """What a process does for its job."""

    WORKER = "worker"
    COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The identity a process carries with it, so that it can be found again after any crash."""

    process_id: str  # worker id, or `<job>-coordinator`; unique for ever
    job_id: str
    role: Role
    attempt: int
    fence: int  # fencing number of the control loop that started it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Upper bounds for one process; None: no bound."""

    memory_bytes: int | None = None
    cpus: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Everything needed to start one process."""

    labels: Labels
    command: tuple[str, ...]
    env: Mapping[str, str]
    node: str
    workdir: str | None = None
    gpu_indices: tuple[int, ...] = ()
    limits: Limits = field(default_factory=Limits)


class ProcessPhase(StrEnum):
    """What the host knows of a process."""

    RUNNING = "running"
    EXITED = "exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedProcess:
    """A process as the host sees it now. Exited ones are listed until `forget`."""

    labels: Labels
    node: str
    phase: ProcessPhase
    started_at: datetime
    exit_code: int | None = None  # negative: ended by that signal; None while running
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line a process wrote."""

    at: datetime
    process_id: str
    stream: str  # "stdout" or "stderr"
    text: str


class WorkerHost(Protocol):
    """The port."""

    def start(self, *launches: Launch) -> None:
        """Start each process unless one with its id is, or was, already there; all side by side.

        Raises:
            LaunchRefused: one of these launches can never work here; none was started.
            HostUnavailable: try again later; some may have been started.
        """

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        """Ask the process to end (SIGTERM), and kill it and its children after the grace period.

        Does not wait. Unknown or ended processes are no error.
        """

    def forget(self, process_id: str) -> None:
        """Drop the record of an exited process; its logs stay. Unknown ids are no error."""

    def list(self) -> tuple[ObservedProcess, ...]:
        """Every process this host started and has not been told to forget."""

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        """Yield each process as it starts or exits; only a hint, `list` is the truth."""

    def logs(self, process_ids: tuple[str, ...], *, tail: int | None = None) -> Iterator[LogLine]:
        """All lines of these processes so far, in order of time; only the last `tail` of them."""


class WorkerHostError(Exception):
    """The worker host could not do what it was asked."""


class LaunchRefused(WorkerHostError):
    """This launch can never work on this host."""


class HostUnavailable(WorkerHostError):
    """The worker host does not answer now; what it runs goes on."""
