"""Which machine does a fault hit, and what ends with it? A daemon's containers end, too.

Without live-restore, as in every swarm, containers outlive their daemon only until the next one
starts: it ends them. One that is frozen keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from local_stack.chaos.containers.machine import ChaosMachine
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.faults import Component, Fault, Way
from local_stack.chaos.observation.processes import JobProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class LostNode:
    """A machine that burns down, and comes back."""

    machine: ChaosMachine

    def begin(self, _seconds: float) -> None:
        self.machine.burn_down()

    def go_on(self) -> None:
        """It stays away by itself."""

    def end(self) -> None:
        self.machine.come_back()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A machine, or its daemon alone, and the workers that end."""

    what: str
    processes: tuple[psutil.Process, ...] = ()
    outage: LostNode | None = None
    worker_ids: frozenset[str] = frozenset()


def find(fault: Fault, machines: Machines, running: Sequence[JobProcess]) -> Aim | None:
    """None: there is none."""
    machine = machines.nodes[int(fault.lot * len(machines.nodes))]
    workers = frozenset(one.worker_id for one in running if one.worker_id and _is_on(machine, one))
    if fault.component is Component.NODE:
        return Aim(what=machine.name, outage=LostNode(machine=machine), worker_ids=workers)
    daemon = machine.daemon
    if daemon is None:
        return None
    ended = workers if fault.way is Way.KILL else frozenset[str]()
    return Aim(what=f"of {machine.name}, pid {daemon.pid}", processes=(daemon,), worker_ids=ended)


def _is_on(machine: ChaosMachine, one: JobProcess) -> bool:
    return any(gpu.endswith(f" of {machine.name}") for gpu in one.gpus)
