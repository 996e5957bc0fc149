"""How far is a training, whatever batches it used? Counted at its base batch.

A step of a batch four times the base counts four steps of the base batch, so a schedule that is
stepped by this count reaches the same rate at the same sample whatever the platform does. The
last, smaller batch of an epoch counts a whole step, as in a script that runs alone. Under
AdaScale a step counts what it is worth: these are the paper's scale-invariant iterations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_ROUNDING: Final = 1e-6  # far above what adding up loses, far below any step


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Steps and epochs of the base batch that a training is worth so far."""

    steps: float = 0.0
    epochs: float = 0.0

    def after(
        self, batch: range, *, length: int | None, base: int, efficiency: float = 1.0
    ) -> Schedule:
        """`batch`: positions in an epoch, of which each sample counts `efficiency`.

        Of a stream whose `length` is not known steps are counted, and epochs not.
        """
        steps = base_steps(batch.stop, length, base) - base_steps(batch.start, length, base)
        epochs = len(batch) / length if length else 0.0
        return Schedule(
            steps=_snapped(self.steps + steps * efficiency),
            epochs=_snapped(self.epochs + epochs * efficiency),
        )

    def whole_steps_since(self, before: Schedule) -> int:
        return _whole(self.steps) - _whole(before.steps)

    def whole_epochs_since(self, before: Schedule) -> int:
        return _whole(self.epochs) - _whole(before.epochs)


def base_steps(position: int, length: int | None, base: int) -> int:
    """Steps of the base batch in the first `position` samples of an epoch."""
    is_at_the_end = length is not None and position >= length
    return -(-position // base) if is_at_the_end else position // base


def _snapped(amount: float) -> float:
    """Adding up thirds makes 0.9999999: a whole number again."""
    return float(round(amount)) if abs(amount - round(amount)) < _ROUNDING else amount


def _whole(amount: float) -> int:
    return math.floor(amount + _ROUNDING)
