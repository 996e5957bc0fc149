"""Which parts make up a Docker host? They share connections, records and what was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autoscaler.job_network import JobNetwork
from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.docker_host.container.blueprints import Blueprints
from cluster.docker_host.container.containers import Confinement
from cluster.docker_host.container.images import Images
from cluster.docker_host.container.networks import Networks
from cluster.docker_host.container.node_memory import NodeMemory
from cluster.docker_host.discovery import Discovery
from cluster.docker_host.gauge import DockerGauge
from cluster.docker_host.gpu_teller import GpuTeller
from cluster.docker_host.lifecycle.ending import ContainerTeardown
from cluster.docker_host.lifecycle.events import Bell, Watch
from cluster.docker_host.lifecycle.inventory import Inventory
from cluster.docker_host.lifecycle.listing import Lister
from cluster.docker_host.lifecycle.making import Maker
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.lifecycle.starting import Starter
from cluster.docker_host.lifecycle.stopping import Stopper
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.prefetching import Prefetching
from cluster.docker_host.record.records import Records
from cluster.docker_host.shells.entrance import ContainerEntrance
from cluster.logs.log_files import USUAL, LogBounds


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """Made once, when first needed."""

    installation: str
    state_dir: Path
    endpoints: Callable[[], Mapping[str, DaemonEndpoint]]
    worker_image: str
    job_network: JobNetwork
    coordinator_network: str
    confinement: Confinement
    answer_seconds: float
    registry_patience_seconds: float
    daemon_patience_seconds: float
    log_bounds: LogBounds = USUAL

    @cached_property
    def connections(self) -> Connections:
        tunnels = Tunnels(seconds=self.answer_seconds)
        return Connections(answer_seconds=self.answer_seconds, tunnels=tunnels)

    @cached_property
    def bell(self) -> Bell:
        return Bell()

    def watch(self) -> Watch:
        """Listens to the daemons' events; its caller closes it."""
        return Watch(
            installation=self.installation,
            daemons=self.daemons,
            connections=self.connections,
            bell=self.bell,
        )

    @cached_property
    def discovery(self) -> Discovery:
        return Discovery(
            installation=self.installation,
            worker_image=self.worker_image,
            connections=self.connections,
        )

    @cached_property
    def gpu_teller(self) -> GpuTeller:
        return GpuTeller(
            installation=self.installation,
            worker_image=self.worker_image,
            connections=self.connections,
        )

    @cached_property
    def entrance(self) -> ContainerEntrance:
        return ContainerEntrance(
            daemons=self.daemons, inventory=self.inventory, connections=self.connections
        )

    @cached_property
    def docker_gauge(self) -> DockerGauge:
        return DockerGauge(
            installation=self.installation,
            connections=self.connections,
            gpu_teller=self.gpu_teller,
        )

    @cached_property
    def records(self) -> Records:
        return Records(state_dir=self.state_dir)

    @cached_property
    def daemons(self) -> Daemons:
        return Daemons(endpoints=self.endpoints, connections=self.connections)

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(installation=self.installation, daemons=self.daemons)

    @cached_property
    def networks(self) -> Networks:
        return Networks(
            installation=self.installation,
            job_network=self.job_network,
            coordinator_network=self.coordinator_network,
            connections=self.connections,
        )

    @cached_property
    def network_sweep(self) -> NetworkSweep:
        return NetworkSweep(networks=self.networks, records=self.records)

    @cached_property
    def followers(self) -> Followers:
        return Followers(
            state_dir=self.state_dir, answer_seconds=self.answer_seconds, bounds=self.log_bounds
        )

    @cached_property
    def stopper(self) -> Stopper:
        return Stopper(connections=self.connections)

    @cached_property
    def images(self) -> Images:
        return Images(connections=self.connections)

    @cached_property
    def memory(self) -> NodeMemory:
        return NodeMemory(self.connections)

    @cached_property
    def prefetching(self) -> Prefetching:
        return Prefetching(daemons=self.daemons, images=self.images)

    @cached_property
    def blueprints(self) -> Blueprints:
        return Blueprints(
            installation=self.installation,
            state_dir=self.state_dir,
            worker_image=self.worker_image,
            confinement=self.confinement,
        )

    @cached_property
    def starter(self) -> Starter:
        return Starter(
            records=self.records,
            maker=Maker(
                blueprints=self.blueprints,
                connections=self.connections,
                images=self.images,
                networks=self.networks,
                memory=self.memory,
                followers=self.followers,
            ),
            registry_patience_seconds=self.registry_patience_seconds,
            daemon_patience_seconds=self.daemon_patience_seconds,
            changed=self.bell.ring,
        )

    @cached_property
    def ending(self) -> ContainerTeardown:
        return ContainerTeardown(
            state_dir=self.state_dir,
            connections=self.connections,
            daemons=self.daemons,
            inventory=self.inventory,
            records=self.records,
            networks=self.network_sweep,
            followers=self.followers,
            stopper=self.stopper,
        )

    @cached_property
    def lister(self) -> Lister:
        return Lister(
            inventory=self.inventory,
            daemons=self.daemons,
            records=self.records,
            followers=self.followers,
            ending=self.ending,
            networks=self.network_sweep,
        )
