"""What is trained to compare elastic with static: a small model, its data, and a plain loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn
from torch.utils.data import IterableDataset

from concertina_worker.job import ElasticJob
from concertina_worker.samples.order import shuffled
from tests.worker.memory.audit import AuditedStep
from tests.worker.memory.job import SEED

SAMPLES: Final = 37
EPOCHS: Final = 2
OVERFLOWING: Final = 13  # the sample whose loss a scaler has to cope with
TOLERANCE: Final = {torch.float64: 1e-12, torch.float32: 1e-5}

Optimizers = Sequence[torch.optim.Optimizer]


def a_model(dtype: torch.dtype) -> nn.Sequential:
    """Batch normalisation by averages that stay: else each share would have its own."""
    normalising = nn.BatchNorm1d(8).eval()
    model = nn.Sequential(nn.Linear(4, 8), normalising, nn.Tanh(), nn.Linear(8, 1)).to(dtype)
    generator = torch.Generator().manual_seed(5)
    for tensor in (*model.parameters(), normalising.running_mean, normalising.running_var):
        assert tensor is not None
        tensor.data.copy_(torch.rand(tensor.shape, generator=generator) * 0.8 + 0.1)
    return model


def the_samples(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(SAMPLES, 4, generator=generator, dtype=dtype)
    return x, (x**2).sum(1, keepdim=True)


class Stream(IterableDataset[Any]):
    """The samples one after the other."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.pairs = list(zip(x, y, strict=True))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)


def momentum(model: nn.Sequential) -> Optimizers:
    return [torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)]


def adam(model: nn.Sequential) -> Optimizers:
    return [torch.optim.Adam(model.parameters(), lr=0.01)]


def two(model: nn.Sequential) -> Optimizers:
    return [
        torch.optim.SGD(model[0].parameters(), lr=0.05, momentum=0.9, nesterov=True),
        torch.optim.AdamW(model[1:].parameters(), lr=0.01),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a script trains."""

    optimizers: Callable[[nn.Sequential], Optimizers]
    clip: float = math.inf
    is_scaled: bool = False


class Trainer:
    """One script's objects; used by elastic workers and by the plain loop alike."""

    def __init__(self, recipe: Recipe, dtype: torch.dtype) -> None:
        self.recipe = recipe
        self.model = a_model(dtype)
        self.optimizers = recipe.optimizers(self.model)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizers[0], 0.9)
        enabled = recipe.is_scaled
        self.scaler = torch.amp.GradScaler("cpu", 2.0**10, growth_interval=3, enabled=enabled)
        self._overflowing = the_samples(dtype)[0][OVERFLOWING]

    def backward(self, x: torch.Tensor, y: torch.Tensor) -> None:
        loss = nn.functional.mse_loss(self.model(x), y)
        if self.recipe.is_scaled and bool((x == self._overflowing).all(1).any()):
            loss = loss * math.inf
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call] # torch

    def step(self) -> None:
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
        self.scaler.update()

    def numbers(self) -> torch.Tensor:
        """All that came out."""
        others = [self.scaler.get_scale(), *self.scheduler.get_last_lr()]
        weights = nn.utils.parameters_to_vector(self.model.parameters()).detach().double()
        return torch.cat([weights, torch.tensor(others, dtype=torch.float64)])


def registered(job: ElasticJob, recipe: Recipe, dtype: torch.dtype) -> Trainer:
    """A trainer whose state is the job's."""
    trainer = Trainer(recipe, dtype)
    job.register(trainer.model, trainer.optimizers, trainer.scheduler)
    job.state("scaler", trainer.scaler)
    return trainer


def trained_alone(
    recipe: Recipe, dtype: torch.dtype, steps: list[AuditedStep], order: Callable[[int], list[int]]
) -> torch.Tensor:
    """By a plain loop over the same batches, each computed at once."""
    trainer = Trainer(recipe, dtype)
    x, y = the_samples(dtype)
    for step in steps:
        indices = order(step.epoch)[step.batch.start : step.batch.stop]
        for optimizer in trainer.optimizers:
            optimizer.zero_grad()
        trainer.backward(x[indices], y[indices])
        trainer.step()
        if step.batch.stop == SAMPLES:
            trainer.scheduler.step()
    return trainer.numbers()


def shuffled_order(epoch: int) -> list[int]:
    return shuffled(seed=SEED, epoch=epoch, length=SAMPLES).at(range(SAMPLES))


def assert_every_sample_once(steps: list[AuditedStep]) -> None:
    assert [step.step for step in steps] == [*range(1, len(steps) + 1)]
    used = [(step.epoch, position) for step in steps for position in step.batch]
    assert used == [(epoch, position) for epoch in range(EPOCHS) for position in range(SAMPLES)]
