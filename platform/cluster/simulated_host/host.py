"""The worker host whose processes are simulated: the port of `cluster.worker_host`.

It keeps nothing: the simulator, a program beside the service, knows all processes. Whenever that
program is started anew its processes are gone, as with a machine that was switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.background.polled_events import polled
from cluster.logs import log_store
from cluster.simulated_host import conversation, documents
from cluster.usage.readings import NodeGauge
from cluster.worker_host import (
    Launch,
    LaunchRefused,
    LogLine,
    NodeImage,
    ObservedProcess,
    ProcessListing,
    WorkerHost,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedHost:
    """Asks the simulator; hands what is to run on real nodes on to the host of those."""

    state_dir: Path
    real: WorkerHost
    real_nodes: Callable[[], Collection[str]]

    def start(self, *launches: Launch) -> None:
        if not all(launch.command for launch in launches):
            raise LaunchRefused("The command is empty.")
        real_nodes = self.real_nodes()
        simulated = [one for one in launches if one.node not in real_nodes]
        if simulated:
            launch_documents = [documents.of_launch(launch) for launch in simulated]
            conversation.ask(self.state_dir, "start", launches=launch_documents)
        if real := [one for one in launches if one.node in real_nodes]:
            self.real.start(*real)

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        """See the port. The simulator says whether it knows the process."""
        document = {"process_id": process_id, "grace_seconds": grace_seconds}
        if not conversation.ask(self.state_dir, "stop", **document):
            self.real.stop(process_id, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        if not conversation.ask(self.state_dir, "forget", process_id=process_id):
            self.real.forget(process_id)

    def list(self) -> ProcessListing:
        simulated = conversation.ask(self.state_dir, "list")
        real = self.real.list()
        return ProcessListing(
            processes=(*map(documents.process_of, simulated), *real.processes),
            silent_nodes=real.silent_nodes,
        )

    @property
    def survey(self) -> None:
        """Nobody: simulated machines are as admins say."""
        return None

    @property
    def entrance(self) -> None:
        """Nobody: most workers are no processes."""
        return None

    @property
    def roster_keeper(self) -> None:
        """Nobody: its nodes are those that admins add."""
        return None

    @property
    def gauge(self) -> NodeGauge | None:
        """Return the gauge of what runs for real: simulated workers take nothing."""
        return self.real.gauge

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:  # noqa: ARG002
        """Nothing: a simulated process has no image."""
        return {}

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        return polled(self.list, poll_seconds=poll_seconds)

    def logs(
        self, process_ids: tuple[str, ...], *, job_id: str, tail: int | None = None
    ) -> Iterator[LogLine]:
        return log_store.read_processes(
            process_ids, job_id=job_id, state_dir=self.state_dir, tail=tail
        )
