"""How does the service start, stop and find the processes of jobs? Through this one small port.

Adapters: `docker_host`, `process_host` (a machine without Docker), `ray_host` (the nodes of a Ray
cluster), `simulated_host`, `in_memory_host` (tests). All pass
`tests/contract/test_worker_host.py`. Calls return at once and are idempotent, because the
control loop repeats them until what it observes is what it wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from cluster.following.roster import RosterKeeper
from cluster.gpu_listing import Gpu
from cluster.machine import NodeMachine
from cluster.shells.entrance import WorkerEntrance
from cluster.usage.readings import NodeGauge


class ProcessRole(StrEnum):
    """What a process does for its job."""

    WORKER = "worker"
    COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The identity a process carries with it, so that it can be found again after any crash."""

    process_id: str  # worker id, or `<job>-coordinator`; unique for ever
    job_id: str
    role: ProcessRole
    attempt: int
    fence: int  # fencing number of the control loop that started it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Upper bounds for one process; None: no bound, but for a container's memory."""

    memory_bytes: int | None = None
    node_share: float = 1.0  # of the node's machine: caps a container's memory, weighs its CPUs
    cpus: float | None = None
    shm_bytes: int | None = None  # of /dev/shm; None: half of the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A folder of the node that a process sees, and its user may write to, or not.

    Processes without a container see it where it is.
    """

    source: Path  # made when it is not there and may be written to
    target: str
    is_writable: bool = True
    is_ours: bool = True  # False: data of others, which is neither made nor given away


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryLogin:
    """How to be let into one private registry."""

    registry: str  # host[:port], as it begins an image's name
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Everything needed to start one process."""

    labels: Labels
    command: tuple[str, ...]
    env: Mapping[str, str]
    node: str
    secret_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """As `env`, but nobody who looks at the process from outside may see it."""
    workdir: str | None = None
    user: int | None = None
    """Number of the machine's user that it runs as, where there are no containers to tell teams
    apart; None: the service's own."""
    gpu_indices: tuple[int, ...] = ()
    gpu_names: tuple[str, ...] = ()  # UUIDs of those GPUs; empty: there are slots only
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    image: str | None = None  # None where there are no containers: the machine itself
    registry_logins: tuple[RegistryLogin, ...] = ()
    mounts: tuple[Mount, ...] = ()
    alias: str | None = None  # a name by which the job's other processes reach this one
    network: str = ""  # one of the kind's `networks`; "": what it gives to those that ask for none


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeImage:
    """An image that is to be on a node before any launch names it."""

    node: str
    image: str


class ProcessPhase(StrEnum):
    """What the host knows of a process."""

    PREPARING = "preparing"  # not yet running; its image is being fetched, say
    RUNNING = "running"
    EXITED = "exited"


class Failing(StrEnum):
    """What went wrong with a process beside its own code."""

    OUT_OF_MEMORY = "out_of_memory"  # the node's kernel killed it for its memory limit
    IMAGE_UNAVAILABLE = "image_unavailable"  # for ever, as far as the registry tells
    CANNOT_START = "cannot_start"  # the node refuses to start it


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedProcess:
    """A process as the host sees it now. Exited ones are listed until `forget`.

    One that could not be started is listed as exited, without an exit code.
    """

    labels: Labels
    node: str
    phase: ProcessPhase
    started_at: datetime
    exit_code: int | None = None  # negative: ended by that signal; None while running
    ended_at: datetime | None = None
    failing: Failing | None = None
    note: str = ""  # for people: how far its preparation is, or why it failed, in the host's words


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessListing:
    """One look at all nodes: what runs on those that answered, and which did not.

    Both belong together: a process that is not among these is gone only if its node answered.
    """

    processes: tuple[ObservedProcess, ...] = ()
    silent_nodes: Mapping[str, str] = field(default_factory=dict)  # that did not answer, and why

    def by_id(self) -> dict[str, ObservedProcess]:
        return {process.labels.process_id: process for process in self.processes}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line a process wrote."""

    at: datetime
    process_id: str
    stream: str  # "stdout" or "stderr"
    text: str


class NodeSurvey(Protocol):
    """Who can be asked what a node is like. Answers take seconds."""

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        """Return them in the order of their indices; none where the node has no driver.

        Raises:
            WorkerHostError: nobody can tell; that is not the same as none.
        """

    def machine(self, node: str) -> NodeMachine:
        """The machine of a node.

        Raises:
            WorkerHostError: the node does not answer, or nobody knows it.
        """


class WorkerHost(Protocol):
    """The port."""

    @property
    def survey(self) -> NodeSurvey | None:
        """Return who tells what its nodes are like; None: nobody, they are as admins say."""

    @property
    def gauge(self) -> NodeGauge | None:
        """Return who reads what workers take of their nodes; None: nobody."""

    @property
    def entrance(self) -> WorkerEntrance | None:
        """Return who leads people beside workers; None: nobody."""

    @property
    def roster_keeper(self) -> RosterKeeper | None:
        """Return who knows the machines of a cluster; None: there is none, nodes are rows only."""

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

    def list(self) -> ProcessListing:
        """Every process this host started and has not been told to forget.

        Those of silent nodes are left out: nobody can tell how they are.

        Raises:
            HostUnavailable: there are nodes, and none answers.
        """

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:
        """Fetch these images in the background; tell of each why it is not there yet, or "".

        Does not wait. Images of which nothing is known yet are left out, and all of them by a host
        that runs no images.
        """

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        """Yield each process as it starts or exits; only a hint, `list` is the truth."""

    def logs(
        self,
        process_ids: tuple[str, ...],
        *,
        job_id: str,
        tail: int | None = None,
    ) -> Iterator[LogLine]:
        """Lines of these processes of a job, in order of time; only the last `tail` of them."""


class WorkerHostError(Exception):
    """The worker host could not do what it was asked."""


class LaunchRefused(WorkerHostError):
    """This launch can never work on this host."""


class WorkerNotThere(WorkerHostError):
    """This worker does not run any more, or not yet."""


class CannotEnter(WorkerHostError):
    """Nothing can be started beside this worker."""


class HostUnavailable(WorkerHostError):
    """The worker host does not answer now; what it runs goes on.

    A host of several nodes raises it only when a call cannot do without those that do not answer,
    and tells which and why: to ask them for anything else would be as vain, and take as long.
    """

    def __init__(self, said: str = "", *, silent_nodes: Mapping[str, str] | None = None) -> None:
        super().__init__(said)
        self.silent_nodes = silent_nodes or {}
