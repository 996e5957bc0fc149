"""How does the link get into the cluster? Or why not, in words that tell what to change."""

from __future__ import annotations

import platform
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from cluster.source_root import SOURCE_ROOT
from concertina_worker import protocol

_NAMESPACE: Final = "concertina"
_KNOCK_SECONDS: Final = 3.0

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class CannotConnect(Exception):
    """The cluster cannot be reached; the message says what to do."""


def connect(options: Mapping[str, Any]) -> Answer:
    """Return what answers questions. May never return: whoever waits has a deadline.

    Raises:
        CannotConnect: the reason is known.
    """
    _knock(options["address"])
    try:
        import ray  # noqa: PLC0415 - whether it is there is the question
    except ImportError as problem:
        raise CannotConnect(
            f"{problem.name} is not installed for Python {platform.python_version()} of the link."
            " Install concertina[ray] there, or let CONCERTINA_RAY_PYTHON name an interpreter that"
            " has the Ray of the cluster"
        ) from problem
    try:
        ray.init(
            address=options["address"],
            namespace=_NAMESPACE,
            runtime_env={"py_modules": [str(one) for one in _code()]},
            log_to_driver=False,
            logging_level="ERROR",
        )
    except Exception as problem:
        raise CannotConnect(_words(problem, options["address"])) from problem
    return _answering(options)


def _answering(options: Mapping[str, Any]) -> Answer:

    from cluster.ray_host.link.agents import Agents  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.asking import Asking  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.head import ask_head  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.membership import ClusterMembership  # noqa: PLC0415 - beside them

    agents = Agents(
        installation=options["installation"],
        node_dir=options["node_dir"],
        asked_of_nodes=options["asked_of_nodes"],
    )
    membership = ClusterMembership(ask_head=ask_head)
    asking = Asking(membership=membership, agents=agents)

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        if request.get("roster"):
            return membership.roster(seconds=request["seconds"])
        return asking.answer(request)

    return answer


def _code() -> tuple[Path, ...]:
    """What nodes need of ours; Ray keeps it there by its digest."""
    return SOURCE_ROOT / "cluster", Path(protocol.__file__).resolve().parent


def _knock(address: str) -> None:
    """Raises: CannotConnect, where nobody listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()
    except OSError as problem:
        raise CannotConnect(
            f"nobody answers at {address} ({problem}), where CONCERTINA_RAY_ADDRESS says that Ray's"
            " head is. Start it, or correct the address"
        ) from problem


def _words(problem: Exception, address: str) -> str:
    """Ray's own words, and what to do where they do not say it."""
    message = " ".join(str(problem).split())
    if "token" in message.lower() or "unauthenticated" in message.lower():
        token = "the token of CONCERTINA_RAY_TOKEN_FILE"  # noqa: S105 - a name
        return f"Ray at {address} does not let us in with {token}: {message}"[:1000]
    if "version mismatch" in message.lower():
        return (
            f"{message} Let CONCERTINA_RAY_PYTHON name an interpreter that has what the cluster has"
        )
    return f"Ray at {address} does not take us in: {type(problem).__name__}: {message}"[:1000]
