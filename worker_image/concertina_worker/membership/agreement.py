"""Do all members switch after this step? Every one reads the same answer from the gradient sum.

A member that has plan g ready offers d = g - (the running generation), else 0; the exchange adds
up d and d² over the k members. All have offered the same plan exactly when k·Σd² = (Σd)² (equality
in the Cauchy-Schwarz inequality) and Σd > 0. So no message is needed, and two members that know
different plans never switch. The numbers are small and exact in float32.

In the same way everybody learns that the joiners hold the whole state, and will compute from the
next step on: all members say that nothing of theirs is still on its way.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SwitchOffer:
    """`delta` generations ahead is a plan this worker could switch to now; 0: none."""

    delta: int = 0
    has_arrived: bool = True  # this worker neither sends nor misses state


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedSums:
    """The sums over all members."""

    deltas: float
    squares: float
    arrived: float

    def is_complete(self, members: int) -> bool:
        """Nobody misses any state."""
        return self.arrived == members

    def is_unanimous(self, members: int) -> bool:
        return self.deltas > 0 and members * self.squares == self.deltas**2
