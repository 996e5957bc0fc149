"""What makes a kind of worker hosts? All that the platform ever asks of one, in one place.

A kind is chosen by name with CONCERTINA_WORKER_HOST; `installed_worker_hosts` knows the names.
Nobody else asks which it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, Self

from autoscaler.job_network import JobNetwork
from cluster.logs.log_files import LogBounds
from cluster.process_environments import ProcessEnvironments
from cluster.variables import EnvironmentVariables
from cluster.worker_host import WorkerHost


class Installation(Protocol):
    """What a kind may know of the rest of the configuration."""

    @property
    def state_dir(self) -> Path:
        """Logs, checkpoints and records."""

    @property
    def host_id(self) -> str:
        """Tells this installation's processes from another's on the same machine."""

    @property
    def service_url(self) -> str:
        """Return where people reach the api."""

    @property
    def internal_url(self) -> str:
        """Return where job coordinators reach it."""

    @property
    def allowed_hosts(self) -> Collection[str]:
        """The names under which it answers."""

    @property
    def log_bounds(self) -> LogBounds:
        """What is kept of the output of processes."""


class WorkerHostKind(ABC):
    """A kind of worker hosts, as this installation's variables configure it.

    Made before Django has loaded any model: what needs one is imported where it is used.
    """

    node_url_name: ClassVar[str] = "host URL"
    follows_a_cluster: ClassVar[bool] = False  # pools can: its hosts have a `roster_keeper`
    why_no_shells: ClassVar[str] = "This worker host cannot start anything beside a worker."
    node_url_help: ClassVar[str] = "Without meaning here: this worker host asks for none."

    @classmethod
    @abstractmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:
        """Read what configures it.

        Raises:
            BadEnvironment: a variable is missing or does not fit.
        """

    @property
    def platform_image(self) -> str | None:
        """The image of processes whose job names none; None: it runs no images."""
        return None

    @property
    def networks(self) -> Sequence[JobNetwork]:
        """The networks that jobs can be given; the first is that of all jobs that ask for none.

        A host that cannot keep processes from its network gives all of it.
        """
        return (JobNetwork.EGRESS,)

    @property
    @abstractmethod
    def why_jobs_are_trusted(self) -> str:
        """Return why who may submit a job can do whatever the service can; empty: nobody can."""

    @property
    def why_pools_serve_one_team(self) -> str:
        """Return what opens jobs of one team of a pool to another's; empty: nothing.

        A pool has quotas of one team then, until an admin says on it that they trust each other.
        """
        return ""

    def check(self, installation: Installation) -> None:  # noqa: B027 - most take any
        """Refuse what does not go together with the rest of the configuration.

        Raises:
            BadEnvironment: with what to do instead.
        """

    def complaint_of_node_url(self, url: str) -> str:  # noqa: ARG002 - the default takes any
        """Return what is wrong with where a node is said to be, and what to write; empty: nothing.

        An empty URL is where the settings say. Nodes of the same URL are of one machine.
        """
        return ""

    @abstractmethod
    def host(self, installation: Installation) -> WorkerHost:
        """Make a host with connections, locks and threads of its own, for the same processes."""

    @abstractmethod
    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        """Return what its processes see."""
