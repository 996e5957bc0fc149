"""What does a process of a job see of the world? Each kind of worker hosts says so, as one port.

Adapters: `process_environments` of each host. Whoever writes a launch asks here and never for the
kind of host.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cluster.worker_host import Mount, ProcessLimits, ProcessRole

if TYPE_CHECKING:  # kinds of hosts are chosen before Django can load models
    from cluster.models import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnvironment:
    """What one process sees."""

    folder: str  # as it sees it: a worker's checkpoints, a coordinator's own state
    reports: str = ""  # the folder for what a worker's script tells of itself, as it sees it
    env: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)  # a job may overrule these
    image: str | None = None
    alias: str | None = None
    mounts: tuple[Mount, ...] = ()
    # of what the job itself does not limit
    limits: ProcessLimits = field(default_factory=ProcessLimits)


class ProcessEnvironments(Protocol):
    """The port."""

    @property
    def python(self) -> str:
        """The interpreter that has the worker runtime, as a coordinator's command begins."""

    @property
    def service_url(self) -> str:
        """Return where a coordinator reaches the api, unless its node has another way."""

    @property
    def are_workers_apart(self) -> bool:
        """True if each worker is alone on what looks like a machine to it."""

    def of_coordinator(self, job_id: str) -> ProcessEnvironment:
        """Return what the job's coordinator sees."""

    def of_worker(self, job_id: str, worker_id: str, *, image: str | None) -> ProcessEnvironment:
        """Return what a worker sees whose job names this image."""

    def code(self, folder: Path) -> Mount:
        """Return where a worker sees the folder of its job's code, to which it cannot write."""

    def outputs(self, job_id: str) -> Mount:
        """Return where a worker sees the folder of its job's outputs, one for all workers."""

    def data(self, folder: Path, target: str, *, is_writable: bool) -> Mount:
        """Return where a worker sees a folder of data that its job's spec wants at `target`."""

    def user_of(self, team_id: int, role: ProcessRole) -> int | None:
        """The number of the machine's user that the team's processes are; None: the host's choice.

        Raises:
            LaunchRefused: there is none for this team.
        """

    def is_user_of_a_team(self, user: int) -> bool:
        """True if this number is given to none but teams' users."""

    def coordinator_host(self, node: Node) -> str:
        """The name by which a job's workers reach its coordinator on this node."""

    def rendezvous_host(self, first_id: str, node: Node | None) -> str:
        """The name by which they reach the first of them; None: its node was deleted."""

    def coordinator_port(self, address: str, *, taken: Collection[int]) -> int:
        """A port for the coordinator of one more job, on the node of this address."""

    def rendezvous_port(self, address: str, *, taken: Collection[int]) -> int:
        """A port for the first worker of one more set."""

    def gpu_names(self, node: Node, indices: Collection[int]) -> tuple[str, ...]:
        """Return what a process that was given these GPUs of the node calls them."""

    def network_hints(self, node: Node) -> Mapping[str, str]:
        """Variables that lead libraries to the right interface, where they would not find it."""
