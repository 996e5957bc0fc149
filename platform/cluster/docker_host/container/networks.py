"""On which network does a job's container run? On one of the job's own.

It is made before the job's first container and removed after its last (`network_sweep`). On a
single daemon it is a bridge without an address on the node (so that nothing that listens on the
node is reached through it); where daemons form a swarm, an overlay across them.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain
from typing import Any, Final, TypeVar

import docker.errors

from autoscaler.job_network import JobNetwork
from cluster.docker_host.connection.connections import Client, Connections, talking_to, words
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import labels
from cluster.docker_host.container.job_network import of_launch
from cluster.docker_host.container.keyed_locks import KeyedLocks
from cluster.worker_host import HostUnavailable, Launch

T = TypeVar("T")
_MOST_AT_ONCE: Final = 64
_APART: Final = {"com.docker.network.bridge.enable_icc": "false"}  # its containers from another
_NO_ADDRESS: Final = {"com.docker.network.bridge.inhibit_ipv4": "true"}

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Networks:
    """The networks of one installation."""

    installation: str
    job_network: JobNetwork
    coordinator_network: str
    connections: Connections
    _locks: KeyedLocks = field(default_factory=KeyedLocks)

    def of_job(
        self, launch: Launch, endpoint: DaemonEndpoint, daemons: Iterable[DaemonEndpoint]
    ) -> str:
        """The id of its job's network, for a container on this daemon; made if need be.

        Raises:
            HostUnavailable, docker.errors.APIError: it cannot be made now.
        """
        keeper, job_id = self._keeper(endpoint, daemons), launch.labels.job_id
        with self._locks.of(keeper.endpoint, job_id):
            found = self._of_job(job_id, keeper)
            if not found:
                made = self._make(job_id, keeper, of_launch(launch, self.job_network))
                found = self._of_job(job_id, keeper)  # another service process may have made one
            return _oldest(found) if found else made

    def of_coordinator(self, launch: Launch, endpoint: DaemonEndpoint) -> Iterator[str]:
        """Yield the ids of the networks of a coordinator beside its job's, made if need be.

        On the first it reaches the service. One that is made here has a way out: the service is
        somewhere else then. On the second its gate reaches the world, and no other gate.
        """
        yield self._named(self.coordinator_network, endpoint)
        if of_launch(launch, self.job_network) is JobNetwork.LISTED:
            yield self._named(f"concertina-{self.installation}-gates", endpoint, _APART)

    def _named(
        self, name: str, endpoint: DaemonEndpoint, options: Mapping[str, str] | None = None
    ) -> str:
        with self._locks.of(endpoint), talking_to(endpoint):
            client = self.connections.patient(endpoint)
            same = [one for one in client.networks(names=[name]) if one["Name"] == name]
            if same:
                return _oldest(same)
            made = client.create_network(
                name,
                driver="bridge",
                options=options,
                check_duplicate=True,
                labels={labels.INSTALLATION: self.installation},
            )
            return str(made["Id"])

    def remove_unused(
        self,
        endpoint: DaemonEndpoint,
        daemons: Iterable[DaemonEndpoint],
        *,
        also_used_by: Callable[[], Collection[str]],
    ) -> None:
        """Remove the networks of jobs without a container, on this daemon or in all of its swarm.

        Docker does not know what is still to come. So `also_used_by` tells of such jobs; it is
        asked last, since a job is known there before it has a network. A swarm's manager refuses
        besides what a daemon uses that does not answer.

        Raises:
            HostUnavailable, docker.errors.APIError: try again later.
        """
        daemons = tuple(daemons)
        keeper = self._keeper(endpoint, daemons)
        by_job = self._by_job(keeper)
        unused = by_job.keys() - self._jobs_with_containers(endpoint)
        if unused and keeper.is_swarm:
            others = _answers(set(daemons) - {endpoint}, self._jobs_with_containers)
            unused = unused.difference(*others.values())
        if unused:
            unused -= set(also_used_by())
        for job_id in unused:
            for network_id in by_job[job_id]:
                with talking_to(keeper.endpoint):
                    _remove(self.connections.quick(keeper.endpoint), network_id)

    def _by_job(self, keeper: _Keeper) -> dict[str, list[str]]:
        """The networks of all jobs."""
        wanted = {"label": labels.of_all_jobs(self.installation)}
        found: dict[str, list[str]] = {}
        with talking_to(keeper.endpoint):
            for network in self.connections.quick(keeper.endpoint).networks(filters=wanted):
                found.setdefault(network["Labels"][labels.JOB], []).append(network["Id"])
        return found

    def _jobs_with_containers(self, endpoint: DaemonEndpoint) -> set[str]:
        wanted = {"label": labels.of_all_jobs(self.installation)}
        with talking_to(endpoint):
            rows = self.connections.quick(endpoint).containers(all=True, filters=wanted)
        return {row["Labels"][labels.JOB] for row in rows}

    def _keeper(self, endpoint: DaemonEndpoint, daemons: Iterable[DaemonEndpoint]) -> _Keeper:
        """Itself, or a manager of its swarm. Raises: HostUnavailable."""
        swarm = self._swarm(endpoint)
        if swarm.get("LocalNodeState") != "active":
            return _Keeper(endpoint=endpoint, is_swarm=False)
        if swarm.get("ControlAvailable"):
            return _Keeper(endpoint=endpoint, is_swarm=True)
        others = tuple(one for one in dict.fromkeys(daemons) if one != endpoint)
        answers = _answers(others, self._swarm)
        for one in others:
            if answers.get(one, {}).get("ControlAvailable"):
                return _Keeper(endpoint=one, is_swarm=True)
        raise HostUnavailable("No manager of the swarm answers: nobody can make a network.")

    def _of_job(self, job_id: str, keeper: _Keeper) -> list[dict[str, Any]]:
        wanted = {"label": labels.of_job(self.installation, job_id)}
        with talking_to(keeper.endpoint):
            found: list[dict[str, Any]] = self.connections.quick(keeper.endpoint).networks(
                filters=wanted
            )
        return found

    def _make(self, job_id: str, keeper: _Keeper, network: JobNetwork) -> str:
        """Make it; of two at the same time, the one that the daemon refuses finds the other's."""
        is_internal = network is not JobNetwork.EGRESS
        kind = (
            {"driver": "overlay", "attachable": True} if keeper.is_swarm else {"driver": "bridge"}
        )
        try:
            with talking_to(keeper.endpoint):
                made = self.connections.patient(keeper.endpoint).create_network(
                    f"concertina-{self.installation}-{job_id}",
                    options=_NO_ADDRESS if is_internal and not keeper.is_swarm else None,
                    check_duplicate=True,
                    internal=is_internal,
                    labels=labels.of_network(self.installation, job_id),
                    **kind,
                )
        except docker.errors.APIError as refusal:
            found = self._of_job(job_id, keeper)
            if refusal.status_code != HTTPStatus.CONFLICT or not found:
                raise
            return _oldest(found)
        return str(made["Id"])

    def _swarm(self, endpoint: DaemonEndpoint) -> dict[str, Any]:
        with talking_to(endpoint):
            swarm: dict[str, Any] = self.connections.quick(endpoint).info()["Swarm"]
            return swarm


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keeper:
    """Makes and removes the networks of a daemon's containers."""

    endpoint: DaemonEndpoint
    is_swarm: bool


def _oldest(networks: Iterable[dict[str, Any]]) -> str:
    """The one that all choose when two made one at the same time."""
    return str(min(networks, key=lambda network: (network["Created"], network["Id"]))["Id"])


def _answers(
    endpoints: Collection[DaemonEndpoint], question: Callable[[DaemonEndpoint], T]
) -> dict[DaemonEndpoint, T]:
    """Ask all side by side; return those that answer."""
    if not endpoints:
        return {}

    def answer_of(endpoint: DaemonEndpoint) -> list[tuple[DaemonEndpoint, T]]:
        with contextlib.suppress(HostUnavailable):
            return [(endpoint, question(endpoint))]
        return []

    with ThreadPoolExecutor(min(len(endpoints), _MOST_AT_ONCE)) as pool:
        return dict(chain.from_iterable(pool.map(answer_of, endpoints)))


def _remove(client: Client, network_id: str) -> None:
    """One that Docker keeps, being in use, say, keeps no other."""
    try:
        client.remove_network(network_id)
    except docker.errors.NotFound:
        return
    except docker.errors.APIError as problem:
        extra = {"action": "remove_network", "network": network_id}
        _log.warning("A network stays: %s", words(problem), extra=extra)
