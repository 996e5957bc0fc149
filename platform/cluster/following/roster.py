"""Which machines does the cluster have that nodes are made from? A worker host that has one tells.

Plain values, so that what follows from them can be decided without a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterMachine:
    """A machine of the cluster that is alive."""

    name: str
    address: str
    labels: Mapping[str, str]
    gpus: int
    cpus: int
    leaving_because: str = ""  # the cluster takes it back soon, for this reason; empty: it stays

    def bears(self, selector: Mapping[str, str]) -> bool:
        """True if it has all of these labels; nothing chooses all machines, so as not to err."""
        return bool(selector) and selector.items() <= self.labels.items()


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """All machines that the cluster says it has now."""

    machines: tuple[RosterMachine, ...]
    unusable: Mapping[str, str] = field(default_factory=dict)  # names of several, and what to do


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineWish:
    """One more machine that a pool asks for."""

    name: str  # of the request: the same for as long as it is open, and never given again
    selector: Mapping[str, str]  # labels that it bears
    gpus: int  # it has at least so many, or
    cpus: int = 0  # so many processors, where a slot is one


class RosterKeeper(Protocol):
    """Who can be asked which machines there are, and for more. Answers at once."""

    def roster(self) -> Roster:
        """Return the newest that is known.

        Raises:
            HostUnavailable: nobody knows; that is not the same as none.
        """

    def ask_for(self, *wishes: MachineWish) -> Mapping[str, str]:
        """Ask the cluster for exactly these; what was asked for besides is asked for no more.

        Returns the names of the machines that were brought so far, by the names of wishes. Asking
        for what was asked for before asks for no other machine, whoever asked.

        Raises:
            HostUnavailable: the cluster cannot be asked now.
        """
