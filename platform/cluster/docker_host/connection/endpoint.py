"""Where does a node's Docker daemon listen, and how do we prove who we are?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonEndpoint:
    """One Docker daemon. Several nodes may share one; their containers are told apart by label."""

    url: str  # unix:///var/run/docker.sock, tcp://gpu-7:2376
    certificates: Path | None = None  # folder with ca.pem, cert.pem, key.pem for tcp:// with TLS


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPlace:
    """Where a container is started: on this daemon, among these."""

    endpoint: DaemonEndpoint
    daemons: tuple[DaemonEndpoint, ...]  # all, in case one of a swarm has to ask another
