"""What does a process see that has no container around it? The machine, as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cluster.process_environments import ProcessEnvironment
from cluster.process_host.commands.plain_python import DEFAULT_PATH
from cluster.process_host.ports import free_port
from cluster.process_host.users.team_users import TeamUsers
from cluster.worker_host import Mount, ProcessRole

if TYPE_CHECKING:
    from cluster.models import Node

_LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineEnvironments:
    """Folders, addresses, ports and GPUs are those of the node."""

    state_dir: Path
    service_url: str
    interpreter: Path  # that has the worker runtime
    team_users: TeamUsers | None = None  # None: all run as the service's own
    are_workers_apart: bool = False

    @property
    def python(self) -> str:
        return str(self.interpreter)

    def of_coordinator(self, job_id: str) -> ProcessEnvironment:
        return self._seeing(self._job_dir(job_id) / "coordinator")

    def of_worker(self, job_id: str, worker_id: str, *, image: str | None) -> ProcessEnvironment:  # noqa: ARG002 - no images
        seen = self._seeing(self._job_dir(job_id) / "checkpoints")
        reports = self._job_dir(job_id) / "reports"
        mounts = (*seen.mounts, Mount(source=reports, target=str(reports)))
        return replace(seen, reports=str(reports), mounts=mounts)

    def code(self, folder: Path) -> Mount:
        return Mount(source=folder, target=str(folder), is_writable=False)

    def outputs(self, job_id: str) -> Mount:
        folder = self.state_dir / "jobs" / job_id / "outputs"
        return Mount(source=folder, target=str(folder))

    def data(self, folder: Path, target: str, *, is_writable: bool) -> Mount:  # noqa: ARG002 - it is where it is
        return Mount(source=folder, target=str(folder), is_writable=is_writable, is_ours=False)

    def user_of(self, team_id: int, role: ProcessRole) -> int | None:
        return None if self.team_users is None else self.team_users.of(team_id, role)

    def is_user_of_a_team(self, user: int) -> bool:
        return self.team_users is not None and user in self.team_users

    def coordinator_host(self, node: Node) -> str:
        return node.address

    def rendezvous_host(self, first_id: str, node: Node | None) -> str:  # noqa: ARG002 - none has a name
        return node.address if node else _LOOPBACK  # deleted, and nobody asks there

    def coordinator_port(self, address: str, *, taken: Collection[int]) -> int:
        return free_port(address, taken=taken)

    def rendezvous_port(self, address: str, *, taken: Collection[int]) -> int:
        return free_port(address, taken=taken)

    def gpu_names(self, node: Node, indices: Collection[int]) -> tuple[str, ...]:
        return node.cuda_names(indices)

    def network_hints(self, node: Node) -> Mapping[str, str]:
        names = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if node.address == _LOOPBACK else ()
        return dict.fromkeys(names, "lo")

    def _job_dir(self, job_id: str) -> Path:
        return self.state_dir / "jobs" / job_id

    def _seeing(self, folder: Path) -> ProcessEnvironment:
        own = Mount(source=folder, target=str(folder))
        path = f"{self.interpreter.parent}:{DEFAULT_PATH}"
        return ProcessEnvironment(folder=str(folder), env={"PATH": path}, mounts=(own,))
