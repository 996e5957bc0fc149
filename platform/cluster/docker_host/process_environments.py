"""What does a process see that runs in a container? A few folders, and its job's own network.

Each job has a network of its own, so that names and ports are the same for all: the coordinator is
called `coordinator` wherever it runs, and a worker by its id. A worker's own scratch folder, which
is also where it starts and its HOME, is the host's affair.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cluster.process_environments import ProcessEnvironment
from cluster.worker_host import Mount, ProcessLimits, ProcessRole
from concertina_worker.protocol import Env

if TYPE_CHECKING:
    from cluster.models import Node

COORDINATOR: Final = "coordinator"  # its name in the job's network
COORDINATOR_PORT: Final = 29_400
RENDEZVOUS_PORT: Final = 29_500  # torchrun's own default

CHECKPOINTS: Final = "/checkpoints"
REPORTS: Final = "/reports"
COORDINATOR_STATE: Final = "/coordinator"
CODE: Final = "/code"
OUTPUTS: Final = "/outputs"

_EVERY_INTERFACE: Final = "0.0.0.0"  # noqa: S104 - of the container
_USER: Final = "concertina"  # for libraries that look up a name, which a bare number has not
_MIB: Final = 2**20
_COORDINATOR_LIMITS: Final = (
    ProcessLimits(  # guessed: ten times what one of a hundred workers needs
        memory_bytes=512 * _MIB, shm_bytes=16 * _MIB, cpus=1.0, node_share=0.125
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerEnvironments:
    """Folders are mounted, addresses are names, GPUs are counted anew."""

    state_dir: Path
    service_url: str
    image: str  # of the platform: of coordinators, and of workers whose job names none
    python: str = "python"  # the image's own
    are_workers_apart: bool = True

    def of_coordinator(self, job_id: str) -> ProcessEnvironment:
        source = self._job_dir(job_id) / "coordinator"
        return ProcessEnvironment(
            folder=COORDINATOR_STATE,
            env={Env.LISTEN_ON: _EVERY_INTERFACE},
            image=self.image,
            alias=COORDINATOR,
            mounts=(Mount(source=source, target=COORDINATOR_STATE),),
            limits=_COORDINATOR_LIMITS,
        )

    def of_worker(self, job_id: str, worker_id: str, *, image: str | None) -> ProcessEnvironment:
        folder = self._job_dir(job_id)
        return ProcessEnvironment(
            folder=CHECKPOINTS,
            reports=REPORTS,
            defaults={"USER": _USER},
            image=image or self.image,
            alias=worker_id,
            mounts=(
                Mount(source=folder / "checkpoints", target=CHECKPOINTS),
                Mount(source=folder / "reports", target=REPORTS),
            ),
        )

    def code(self, folder: Path) -> Mount:
        return Mount(source=folder, target=CODE, is_writable=False)

    def outputs(self, job_id: str) -> Mount:
        return Mount(source=self._job_dir(job_id) / "outputs", target=OUTPUTS)

    def data(self, folder: Path, target: str, *, is_writable: bool) -> Mount:
        return Mount(source=folder, target=target, is_writable=is_writable, is_ours=False)

    def user_of(self, team_id: int, role: ProcessRole) -> int | None:  # noqa: ARG002 - all the same
        return None

    def is_user_of_a_team(self, user: int) -> bool:  # noqa: ARG002 - teams have none
        return False

    def coordinator_host(self, node: Node) -> str:  # noqa: ARG002 - the same on each
        return COORDINATOR

    def rendezvous_host(self, first_id: str, node: Node | None) -> str:  # noqa: ARG002 - as above
        return first_id

    def coordinator_port(self, address: str, *, taken: Collection[int]) -> int:  # noqa: ARG002
        return COORDINATOR_PORT

    def rendezvous_port(self, address: str, *, taken: Collection[int]) -> int:  # noqa: ARG002
        return RENDEZVOUS_PORT

    def gpu_names(self, node: Node, indices: Collection[int]) -> tuple[str, ...]:
        """Name them by UUID where that is known; numbers begin at 0 in every container."""
        if node.gpu_uuids:
            return node.cuda_names(indices)
        return tuple(str(number) for number in range(len(indices)))

    def network_hints(self, node: Node) -> Mapping[str, str]:  # noqa: ARG002 - the same on each
        return {}

    def _job_dir(self, job_id: str) -> Path:
        return self.state_dir / "jobs" / job_id
