"""What travels behind the last gradient? Small numbers that all workers want the sum of.

They cost no message of their own: the members' offers to switch, the squared norms from which
gradient noise is estimated, and one element per parameter, by which all workers leave a
parameter alone that nobody had a gradient for, and begin together with one that was frozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from concertina_worker.membership.agreement import AgreedSums, SwitchOffer

_BEFORE_COUNTS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Piggyback:
    """One worker's numbers, or everybody's sum of them."""

    workers: int = 1
    tally: AgreedSums = field(default_factory=lambda: tally_of(SwitchOffer()))
    squares_of_parts: float = 0.0
    parts: int = 0
    counts: tuple[int, ...] = ()
    """By parameter of the model: workers with a gradient, or wanting one if it is left out."""

    @staticmethod
    def length(parameters: int) -> int:
        return _BEFORE_COUNTS + parameters

    def to_numbers(self) -> list[float]:
        tally = (self.tally.deltas, self.tally.squares, self.tally.arrived)
        return [self.workers, *tally, self.squares_of_parts, self.parts, *self.counts]

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> Piggyback:
        """Read a sum; all numbers but the squared norms are small integers, exact in float32."""
        return cls(
            workers=round(numbers[0]),
            tally=AgreedSums(deltas=numbers[1], squares=numbers[2], arrived=numbers[3]),
            squares_of_parts=numbers[4],
            parts=round(numbers[5]),
            counts=tuple(map(round, numbers[_BEFORE_COUNTS:])),
        )


def tally_of(offer: SwitchOffer) -> AgreedSums:
    """One worker's part of the agreement."""
    return AgreedSums(deltas=offer.delta, squares=offer.delta**2, arrived=offer.has_arrived)
