"""How does a Docker daemon of this checkout run? Beside others, and its containers outlive it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.containers import endpoint, mounts, own_bridge, own_cgroup
from local_stack.processes.child_process import ChildProcess, ProcessSpec
from local_stack.processes.servers import answers

ROUTES = Path("/proc/net/route")
FIRST_NETWORK, NETWORKS = 64, 128  # 10.64.0.0/16 and those that follow
STOP_SECONDS = 20.0
NAME, PROGRAM = "docker", "dockerd"
# A killed daemon takes its containerd along. Its successor, if it comes before that is quite gone,
# would wait for it in vain.
FORGET_FIRST = ("sh", "-c", 'rm -f "$1"; shift; exec "$@"', "sh")


def folders(checkout: Checkout) -> tuple[Path, Path]:
    """Images and containers; and the daemon's own sockets, whose path must be short."""
    return checkout.state_dir / "docker", checkout.runtime_dir / "docker"


def spec(checkout: Checkout) -> ProcessSpec:
    """The daemon, reachable through a private unix socket only.

    It shares nothing with the machine's own daemon, should there be one: neither data nor
    configuration, nor the bridge `docker0`.
    """
    own_bridge.ensure(own_bridge.name_of(checkout.identity))
    data, run = folders(checkout)
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    run.mkdir(parents=True, exist_ok=True, mode=0o700)
    url = endpoint.own_url(checkout)
    socket = Path(url.removeprefix("unix://"))
    return ProcessSpec(
        name=NAME,
        command=(
            *(*FORGET_FIRST, str(run / "containerd" / "containerd.pid")),
            *(PROGRAM, "--config-file", str(_configuration(checkout)), "--host", url),
            *_below(own_cgroup.ensure(own_bridge.name_of(checkout.identity))),
        ),
        log=checkout.logs_dir / "docker.log",
        working_directory=Path("/"),
        is_ready=lambda: socket.exists() and answers(endpoint.reach, url),
        stop_seconds=STOP_SECONDS,
    )


@contextmanager
def running(checkout: Checkout) -> Iterator[None]:
    """The daemon runs meanwhile, to look after what an earlier run left.

    Raises:
        NotReady: it does not start.
    """
    daemon = ChildProcess(spec(checkout))
    try:
        daemon.wait_until_ready()
        yield
    finally:
        daemon.stop()
        let_go(checkout)


def let_go(checkout: Checkout) -> None:
    """Remove what a daemon that has ended leaves: mounts below its folders, and its bridge."""
    for folder in folders(checkout):
        mounts.unmount_below(folder)
    own_bridge.remove(own_bridge.name_of(checkout.identity))
    own_cgroup.remove(own_bridge.name_of(checkout.identity))


def _below(cgroup: str | None) -> tuple[str, ...]:
    return ("--cgroup-parent", cgroup) if cgroup else ()


def _configuration(checkout: Checkout) -> Path:
    """Written once, so that the daemon finds its networks where they were."""
    data, run = folders(checkout)
    file = data / "daemon.json"
    if not file.exists():
        pools = [{"base": str(free_network()), "size": 24}]
        settings = {
            "data-root": str(data / "data"),
            "exec-root": str(run),
            "pidfile": str(run / "docker.pid"),
            "bridge": own_bridge.name_of(checkout.identity),
            "live-restore": True,
            "default-address-pools": pools,
        }
        file.write_text(json.dumps(settings, indent=2))
    return file


def free_network() -> IPv4Network:
    """A network for jobs' networks to be cut from, to which this machine has no route yet."""
    taken = _routes()
    candidates = range(FIRST_NETWORK, FIRST_NETWORK + NETWORKS)
    networks = (IPv4Network(f"10.{number}.0.0/16") for number in candidates)
    return next(net for net in networks if not any(net.overlaps(other) for other in taken))


def _routes() -> list[IPv4Network]:
    """Return where packets go by a route of their own, not by the default one."""
    rows = [line.split() for line in ROUTES.read_text().splitlines()[1:]]
    routes = [IPv4Network((_address(row[1]), _address(row[7]))) for row in rows]
    return [route for route in routes if route.prefixlen]


def _address(hexadecimal: str) -> str:
    return ".".join(str(byte) for byte in reversed(bytes.fromhex(hexadecimal)))
