"""A kind of worker hosts as somebody else might write it: all that the platform asks of one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from cluster.gpu_listing import Gpu
from cluster.in_memory_host import InMemoryHost
from cluster.machine import NodeMachine
from cluster.process_environments import ProcessEnvironment, ProcessEnvironments
from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host import Mount, ProcessRole, WorkerHost
from cluster.worker_host_kind import Installation, WorkerHostKind
from django.utils import timezone

if TYPE_CHECKING:
    from cluster.models import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class FarmKind(WorkerHostKind):
    """Processes of a farm, which is somewhere else and runs images."""

    node_url_name: ClassVar[str] = "farm URL"
    node_url_help: ClassVar[str] = "The field that the node is: farm://FIELD."
    why_jobs_are_trusted: ClassVar[str] = ""

    image: str

    @classmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:
        return cls(image=variables.text("FARM_IMAGE", default=""))

    @property
    def platform_image(self) -> str:
        return self.image

    def check(self, installation: Installation) -> None:
        if not self.image:
            raise BadEnvironment("FARM_IMAGE is not set. Name the image of coordinators.")

    def complaint_of_node_url(self, url: str) -> str:
        return "" if url.startswith("farm://") else "Write farm://FIELD."

    def host(self, installation: Installation) -> WorkerHost:
        return InMemoryHost(clock=timezone.now, survey=FarmSurvey())

    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        return FarmEnvironments(service_url=installation.internal_url, image=self.image)


class FarmSurvey:
    """Each field has four GPUs."""

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        return tuple(Gpu(index=i, name="NVIDIA H200", uuid=f"GPU-{node}-{i}") for i in range(4))

    def machine(self, node: str) -> NodeMachine:
        return NodeMachine(memory_bytes=1 << 36, cpus=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class FarmEnvironments:
    """Processes see their node's field."""

    service_url: str
    image: str
    python: str = "python3"
    are_workers_apart: bool = True

    def of_coordinator(self, job_id: str) -> ProcessEnvironment:
        return ProcessEnvironment(folder=f"/farm/{job_id}/coordinator", image=self.image)

    def of_worker(self, job_id: str, worker_id: str, *, image: str | None) -> ProcessEnvironment:
        folder = f"/farm/{job_id}/checkpoints"
        return ProcessEnvironment(folder=folder, image=image or self.image, alias=worker_id)

    def code(self, folder: Path) -> Mount:
        return Mount(source=folder, target="/farm/code", is_writable=False)

    def outputs(self, job_id: str) -> Mount:
        return Mount(source=Path("/silo") / job_id, target="/outputs")

    def data(self, folder: Path, target: str, *, is_writable: bool) -> Mount:
        return Mount(source=folder, target=target, is_writable=is_writable, is_ours=False)

    def user_of(self, team_id: int, role: ProcessRole) -> int | None:
        return None

    def is_user_of_a_team(self, user: int) -> bool:
        return False

    def coordinator_host(self, node: Node) -> str:
        return node.host_url.removeprefix("farm://")

    def rendezvous_host(self, first_id: str, node: Node | None) -> str:
        return first_id

    def coordinator_port(self, address: str, *, taken: Collection[int]) -> int:
        return 1000

    def rendezvous_port(self, address: str, *, taken: Collection[int]) -> int:
        return 2000

    def gpu_names(self, node: Node, indices: Collection[int]) -> tuple[str, ...]:
        return node.cuda_names(indices)

    def network_hints(self, node: Node) -> Mapping[str, str]:
        return {}
