"""How far is a training, whatever batches it used? Counted at its base batch.

A step of a batch four times the base counts four steps of the base batch, so a schedule that is
stepped by this count reaches the same rate at the same sample whatever the platform does. The
last, smaller batch of an epoch counts a whole step, as in a script that runs alone; where it is
dropped, only whole steps of the base batch count. Under AdaScale a step counts what it is worth:
these are the paper's scale-invariant iterations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

_ROUNDING: Final = 1e-6  # far above what adding up loses, far below any step


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Steps and epochs of the base batch that a training is worth so far."""

    steps: float = 0.0
    epochs: float = 0.0

    def after(
        self,
        batch: range,
        *,
        length: int | None,
        base: int,
        efficiency: float = 1.0,
        drops_last: bool = False,
    ) -> Schedule:
        """`batch`: positions in an epoch, of which each sample counts `efficiency`.

        Of a stream whose `length` is not known steps are counted, and epochs not.
        """
        end = None if drops_last else length
        steps = base_steps(batch.stop, end, base) - base_steps(batch.start, end, base)
        epochs = len(batch) / length if length else 0.0
        return Schedule(
            steps=_snapped(self.steps + steps * efficiency),
            epochs=_snapped(self.epochs + epochs * efficiency),
        )

    def after_epoch(self, before: Schedule, *, used: float) -> Schedule:
        """The epoch that began at `before` is over: what it left out counts like what it used.

        `used`: the part of its samples that went into steps. One whose length nobody knew, or
        of which nothing was used, counts one, whatever it is worth.
        """
        worth = self.epochs - before.epochs
        counted = worth / used if worth and used else 1.0
        return replace(self, epochs=_snapped(before.epochs + counted))

    @property
    def whole_steps(self) -> int:
        return _whole(self.steps)

    def whole_steps_since(self, before: Schedule) -> int:
        return _whole(self.steps) - _whole(before.steps)

    def whole_epochs_since(self, before: Schedule) -> int:
        return _whole(self.epochs) - _whole(before.epochs)


def base_steps(position: int, length: int | None, base: int) -> int:
    """Steps of the base batch in the first `position` samples of an epoch of `length`, if known."""
    is_at_the_end = length is not None and position >= length
    return -(-position // base) if is_at_the_end else position // base


def _snapped(amount: float) -> float:
    """Adding up thirds makes 0.9999999: a whole number again."""
    return float(round(amount)) if abs(amount - round(amount)) < _ROUNDING else amount


def _whole(amount: float) -> int:
    return math.floor(amount + _ROUNDING)
