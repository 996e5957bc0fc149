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


class RosterKeeper(Protocol):
    """Who can be asked which machines there are. Answers at once, with what it knows."""

    def roster(self) -> Roster:
        """Return the newest that is known.

        Raises:
            HostUnavailable: nobody knows; that is not the same as none.
        """
