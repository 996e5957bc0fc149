"""A cluster of which tests say what it has, and what it brings when it is asked for machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cluster.following.roster import MachineWish, Roster, RosterMachine
from cluster.worker_host import HostUnavailable

LABELS = {"concertina.io/pool": "default"}


@dataclass
class Keeper:
    """A cluster of which tests say what it has; None: nobody knows."""

    machines: list[RosterMachine] | None = field(default_factory=list)
    wishes: tuple[MachineWish, ...] = ()  # as it was asked last
    brings: str = ""  # a machine, for whatever is asked

    def has(self, *names: str, **given: Any) -> None:
        self.machines = [machine(name, **given) for name in names]

    @property
    def asked(self) -> list[str]:
        return [wish.name for wish in self.wishes]

    def roster(self) -> Roster:
        if self.machines is None:
            raise HostUnavailable("no answer")
        return Roster(machines=tuple(self.machines))

    def ask_for(self, *wishes: MachineWish) -> dict[str, str]:
        self.wishes = wishes
        return {wish.name: self.brings for wish in wishes if self.brings}


def machine(name: str, **given: Any) -> RosterMachine:
    known = {"address": "127.0.0.1", "labels": LABELS, "gpus": 4, "cpus": 8}
    return RosterMachine(**{"name": name, **known, **given})
