"""Which machines are there? Two nodes for jobs, and one beside the service; all in one swarm.

All three are managers, so that the swarm goes on when any one of them is lost, as the guide for
several nodes says. The one beside the service has no GPUs and no jobs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_stack.chaos.containers import cables, earlier
from local_stack.chaos.containers.machine import ChaosMachine
from local_stack.checkout import ROOT
from local_stack.containers import own_daemon
from local_stack.containers.endpoint import NoDocker, docker
from local_stack.processes.supervisor import StackSupervisor
from local_stack.set_up.long_step import StepFailed

PROGRAMS: Final = ("docker", "dockerd", "ip", "iptables", "nsenter", "unshare")
NAMES: Final = ("default-1", "default-2")  # as the service calls its nodes
OF_EARLIER_RUNS: Final = ("containers", "network", "swarm")  # of the data beside images
MIDDLE: Final = 128  # 10.64.0.0/24 is for machines, 10.64.128.0/17 for networks of jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """All of them, running."""

    nodes: tuple[ChaosMachine, ...]
    beside: ChaosMachine  # the service
    gateway: str  # where nodes reach this machine
    gpus_each: int = 2  # slots of each node

    def look_after(self) -> None:
        for one in (*self.nodes, self.beside):
            one.look_after()

    @property
    def missing(self) -> str:
        """The first of them that is not there, in words; empty: all are."""
        return next((f"{one.name} has no dockerd" for one in self.nodes if not one.daemon), "")


def why_not() -> str:
    """Return what is missing here, and what to do; empty: nothing."""
    if os.geteuid() != 0:
        return "machines of its own need root: run `./dev chaos --docker` as root."
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"{', '.join(missing)} not found: apt-get install docker.io iproute2 iptables"
    return ""


@contextmanager
def three_machines(*, keep_in: Path, say: Callable[[str], None]) -> Iterator[Machines]:
    """Started here; nothing is left at the end but the images, which are kept in that folder.

    Raises:
        NoDocker, NoCable, NotReady, StepFailed: they cannot run here.
    """
    if why := why_not():
        raise NoDocker(f"Containers: {why}")
    with ExitStack() as ends:
        ground = _ground(ends, keep_in, say)
        beside = ground.add(0, "the service's machine", data=keep_in / "images")
        for name in OF_EARLIER_RUNS:
            shutil.rmtree(beside.data / name, ignore_errors=True)
        beside.start()
        say("The image of the examples is made unless it is there; that takes minutes")
        _make_image(beside)
        nodes = [ground.add(n, name) for n, name in enumerate(NAMES, start=1)]
        for node in nodes:
            node.link_images(beside)
            node.start()
        _join((beside, *nodes), pool=f"{ground.prefix}.{MIDDLE}.0/17")
        yield Machines(nodes=tuple(nodes), beside=beside, gateway=ground.gateway)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MachineResources:
    """What machines stand on: a bridge, folders; and what ends with them."""

    ends: ExitStack
    bridge: str
    prefix: str
    keep_in: Path
    say: Callable[[str], None]

    @property
    def gateway(self) -> str:
        return f"{self.prefix}.0.1"

    def add(self, number: int, name: str, *, data: Path | None = None) -> ChaosMachine:
        """A machine that is not started yet."""
        namespace, address = f"{self.bridge}-{number}", f"{self.prefix}.0.{number + 2}"
        cable = cables.namespace(
            namespace, on=self.bridge, address=f"{address}/24", gateway=self.gateway
        )
        if data is None:
            data = self.keep_in / namespace
            self.ends.callback(shutil.rmtree, data, ignore_errors=True)
        self.ends.enter_context(cable)
        machine = ChaosMachine(
            name=name,
            address=address,
            namespace=namespace,
            folder=Path(tempfile.mkdtemp(prefix=f"{namespace}-")),
            data=data,
            supervisor=StackSupervisor(say=self.say),
        )
        self.ends.callback(machine.leave)
        return machine


def _ground(ends: ExitStack, keep_in: Path, say: Callable[[str], None]) -> _MachineResources:
    keep_in.mkdir(parents=True, exist_ok=True, mode=0o700)
    earlier.clean(keep_in, say=say)
    first, second = str(own_daemon.free_network().network_address).split(".")[:2]
    ground = _MachineResources(
        ends=ends,
        bridge=earlier.name_of(os.getpid()),
        prefix=f"{first}.{second}",
        keep_in=keep_in,
        say=say,
    )
    ends.enter_context(cables.bridge(ground.bridge, f"{ground.gateway}/24"))
    return ground


def _make_image(of: ChaosMachine) -> None:
    command = (sys.executable, "-m", "tools.images", "demo", "--host", of.url)
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise StepFailed(f"The image of the examples cannot be made:\n{ran.stderr[-2000:]}")


def _join(machines: tuple[ChaosMachine, ...], *, pool: str) -> None:
    """The first begins a swarm, and the others come in; all of them manage it."""
    first, *others = machines
    here = ("--advertise-addr", first.address, "--listen-addr", first.address)
    docker(first.url, "swarm", "init", *here, "--default-addr-pool", pool)
    token = docker(first.url, "swarm", "join-token", "--quiet", "manager")
    for one in others:
        here = ("--advertise-addr", one.address, "--listen-addr", one.address)
        docker(one.url, "swarm", "join", "--token", token, *here, f"{first.address}:2377")
