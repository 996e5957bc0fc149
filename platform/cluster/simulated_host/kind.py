"""How do jobs run that only seem to? In one program that plays all of their processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from cluster.process_environments import ProcessEnvironments
from cluster.process_host.kind import ProcessKind
from cluster.variables import EnvironmentVariables
from cluster.worker_host import WorkerHost
from cluster.worker_host_kind import Installation, WorkerHostKind

REAL = "process"  # the URL of nodes whose processes are not simulated


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedKind(WorkerHostKind):
    """Simulated processes; those of some nodes are real ones of this machine."""

    node_url_name: ClassVar[str] = "kind of processes"
    node_url_help: ClassVar[str] = (
        "Empty: processes on this node are simulated. `process`: they are real ones of this"
        " machine."
    )

    real: ProcessKind

    @classmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:
        return cls(real=ProcessKind.read(variables, host_id=host_id))

    @property
    def why_jobs_are_trusted(self) -> str:
        return self.real.why_jobs_are_trusted

    def check(self, installation: Installation) -> None:
        self.real.check(installation)

    def complaint_of_node_url(self, url: str) -> str:
        if url in {"", REAL}:
            return ""
        return f"Leave it empty for simulated processes, or write {REAL!r} for real ones."

    def host(self, installation: Installation) -> WorkerHost:
        from cluster.models import Node  # noqa: PLC0415 - before Django has loaded models
        from cluster.simulated_host.host import SimulatedHost  # noqa: PLC0415 - only control has one

        return SimulatedHost(
            state_dir=installation.state_dir,
            real=self.real.host(installation),
            real_nodes=lambda: frozenset(
                Node.objects.filter(host_url=REAL).values_list("name", flat=True)
            ),
        )

    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        return self.real.process_environments(installation)
