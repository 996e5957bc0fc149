"""How does the link get into the cluster? Or why not, in words that tell what to change."""

from __future__ import annotations

import os
import platform
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from cluster.ray_host.link.own_raylet import await_end, own_address, seen_raylets
from cluster.source_root import SOURCE_ROOT
from concertina_worker import protocol

_NAMESPACE: Final = "concertina"
_KNOCK_SECONDS: Final = 3.0
_REFUSED: Final = "unauthenticated"  # as gRPC calls it
_FRAME_HEAD: Final = 9  # bytes of a frame of HTTP/2: length, kind, flags, stream
_SETTINGS: Final = b"\x04"  # the kind that each side sends first
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"

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
    raylets = seen_raylets()
    if raylets is not None and not raylets:
        raise CannotConnect(
            "no node of Ray runs on this machine, and Ray lets programs in only on one of the"
            f" cluster. Start one that is given no work: ray start --address={options['address']}"
            " --num-cpus=0 --num-gpus=0. One in a container beside this one is found if both have"
            " one list of processes (shareProcessNamespace of a pod, `pid:` of Compose), network,"
            " /tmp/ray and /dev/shm"
        )
    try:
        ray.init(
            address=options["address"],
            _node_ip_address=own_address(raylets or (), head=options["address"]),
            namespace=_NAMESPACE,
            runtime_env={"py_modules": [str(one) for one in _code()]},
            log_to_driver=False,
            logging_level="ERROR",
        )
    except Exception as problem:
        raise CannotConnect(_words(problem, options["address"])) from problem
    own_id = ray.get_runtime_context().get_node_id()
    threading.Thread(target=_end_with, args=(own_id,), daemon=True).start()
    return _answering(options)


def _end_with(ray_id: str) -> None:
    """End this process with the raylet that it goes through; the next goes through the next."""
    if await_end(ray_id):
        print("Ray's own node of this machine has ended", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)


def _answering(options: Mapping[str, Any]) -> Answer:

    from cluster.ray_host.link.agents import Agents  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.asking import Asking  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.head import ask_head  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.machine_leases import MachineLeases  # noqa: PLC0415 - loads Ray
    from cluster.ray_host.link.membership import ClusterMembership  # noqa: PLC0415 - beside them

    agents = Agents(
        installation=options["installation"],
        node_dir=options["node_dir"],
        asked_of_nodes=options["asked_of_nodes"],
        only_looks=options.get("only_looks", False),
    )
    membership = ClusterMembership(ask_head=ask_head)
    asking = Asking(membership=membership, agents=agents)
    machines = MachineLeases(
        installation=options["installation"], members=lambda: membership.now(seconds=0.0)
    )

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        if request.get("roster"):
            return membership.roster(seconds=request["seconds"])
        if "machines" in request:
            return {"brought": machines.keep(request["machines"])}
        return asking.answer(request)

    return answer


def _code() -> tuple[Path, ...]:
    """What nodes need of ours; Ray keeps it there by its digest."""
    return SOURCE_ROOT / "cluster", Path(protocol.__file__).resolve().parent


def _knock(address: str) -> None:
    """Raises: CannotConnect, where no head listens; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS) as line:
            answer = b"" if os.environ.get("RAY_USE_TLS", "0") != "0" else _greeting(line)
    except (OSError, UnicodeError) as problem:  # of a name that none can be
        raise CannotConnect(
            f"nobody answers at {address} ({problem}), where CONCERTINA_RAY_ADDRESS says that Ray's"
            " head is. Start it, or correct the address"
        ) from problem
    if answer and answer[3:4] != _SETTINGS:
        raise CannotConnect(
            f"what answers at {address}, where CONCERTINA_RAY_ADDRESS says that Ray's head is, is"
            f" something else: it says {answer!r}. Correct the address: its port is that of"
            " `ray start --head --port`, 6379 if nobody said otherwise"
        )


def _greeting(line: socket.socket) -> bytes:
    """Return what the other side says first when it is greeted as gRPC does; empty: nothing yet.

    A head that is busy may be silent for long; then Ray's own patience counts.
    """
    line.sendall(_PREFACE)
    try:
        return line.recv(_FRAME_HEAD)
    except TimeoutError:
        return b""


def _words(problem: Exception, address: str) -> str:
    """Ray's own words, and what to do where they do not say it."""
    message = " ".join(str(problem).split())
    if "version mismatch" in message.lower():
        return (
            f"{message} Let CONCERTINA_RAY_PYTHON name an interpreter that has what the cluster has"
        )
    return f"Ray at {address} does not take us in: {type(problem).__name__}: {message}"[:1000]


def with_the_reason(failed: str, *, heard: str, environ: Mapping[str, str]) -> str:
    """Say what to do with the token, where that is what Ray's own libraries wrote about.

    Its exception says only that it failed to connect, after twenty seconds of these.
    """
    if _REFUSED not in heard.lower() and _REFUSED not in failed.lower():
        return failed
    if environ.get("RAY_AUTH_MODE") == "token":
        return (
            "Ray does not let us in with the token of CONCERTINA_RAY_TOKEN_FILE: it is missing"
            " there, wrong, or was changed since. Write the cluster's into that file (its machines"
            f" have it in ~/.ray/auth_token). {failed}"
        )
    return (
        "Ray asks for a token, and CONCERTINA_RAY_UNPROTECTED says that it has none: name a file"
        f" with the cluster's in CONCERTINA_RAY_TOKEN_FILE instead. {failed}"
    )
