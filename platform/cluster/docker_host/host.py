"""The worker host for Docker: the port of `cluster.worker_host` over one or many daemons."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from autoscaler.job_network import JobNetwork
from cluster.docker_host.connection import engine_versions
from cluster.docker_host.connection.connections import asking, asking_for
from cluster.docker_host.connection.endpoint import ContainerPlace, DaemonEndpoint
from cluster.docker_host.container import secrets_file
from cluster.docker_host.container.containers import MOST_PROCESSES, Confinement
from cluster.docker_host.wiring import Wiring
from cluster.gpu_listing import Gpu
from cluster.logs import log_store
from cluster.logs.log_files import USUAL, LogBounds
from cluster.machine import NodeMachine
from cluster.shells.entrance import WorkerEntrance
from cluster.usage.readings import NodeGauge, NodeReading
from cluster.worker_host import (
    Launch,
    LaunchRefused,
    LogLine,
    NodeImage,
    NodeSurvey,
    ObservedProcess,
    ProcessListing,
    ProcessPhase,
)

_LOOK_SECONDS: Final = 15.0  # guessed: without any event, in case one was lost
_LOOK_AGAIN_SECONDS: Final = 1.0  # daemons tell of an end a moment before they list it
_START_SECONDS: Final = 5.0  # guessed: to make and start a container; the rest goes on without us


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerHost:
    """Runs processes in containers that outlive the service.

    The state folder has the same path on every node. `user` (uid:gid) is whom containers run as.
    """

    state_dir: Path
    installation: str  # tells our containers from others' on the same daemon
    endpoints: Callable[[], Mapping[str, DaemonEndpoint]]  # by node; asked again and again
    worker_image: str  # of launches that name none
    user: str
    coordinator_network: str
    job_network: JobNetwork = JobNetwork.ISOLATED
    log_bytes: int = 64 << 20  # guessed: what a process may write while nobody copies it
    log_bounds: LogBounds = USUAL  # of what is copied
    pids: int = MOST_PROCESSES  # of one container; threads count
    open_files: int = 1 << 14  # guessed; no more than the daemon itself may open
    answer_seconds: float = 5.0  # guessed: after that a daemon counts as silent, and ticks waited
    registry_patience_seconds: float = 120.0  # guessed: GPUs wait that long for its recovery
    daemon_patience_seconds: float = 45.0  # guessed: as long as an upgrade stops its containerd
    _wiring: Wiring = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        wiring = Wiring(
            installation=self.installation,
            state_dir=self.state_dir,
            endpoints=self.endpoints,
            worker_image=self.worker_image,
            job_network=self.job_network,
            coordinator_network=self.coordinator_network,
            confinement=Confinement(
                user=self.user,
                pids=self.pids,
                open_files=self.open_files,
                log_bytes=self.log_bytes,
                network=self.job_network,
            ),
            answer_seconds=self.answer_seconds,
            registry_patience_seconds=self.registry_patience_seconds,
            daemon_patience_seconds=self.daemon_patience_seconds,
            log_bounds=self.log_bounds,
        )
        object.__setattr__(self, "_wiring", wiring)

    def start(self, *launches: Launch) -> None:
        """See the port. Images that are not on their node are fetched in the background."""
        for launch in launches:
            self._check(launch)
        self._wiring.followers.get_ready()
        endpoints = self.endpoints()  # once: threads that ask would each connect to the database
        places = [_place(launch.node, endpoints) for launch in launches]
        nodes = {place.endpoint: one.node for one, place in zip(launches, places, strict=True)}
        for endpoint, node in nodes.items():
            with asking_for(node), asking(endpoint):
                self._wiring.connections.quick(endpoint).ping()
        settled = list(map(self._wiring.starter.begin, launches, places))
        give_up_at = time.monotonic() + _START_SECONDS
        for event in settled:
            event.wait(max(give_up_at - time.monotonic(), 0.0))

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        self._wiring.ending.stop(process_id, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        self._wiring.ending.forget(process_id)

    def list(self) -> ProcessListing:
        return self._wiring.lister.list()

    @property
    def survey(self) -> NodeSurvey:
        return self

    @property
    def entrance(self) -> WorkerEntrance:
        return self._wiring.entrance

    @property
    def roster_keeper(self) -> None:
        """Nobody: its nodes are those that admins add."""
        return None

    @property
    def gauge(self) -> NodeGauge:
        return self

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:
        return self._wiring.prefetching.go_on(wanted)

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        """See the port. Daemons tell at once; between two looks at them are `poll_seconds`."""
        seen: dict[str, ProcessPhase] = {}
        heard, patience = 0, _LOOK_SECONDS
        watch = self._wiring.watch()
        try:
            while True:
                watch.keep_up()
                now = self.list().by_id()
                for process_id, process in now.items():
                    if seen.get(process_id) is not process.phase:
                        yield process
                seen = {process_id: process.phase for process_id, process in now.items()}
                known, heard = heard, self._wiring.bell.wait(heard, seconds=patience)
                patience = _LOOK_AGAIN_SECONDS if heard > known else _LOOK_SECONDS
                time.sleep(poll_seconds)
        finally:
            watch.close()

    def logs(
        self,
        process_ids: tuple[str, ...],
        *,
        job_id: str,
        tail: int | None = None,
    ) -> Iterator[LogLine]:
        return log_store.read_processes(
            process_ids, job_id=job_id, state_dir=self.state_dir, tail=tail
        )

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        """The GPUs of a node, none where its daemon has no runtime for them; takes seconds.

        Raises:
            DriverDoesNotAnswer, HostUnavailable, LaunchRefused: as `Discovery.gpus`; or nobody
                knows such a node.
        """
        return self._wiring.discovery.gpus(_place(node, self.endpoints()).endpoint)

    def machine(self, node: str) -> NodeMachine:
        """See `NodeSurvey`."""
        endpoint = _place(node, self.endpoints()).endpoint
        with asking_for(node), asking(endpoint):
            client = self._wiring.connections.quick(endpoint)
            info = client.info()
            return NodeMachine(
                memory_bytes=info["MemTotal"],
                cpus=info["NCPU"],
                complaints=tuple(engine_versions.complaints(client.version())),
            )

    def read(self, node: str) -> NodeReading:
        """See `NodeGauge`."""
        endpoint = _place(node, self.endpoints()).endpoint
        with asking_for(node):
            return self._wiring.docker_gauge.read(node, endpoint)

    def remove_gpu_tellers(self) -> None:
        """End what tells how busy GPUs are, on all daemons. Raises: HostUnavailable."""
        for endpoint in set(self.endpoints().values()):
            self._wiring.gpu_teller.remove(endpoint)

    def close(self) -> None:
        """End its connections, not the processes. For who has several hosts, as tests do."""
        self._wiring.followers.close()
        self._wiring.connections.close()

    def _check(self, launch: Launch) -> None:
        if not launch.command:
            raise LaunchRefused("The command is empty.")
        self._wiring.records.of(launch.labels.process_id)
        secrets_file.check(launch.secret_env)


def _place(node: str, endpoints: Mapping[str, DaemonEndpoint]) -> ContainerPlace:
    endpoint = endpoints.get(node)
    if endpoint is None:
        raise LaunchRefused(f"Nobody knows where the Docker daemon of node {node} is.")
    return ContainerPlace(endpoint=endpoint, daemons=tuple(dict.fromkeys(endpoints.values())))
