"""How do the script's learning rate and its schedules follow the batch of each step?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from concertina_worker.batch.learning_rate import CustomScaling, LearningRateRule
from concertina_worker.batch.schedule import Schedule, base_steps
from concertina_worker.protocol import BatchRules
from concertina_worker.state.training_state import TrainingState


class Rates:
    """The rule of the job, applied to the state of its training."""

    def __init__(
        self, rules: BatchRules | None, custom: CustomScaling | None, state: TrainingState
    ) -> None:
        """`custom`: the script's own rule; `rules`: None where no platform chooses the batch."""
        self._of_job = LearningRateRule.of(rules, custom=custom) if rules else None
        self._state = state
        self._batch = 1

    def use_batch(self, size: int) -> None:
        """Use this batch in the step that begins now."""
        self._batch = size
        state = self._state
        state.ramp = self._rule.turned(
            state.ramp, size, step=state.step, noise_scale=state.noise.scale
        )

    # -- of a step -----------------------------------------------------------------------------

    def rate_of(self, optimizer: torch.optim.Optimizer) -> float:
        """The rate of the present step, of the first group of parameters."""
        return float(optimizer.param_groups[0]["lr"]) * self._multiplier_of(optimizer)

    @contextmanager
    def scaled(self, optimizer: torch.optim.Optimizer) -> Iterator[None]:
        """Give it the learning rate that belongs to the batch; the script's own comes back."""
        groups = optimizer.param_groups
        own_rates = [group["lr"] for group in groups]
        multiplier = self._multiplier_of(optimizer)
        for group, rate in zip(groups, own_rates, strict=True):
            group["lr"] = rate * multiplier
        try:
            yield
        finally:
            for group, rate in zip(groups, own_rates, strict=True):
                group["lr"] = rate

    def schedule_after(
        self, batch: range, *, length: int | None, drops_last: bool = False
    ) -> Schedule:
        """Return where schedules stand once this batch of an epoch of `length` samples is used."""
        return self._state.schedule.after(
            batch,
            length=length,
            base=self._rule.base,
            efficiency=self._efficiency,
            drops_last=drops_last,
        )

    # -- of a training -------------------------------------------------------------------------

    @property
    def epochs_counted(self) -> int:
        """The steps per epoch that the epoch which has just ended stands for, to a schedule."""
        state = self._state
        if not self._rule.follows_worth or not state.schedule.epochs:
            return 1
        return state.schedule.whole_epochs_since(state.schedule_at_epoch)

    def count_epoch(self, *, used: float) -> None:
        """One is over, of whose samples this part was used: see `Schedule.after_epoch`."""
        state = self._state
        state.schedule = state.schedule.after_epoch(state.schedule_at_epoch, used=used)

    def has_trained(self, epochs: int) -> bool:
        """True after so many epochs; under AdaScale after what they are worth at the base batch."""
        if self._rule.follows_worth and self._state.schedule.epochs:
            return self._state.schedule.epochs >= epochs
        return self._state.cursor.epoch >= epochs

    def falls_short(self, epochs: int) -> bool:
        """True under AdaScale if so many are used up, or nearly, and not worth that many."""
        is_used = self._state.cursor.epoch >= epochs - 1
        return self._rule.follows_worth and is_used and not self.has_trained(epochs)

    def base_batch(self, own: int) -> int:
        """Return the batch that steps are counted in; `own` where no platform chooses one."""
        return self._of_job.base if self._of_job else own

    def steps_in(self, length: int, *, drops_last: bool) -> int:
        """The steps of a schedule in an epoch of so many samples that is gone through whole."""
        return base_steps(length, None if drops_last else length, self._rule.base)

    def total_samples(self, epochs: int, length: int) -> int:
        """Return the samples of so many epochs; under AdaScale at the present batch and noise."""
        if not self._rule.follows_worth:
            return epochs * length
        left = max(epochs - self._state.schedule.epochs, 0.0) * length
        return round(self._state.samples + left / self._efficiency)

    # -- in detail -----------------------------------------------------------------------------

    @property
    def _rule(self) -> LearningRateRule:
        """The job's rule; where no platform chooses it, any batch is the base batch."""
        return self._of_job or LearningRateRule(base=self._batch)

    @property
    def _efficiency(self) -> float:
        return self._rule.efficiency(self._batch, self._state.noise.scale)

    def _multiplier_of(self, optimizer: torch.optim.Optimizer) -> float:
        state = self._state
        multiplier = self._rule.at(state.ramp, state.step, state.noise.scale)
        is_adaptive = not isinstance(optimizer, torch.optim.SGD)
        return self._rule.suited(multiplier, to_adaptive=is_adaptive)
