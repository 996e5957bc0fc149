"""How do we talk to the Docker daemons? Through clients that are made when first needed.

Whatever goes wrong between us and a daemon becomes `HostUnavailable`; what the daemon itself
answers stays a `docker.errors.APIError`, for the caller to judge.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import docker
import docker.constants
import docker.errors
import requests
import urllib3
from docker.tls import TLSConfig

from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.worker_host import HostUnavailable

PATIENT_SECONDS: Final = 120.0  # guessed: starting a container on a busy node

_ANY_VERSION: Final = docker.constants.MINIMUM_DOCKER_API_VERSION  # to ask for the daemon's own
_NO_CERTIFICATES: Final = (
    "there are no certificates for it, and without TLS it is not asked: set CONCERTINA_DOCKER_CERTS"
)

Client: TypeAlias = Any  # a docker.APIClient; docker comes without types


@dataclass(frozen=True, slots=True)
class Connections:
    """Clients by endpoint and by their patience in seconds, shared by threads."""

    answer_seconds: float  # for what a daemon knows by heart; longer, and it counts as silent
    tunnels: Tunnels
    _clients: dict[DaemonEndpoint, dict[float, Client]] = field(default_factory=dict)

    def quick(self, endpoint: DaemonEndpoint) -> Client:
        """Connect for what a daemon answers at once. Raises: HostUnavailable."""
        return self._client(endpoint, self.answer_seconds)

    def patient(self, endpoint: DaemonEndpoint) -> Client:
        """Connect for work that takes long. Raises: HostUnavailable."""
        return self._client(endpoint, PATIENT_SECONDS)

    def connected(self, endpoint: DaemonEndpoint, seconds: float) -> Client:
        """A client of its own, which waits so long for each answer. Raises: HostUnavailable."""
        with asking(endpoint):
            first = self._made(endpoint, _ANY_VERSION, self.answer_seconds)
            with contextlib.closing(first):
                version = first.version(api_version=False)["ApiVersion"]
            return self._made(endpoint, version, seconds)

    def _made(self, endpoint: DaemonEndpoint, version: str, seconds: float) -> Client:
        client: Client = docker.APIClient(
            base_url=self._url(endpoint), version=version, timeout=seconds, tls=_tls(endpoint)
        )
        client.trust_env = False  # REQUESTS_CA_BUNDLE would replace the daemon's own authority
        return client

    def forget(self, endpoint: DaemonEndpoint) -> None:
        """Meet it anew: who answers there next may speak another version of the API.

        Requests that others wait for are answered all the same.
        """
        for client in list(self._clients.pop(endpoint, {}).values()):
            client.close()

    def close(self) -> None:
        """End all connections; whoever asks again makes new ones."""
        for endpoint in list(self._clients):
            self.forget(endpoint)
        self.tunnels.close()

    def _client(self, endpoint: DaemonEndpoint, seconds: float) -> Client:
        self._url(endpoint)
        known = self._clients.setdefault(endpoint, {})
        if seconds not in known:
            known.setdefault(seconds, self.connected(endpoint, seconds))
        return known[seconds]

    def _url(self, endpoint: DaemonEndpoint) -> str:
        """Write it as Docker's client takes it; always the same for an endpoint."""
        if endpoint.url.startswith("tcp://") and endpoint.certificates is None:
            raise HostUnavailable(f"{endpoint.url}: {_NO_CERTIFICATES}")
        if endpoint.url.startswith("ssh://"):
            return self.tunnels.local_url(endpoint.url)
        return endpoint.url


@contextmanager
def talking_to(endpoint: DaemonEndpoint) -> Iterator[None]:
    """Turn whatever keeps a daemon from answering into `HostUnavailable`."""
    try:
        yield
    except docker.errors.APIError:
        raise
    except (
        docker.errors.DockerException,
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    ) as problem:
        raise HostUnavailable(f"{endpoint.url}: {problem}") from problem


@contextmanager
def asking(endpoint: DaemonEndpoint) -> Iterator[None]:
    """Ask what every daemon in order can answer: a refusal is `HostUnavailable` too."""
    try:
        with talking_to(endpoint):
            yield
    except docker.errors.APIError as refusal:
        raise HostUnavailable(f"{endpoint.url}: {words(refusal)}") from refusal


@contextmanager
def asking_for(node: str | None) -> Iterator[None]:
    """Tell whoever cannot be answered which node it is that does not answer."""
    try:
        yield
    except HostUnavailable as problem:
        silent_nodes = {node: str(problem)} if node else {}
        raise HostUnavailable(str(problem), silent_nodes=silent_nodes) from problem


def words(problem: docker.errors.APIError) -> str:
    """Return what the daemon said, in one line."""
    said = problem.explanation or str(problem)
    return " ".join(str(said).split())


def _tls(endpoint: DaemonEndpoint) -> TLSConfig | None:
    folder = endpoint.certificates
    if folder is None:
        return None
    return TLSConfig(
        client_cert=(str(folder / "cert.pem"), str(folder / "key.pem")),
        ca_cert=str(folder / "ca.pem"),
        verify=True,
    )
