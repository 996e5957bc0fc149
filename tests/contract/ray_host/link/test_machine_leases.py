"""What is asked of Ray's head for machines, where a few answers of it are written by hand."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("ray")

from cluster.ray_host.link import machine_leases
from cluster.ray_host.link.machine_leases import MachineLeases
from cluster.ray_host.link.membership import Members

from tests.contract.conftest import until

WISH = {"labels": {"concertina.io/pool": "h100"}, "bundle": {"GPU": 8}}


@dataclass
class Head:
    """Which leases there are, by name; of those it refuses it makes none."""

    leases: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    looks: int = 0

    def table(self) -> dict[str, Any]:
        self.looks += 1
        return {name: {"name": name, "state": "PENDING"} for name in self.leases}

    def make(self, _bundles: Any, *, name: str, **_: Any) -> None:
        if name in self.refused:
            raise RuntimeError("not this one")
        self.leases.add(name)

    def remove(self, name: str) -> None:
        self.leases.discard(name)


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> Head:
    made = Head()
    monkeypatch.setattr(machine_leases, "placement_group_table", made.table)
    monkeypatch.setattr(machine_leases, "placement_group", made.make)
    monkeypatch.setattr(machine_leases, "get_placement_group", lambda name: name)
    monkeypatch.setattr(machine_leases, "remove_placement_group", made.remove)
    return made


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(clock: Clock) -> MachineLeases:
    there = Members(nodes={}, why_not={})
    return MachineLeases(installation="ours", members=lambda: there, clock=clock)


def looked(leases: MachineLeases, head: Head, *wanted: str) -> None:
    """One look has ended that began with these wanted."""
    before = head.looks
    leases.keep(dict.fromkeys(wanted, WISH))
    until(lambda: head.looks > before and is_at_rest())


def is_at_rest() -> bool:
    return all(thread.name != "machines" for thread in threading.enumerate())


def test_what_an_old_link_asked_for_late_is_removed(
    head: Head, leases: MachineLeases, clock: Clock
) -> None:
    """It slept while its request ended, and asked when it woke up; nobody wants that machine."""
    looked(leases, head)
    head.leases.add("ours/asked/h100/7")
    leases.keep({})
    assert (head.looks, is_at_rest()) == (1, True)  # it costs nothing while nothing is wanted
    clock.now += 61.0
    looked(leases, head)
    until(lambda: not head.leases)


def test_one_that_ray_refuses_keeps_no_other_from_being_asked_for(
    head: Head, leases: MachineLeases
) -> None:
    head.refused = {f"ours/asked/h100/{number}" for number in range(1, 9)}
    looked(leases, head, *(f"h100/{number}" for number in range(10)))
    assert head.leases == {"ours/asked/h100/0", "ours/asked/h100/9"}
