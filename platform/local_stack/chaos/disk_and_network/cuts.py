"""Which packets no longer arrive, and how do they again? By rules of a network that is ours alone.

PostgreSQL and Valkey are reached through unix sockets, so there is nothing to cut. TCP is what a
job's coordinator tells the service, what its workers tell the coordinator, and what workers send
each other. All are on the loopback interface and told apart by ports, and by the users that jobs
run as; whoever watches is another user, and is still heard. A packet is dropped on its way out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

PROGRAM: Final = ("iptables", "--wait")
OUT: Final = "OUTPUT"

Rule = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCut:
    """Rules that drop packets, in a chain of their own."""

    chain: str
    rules: tuple[Rule, ...]

    def begin(self, _seconds: float) -> None:
        _run("-N", self.chain)
        for rule in self.rules:
            _run("-A", self.chain, *rule)
        _run("-I", OUT, "-j", self.chain)  # all of it from this moment on

    def go_on(self) -> None:
        """It does by itself."""

    def end(self) -> None:
        """However far `begin` came, and more than once."""
        _run("-D", OUT, "-j", self.chain, is_needed=False)
        _run("-F", self.chain, is_needed=False)
        _run("-X", self.chain, is_needed=False)


def reports(*, uids: str, service_ports: Iterable[int], their_ports: Collection[int]) -> NetworkCut:
    """Return the cut of what coordinators tell the service, and what it answers.

    Args:
        uids: of the users that jobs run as: `FIRST-LAST`.
        service_ports: where the service listens.
        their_ports: from where coordinators ask at this moment. Who asks later is never heard.
    """
    rules: list[Rule] = []
    for port in service_ports:
        rules.append((*_to(port), *_of(uids), "-j", "DROP"))
        rules += ((*_from(port), "--dport", str(one), "-j", "DROP") for one in their_ports)
    return NetworkCut(chain="chaos-reports", rules=tuple(rules))


def control_line(coordinator_ports: Iterable[int]) -> NetworkCut:
    """Return the cut of what workers tell their coordinator, and what it tells them."""
    rules = tuple(
        (*end, "-j", "DROP") for port in coordinator_ports for end in (_to(port), _from(port))
    )
    return NetworkCut(chain="chaos-control-line", rules=rules)


def gradients(*, uids: str, but: Iterable[int]) -> NetworkCut:
    """Return the cut of whatever processes of jobs send each other.

    Args:
        uids: of the users that jobs run as: `FIRST-LAST`.
        but: ports of coordinators and the service, to and from which packets go on.
    """
    return NetworkCut(
        chain="chaos-gradients",
        rules=(*_let_through(but), ("-p", "tcp", *_of(uids), "-j", "DROP")),
    )


@contextmanager
def shared_connections(port: int, other_port: int) -> Iterator[None]:
    """Every second connection to the one port comes to the other, until the end.

    Raises:
        OSError: that cannot be had.
    """
    every_second = ("-m", "statistic", "--mode", "nth", "--every", "2", "--packet", "0")
    rule = (OUT, *_to(port), *every_second, "-j", "REDIRECT", "--to-ports", str(other_port))
    _run("-t", "nat", "-A", *rule)
    try:
        yield
    finally:
        _run("-t", "nat", "-D", *rule)


def _let_through(ports: Iterable[int]) -> Iterator[Rule]:
    for port in ports:
        for end in (_to(port), _from(port)):
            yield (*end, "-j", "RETURN")


def _to(port: int) -> Rule:
    return ("-p", "tcp", "--dport", str(port))


def _from(port: int) -> Rule:
    return ("-p", "tcp", "--sport", str(port))


def _of(uids: str) -> Rule:
    return ("-m", "owner", "--uid-owner", uids)


def _run(*arguments: str, is_needed: bool = True) -> None:
    ran = subprocess.run((*PROGRAM, *arguments), capture_output=True, text=True, check=False)
    if is_needed and ran.returncode != 0:
        raise OSError(ran.returncode, f"iptables {' '.join(arguments)}: {ran.stderr.strip()}")
