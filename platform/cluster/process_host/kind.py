"""How do the processes of jobs run without containers? As ordinary processes of this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from cluster.process_environments import ProcessEnvironments
from cluster.process_host import user_settings
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.user_settings import UserSettings
from cluster.variables import EnvironmentVariables
from cluster.worker_host import WorkerHost
from cluster.worker_host_kind import Installation, WorkerHostKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessKind(WorkerHostKind):
    """Processes of this machine, each team's as a user of its own where that is possible."""

    why_no_shells: ClassVar[str] = ""

    users: UserSettings

    @classmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:  # noqa: ARG003 - nothing bears it
        return cls(users=user_settings.read(variables))

    @property
    def why_jobs_are_trusted(self) -> str:
        return self.users.why_not_used

    def check(self, installation: Installation) -> None:
        user_settings.check(
            self.users, service_url=installation.service_url, hosts=installation.allowed_hosts
        )

    def host(self, installation: Installation) -> WorkerHost:
        from cluster.process_host.host import ProcessHost  # noqa: PLC0415 - only control has one

        return ProcessHost(state_dir=installation.state_dir, log_bounds=installation.log_bounds)

    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        return MachineEnvironments(
            state_dir=installation.state_dir,
            service_url=installation.internal_url,
            interpreter=Path(sys.executable),
            team_users=None if self.why_jobs_are_trusted else self.users.range,
        )
