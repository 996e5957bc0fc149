"""On which network does a job's container run? On one of the job's own.

It is made before the job's first container and removed after its last. On a single daemon it is a
bridge without an address on the node (so that nothing that listens on the node is reached through
it); where daemons form a swarm, an overlay across them.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain
from typing import Any, Final, TypeVar

import docker.errors

from cluster.docker_host import labels
from cluster.docker_host.connections import Client, Connections, talking_to, words
from cluster.docker_host.endpoint import Endpoint
from cluster.docker_host.keyed_locks import KeyedLocks
from cluster.job_network import JobNetwork
from cluster.worker_host import HostUnavailable

T = TypeVar("T")
_MOST_AT_ONCE: Final = 64
_IN_USE: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST})  # the latter: a swarm
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

    def of_job(self, job_id: str, endpoint: Endpoint, daemons: Iterable[Endpoint]) -> str:
        """The id of the job's network, for a container on this daemon; made if need be.

        Raises:
            HostUnavailable: it cannot be made now.
        """
        keeper = self._keeper(endpoint, daemons)
        with self._locks.of(keeper.endpoint, job_id):
            found = self._of_job(job_id, keeper)
            if not found:
                made = self._make(job_id, keeper)
                found = self._of_job(job_id, keeper)  # another service process may have made one
            return _oldest(found) if found else made

    def of_coordinators(self, endpoint: Endpoint) -> str:
        """The id of the network on which coordinators reach the service, made if need be.

        One that is made here has a way out: the service is somewhere else then.
        """
        with self._locks.of(endpoint), talking_to(endpoint):
            client = self.connections.patient(endpoint)
            found = client.networks(names=[self.coordinator_network])
            same = [one for one in found if one["Name"] == self.coordinator_network]
            if same:
                return _oldest(same)
            made = client.create_network(
                self.coordinator_network,
                driver="bridge",
                check_duplicate=True,
                labels={labels.INSTALLATION: self.installation},
            )
            return str(made["Id"])

    def remove_if_unused(
        self, job_id: str, endpoint: Endpoint, daemons: Iterable[Endpoint]
    ) -> None:
        """Remove the job's network unless one of its containers is left, or is being made.

        The control loop waits for it, hence only for quick answers. A swarm's manager knows
        besides of those that run on a daemon which does not answer.

        Raises:
            HostUnavailable: try again later.
        """
        daemons = tuple(daemons)
        keeper = self._keeper(endpoint, daemons)
        lock = self._locks.of(keeper.endpoint, job_id)
        if not lock.acquire(blocking=False):
            return
        try:
            if not self._is_used(job_id, endpoint, daemons if keeper.is_swarm else ()):
                for network in self._of_job(job_id, keeper):
                    with talking_to(keeper.endpoint):
                        _remove(self.connections.quick(keeper.endpoint), network["Id"])
        finally:
            lock.release()

    def _is_used(self, job_id: str, endpoint: Endpoint, others: Iterable[Endpoint]) -> bool:
        """By a container on this daemon, which has to answer, or on one of the others."""
        if self._has_container(job_id, endpoint):
            return True
        others = set(others) - {endpoint}
        return any(_answers(others, lambda one: self._has_container(job_id, one)).values())

    def _has_container(self, job_id: str, endpoint: Endpoint) -> bool:
        wanted = {"label": labels.of_job(self.installation, job_id)}
        with talking_to(endpoint):
            return bool(self.connections.quick(endpoint).containers(all=True, filters=wanted))

    def _keeper(self, endpoint: Endpoint, daemons: Iterable[Endpoint]) -> _Keeper:
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

    def _make(self, job_id: str, keeper: _Keeper) -> str:
        """Of two that make it at the same time, the one whom the daemon refuses finds the other."""
        is_internal = self.job_network is JobNetwork.ISOLATED
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

    def _swarm(self, endpoint: Endpoint) -> dict[str, Any]:
        with talking_to(endpoint):
            swarm: dict[str, Any] = self.connections.quick(endpoint).info()["Swarm"]
            return swarm


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keeper:
    """Who makes and removes the networks of a daemon's containers."""

    endpoint: Endpoint
    is_swarm: bool


def _oldest(networks: Iterable[dict[str, Any]]) -> str:
    """The one that all choose when two made one at the same time."""
    return str(min(networks, key=lambda network: (network["Created"], network["Id"]))["Id"])


def _answers(
    endpoints: Collection[Endpoint], question: Callable[[Endpoint], T]
) -> dict[Endpoint, T]:
    """Of those that answer, all side by side."""
    if not endpoints:
        return {}

    def asked(endpoint: Endpoint) -> list[tuple[Endpoint, T]]:
        with contextlib.suppress(HostUnavailable):
            return [(endpoint, question(endpoint))]
        return []

    with ThreadPoolExecutor(min(len(endpoints), _MOST_AT_ONCE)) as pool:
        return dict(chain.from_iterable(pool.map(asked, endpoints)))


def _remove(client: Client, network_id: str) -> None:
    try:
        client.remove_network(network_id)
    except docker.errors.NotFound:
        return
    except docker.errors.APIError as problem:
        if problem.status_code not in _IN_USE:
            raise
        extra = {"action": "remove_network", "network": network_id}
        _log.warning("A network stays: %s", words(problem), extra=extra)
