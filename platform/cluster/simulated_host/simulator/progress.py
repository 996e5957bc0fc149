"""How far is a training, and what would it tell of itself? Losses fall with the samples seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from cluster.simulated_host.simulator.behaviour import Behaviour
from concertina_worker.protocol import MeasurementReport, MetricReport

_FIRST_LOSS: Final = 2.3
_LAST_LOSS: Final = 0.1
_EPOCHS_TO_HALVE: Final = 1.0


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """What all workers of a job have trained together."""

    behaviour: Behaviour
    samples: float = 0.0
    steps: float = 0.0
    kept_samples: float = 0.0  # in the newest checkpoint
    kept_steps: float = 0.0
    workers: int = 0  # of the running generation
    batch: int = 0
    generation: int = 0
    generation_steps: float = 0.0
    trained_seconds: float = field(default=0.0)  # since the newest checkpoint

    @property
    def step(self) -> int:
        return int(self.steps)

    @property
    def is_finished(self) -> bool:
        return self.samples >= self.behaviour.samples

    @property
    def step_seconds(self) -> float:
        return self.behaviour.step_seconds(workers=self.workers, batch=self.batch)

    def begin(self, generation: int, *, workers: int, batch: int) -> None:
        self.generation, self.workers, self.batch = generation, workers, batch
        self.generation_steps = 0.0

    def advance(self, seconds: float) -> None:
        steps = seconds / self.step_seconds
        self.steps += steps
        self.generation_steps += steps
        self.samples = min(self.samples + steps * self.batch, self.behaviour.samples)
        self.trained_seconds += seconds

    def keep(self) -> None:
        """Write a checkpoint."""
        self.kept_samples, self.kept_steps, self.trained_seconds = self.samples, self.steps, 0.0

    def fall_back(self) -> None:
        """Nobody is left who knows more than the newest checkpoint."""
        self.samples, self.steps = self.kept_samples, self.kept_steps

    def metric(self, now: float) -> MetricReport:
        share = -(-self.batch // self.workers)
        compute_seconds = share * self.behaviour.sample_seconds
        return MetricReport(
            at=now,
            generation=self.generation,
            step=self.step,
            epoch=self.samples / self.behaviour.epoch_samples,
            samples=int(self.samples),
            samples_per_second=self.batch / self.step_seconds,
            step_seconds=self.step_seconds,
            compute_seconds=compute_seconds,
            communication_seconds=self.step_seconds - compute_seconds,
            local_batch_size=share,
            learning_rate=0.1,
            values={"loss": self.loss},
        )

    @property
    def loss(self) -> float:
        """A curve that falls, with a little noise that is the same in every run."""
        epochs = self.samples / self.behaviour.epoch_samples
        smooth = _LAST_LOSS + (_FIRST_LOSS - _LAST_LOSS) / (1 + epochs / _EPOCHS_TO_HALVE)
        return smooth * (1 + 0.02 * math.sin(12.9898 * self.steps))

    def measurement(self) -> MeasurementReport | None:
        steps = int(self.generation_steps)
        if not steps:
            return None
        return MeasurementReport(
            workers=self.workers,
            global_batch_size=self.batch,
            steps=steps,
            step_seconds=self.step_seconds,
        )
