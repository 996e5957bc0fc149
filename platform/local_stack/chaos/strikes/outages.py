"""What does a fault take away that is no process? The disk of the stack, or a part of its network.

Which part is found beforehand, by the ports at which the processes of its jobs listen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import psutil

from local_stack.chaos.disk_and_network import cuts
from local_stack.chaos.disk_and_network.disk import FullDisk, SlowDisk
from local_stack.chaos.faults import (
    IN_CONTAINERS,
    OF_MACHINES,
    OF_THE_NETWORK,
    OF_THE_SERVICE,
    Component,
    Fault,
    Way,
)
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind, drawn
from local_stack.chaos.stacks.target_stack import TargetStack

# Packets of jobs are known by the users that these run as.
OF_USERS: Final = (Component.REPORTS, Component.GRADIENTS)


class Outage(Protocol):
    """Something that is away for a while."""

    def begin(self, seconds: float) -> None:
        """Take it away, for so long.

        Raises:
            OSError: it could not be.
        """

    def go_on(self) -> None:
        """Called again and again meanwhile."""

    def end(self) -> None:
        """Give it back; more than once does no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleOutage:
    """An outage that can begin now."""

    outage: Outage
    what: str  # that is away, for people
    job_ids: frozenset[str] = frozenset()


def impossible(stack: TargetStack) -> Iterator[Component]:
    """Yield the components that cannot be hit there."""
    if stack.machines is not None:
        yield from set(Component) - {*IN_CONTAINERS, *OF_THE_SERVICE}
        return
    yield from OF_MACHINES
    if stack.is_somebodys:
        yield Component.STACK
    if stack.disk is None:
        yield Component.DISK
    if not stack.has_network:
        yield from OF_THE_NETWORK
    elif not stack.team_uids:
        yield from OF_USERS


def find(fault: Fault, stack: TargetStack) -> PossibleOutage | None:
    """None: there is nothing of the kind now."""
    if fault.component is Component.DISK:
        return _of_disk(fault, stack)
    coordinators = _coordinators(stack)
    if not coordinators:
        return None
    if fault.component is Component.CONTROL_LINE:
        job_id = drawn({one.job_id for one in coordinators}, coordinators, fault.lot)
        ports = listening([one for one in coordinators if one.job_id == job_id])
        return PossibleOutage(
            outage=cuts.control_line(ports), what=_ports(ports), job_ids=frozenset({job_id})
        )
    if fault.component is Component.GRADIENTS:
        spared = (*stack.ports, *listening(coordinators))
        cut = cuts.gradients(uids=stack.team_uids, but=spared)
        return PossibleOutage(
            outage=cut, what=f"all TCP of users {stack.team_uids} but {_ports(spared)}"
        )
    asking = tuple(_asking(coordinators, stack.ports))
    cut = cuts.reports(uids=stack.team_uids, service_ports=stack.ports, their_ports=asking)
    return PossibleOutage(outage=cut, what=_ports(stack.ports))


def _of_disk(fault: Fault, stack: TargetStack) -> PossibleOutage | None:
    if stack.disk is None:
        return None
    outage = SlowDisk(stack.disk) if fault.way is Way.SLOW else FullDisk(disk=stack.disk)
    return PossibleOutage(outage=outage, what=str(stack.disk.folder))


def _coordinators(stack: TargetStack) -> list[JobProcess]:
    running = stack.job_processes()
    return [one for one in running if one.part is JobProcessKind.COORDINATOR]


def listening(those: Iterable[JobProcess]) -> tuple[int, ...]:
    """The TCP ports at which they listen."""
    return tuple(
        sorted(one.laddr.port for one in _connections(those) if one.status == psutil.CONN_LISTEN)
    )


def _asking(those: Iterable[JobProcess], ports: Sequence[int]) -> Iterator[int]:
    for one in _connections(those):
        if one.raddr and one.raddr.port in ports:
            yield one.laddr.port


def _connections(those: Iterable[JobProcess]) -> Iterator[Any]:
    for one in those:
        try:
            yield from one.process.net_connections("tcp4")
        except psutil.Error:  # it has ended
            continue


def _ports(ports: Iterable[int]) -> str:
    return f"port {', '.join(map(str, ports))}"
