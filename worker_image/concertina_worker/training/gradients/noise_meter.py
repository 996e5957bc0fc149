"""How noisy are the gradients of this training? Measured now and then, so that it costs little.

With several workers or micro-batches a step itself has the parts to compare. A lone worker with
one micro-batch compares successive steps, as Pollux does: biased, because the parameters have
moved between them, but without a second pass over the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch

from concertina_worker.batch.noise_scale import SquaredNorms
from concertina_worker.samples.share import BatchShare
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.gradients.layout import squared_norm
from concertina_worker.training.gradients.summing import Gradients

EVERY_STEPS: Final = 10  # measuring reads all gradients twice
FIRST_STEPS: Final = 20  # are all measured: schedules and the planner want to know soon
MOST_KEPT: Final = 2**20  # numbers of a gradient kept until the next step


@dataclass(frozen=True, slots=True)
class _KeptNumbers:
    """Evenly spaced numbers of the gradient of a whole step."""

    step: int
    samples: int
    numbers: torch.Tensor
    spacing: float  # so many numbers does each stand for


@dataclass(frozen=True, slots=True)
class _PendingMeasurement:
    """A measurement in a step that does not count yet."""

    norms: SquaredNorms
    samples: int


class NoiseMeter:
    """Adds measurements to the state of the training, the same on all workers."""

    def __init__(self, state: TrainingState, *, is_wanted: bool) -> None:
        self._state = state
        self._is_wanted = is_wanted
        self._kept: _KeptNumbers | None = None
        self._found: _PendingMeasurement | None = None

    def is_due(self, share: BatchShare, *, workers: int) -> bool:
        """True if the parts of the step that begins are to be measured."""
        has_parts = workers > 1 or len(share.micro_batches) > 1
        return has_parts and self._measures(self._state.step)

    def look(self, gradients: Gradients, samples: int) -> None:
        """Look at the gradients after the exchange of a step, before the script clips them."""
        norms = gradients.squared_norms
        if norms is not None:
            self._kept = None
            self._found = _PendingMeasurement(norms, samples)
        else:
            self._found = self._compared_with_step_before(samples) if gradients.is_alone else None

    def note(self) -> None:
        """The step counts, and so does what was found in it."""
        if self._found is not None:
            found, self._found = self._found, None
            self._state.noise = self._state.noise.with_step(found.norms, samples=found.samples)

    def _measures(self, step: int) -> bool:
        return self._is_wanted and (step < FIRST_STEPS or step % EVERY_STEPS == 0)

    def _compared_with_step_before(self, samples: int) -> _PendingMeasurement | None:
        state, before = self._state, self._kept
        self._kept = None
        is_second = before is not None and before.step == state.step - 1
        is_due = self._measures(state.step)
        if not is_second and not is_due:
            return None
        now = _kept(state.step, samples, [*state.model.parameters()])
        self._kept = now if is_due else None
        if before is None or not is_second or before.numbers.shape != now.numbers.shape:
            return None
        return _PendingMeasurement(_of_two_steps(before, now), before.samples + samples)


def _kept(step: int, samples: int, parameters: Sequence[torch.nn.Parameter]) -> _KeptNumbers:
    gradients = [p.grad.detach().flatten() for p in parameters if p.grad is not None]
    total = sum(gradient.numel() for gradient in gradients)
    stride = max(1, total // MOST_KEPT)
    parts = [gradient[::stride].to(torch.float32) for gradient in gradients]
    numbers = torch.cat(parts) if parts else torch.zeros(0)
    return _KeptNumbers(step, samples, numbers, total / max(numbers.numel(), 1))


def _of_two_steps(one: _KeptNumbers, other: _KeptNumbers) -> SquaredNorms:
    """Treat both steps as parts of one batch."""
    share = one.samples / (one.samples + other.samples)
    together = torch.lerp(other.numbers, one.numbers, share)
    squares = [squared_norm(numbers) for numbers in (one.numbers, other.numbers, together)]
    of_one, of_other, of_sum = (torch.stack(squares) * other.spacing).tolist()
    return SquaredNorms(of_parts=share * of_one + (1 - share) * of_other, parts=2, of_sum=of_sum)
