"""What follows the batch in the steps of a real training loop: rates, schedules, noise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import IterableDataset, TensorDataset

from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.protocol import BatchRules
from concertina_worker.samples.source import source_of
from concertina_worker.samples.step_plan import StepPlan
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.loop import TrainingLoop
from concertina_worker.training.script_objects.take_over import (
    take_over_optimizer,
    take_over_scheduler,
)

SAMPLES, BASE, EPOCHS = 1000, 32, 3
SIGNAL, NOISE = 2.0, 30.0  # |G|² and tr(Sigma): a noise scale of 15 samples


def samples(epoch: int) -> TensorDataset:
    generator = torch.Generator().manual_seed(epoch)
    noise = torch.randn(SAMPLES, 40, generator=generator) * math.sqrt(NOISE / 40)
    return TensorDataset(noise + math.sqrt(SIGNAL / 40))


class Stream(IterableDataset[Any]):
    """The same samples; nobody knows how many before they end."""

    def __init__(self, epoch: int) -> None:
        self._samples = samples(epoch)

    def __iter__(self) -> Iterator[Any]:
        return (self._samples[index] for index in range(SAMPLES))


class Training:
    """One worker whose gradients are its samples: their mean is the signal, the rest noise."""

    def __init__(self, *, batch: int, **rules: Any) -> None:
        self.batch = batch
        self.rules: BatchRules = {
            "base": BASE, "lr_scaling": "none", "lr_warmup_steps": 0, "max_per_gpu": None, **rules,
        }  # type: ignore[typeddict-item] # fmt: skip
        self.model = torch.nn.Linear(40, 1, bias=False)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.extras: dict[str, Any] = {}
        self.alone = Alone()
        state = TrainingState(self.model, [self.optimizer], self.extras)
        self.loop = TrainingLoop(self._environment(), self.alone, state, lambda *_: None)

    def steps(self, data: Callable[[int], Any] = samples) -> Iterator[torch.Tensor]:
        """As `job.epochs` and `job.batches` go through the data."""
        loop, state = self.loop, self.loop.state
        take_over_optimizer(self.optimizer, loop)
        self.alone.step_plan = StepPlan.steady(self.batch, self.alone.worker)
        loop.use_batch(self.batch)
        while not loop.rates.has_trained(EPOCHS):
            loop.begin_epoch(source_of(data(state.cursor.epoch)))
            while (share := loop.begin_step()) is not None:
                for number in range(len(share.micro_batches)):
                    (x,) = loop.load(share, number)
                    self.model(x).mean().backward()
                    yield x
                loop.close_step()
            loop.count_epoch()
            loop.end_epoch()
            state.cursor = state.cursor.next_epoch()

    def _environment(self) -> WorkerEnvironment:
        return WorkerEnvironment.read({"CONCERTINA_BATCH": json.dumps(self.rules)})


def rates_by_samples(batch: int) -> dict[int, float]:
    """The script's rate after each step, under a schedule that is stepped per batch."""
    training = Training(batch=batch)
    total = EPOCHS * math.ceil(SAMPLES / BASE)
    schedule = OneCycleLR(training.optimizer, max_lr=0.1, total_steps=total + 1)
    take_over_scheduler(schedule, training.loop)
    told = {}
    for _ in training.steps():
        training.optimizer.step()
        schedule.step()
        used = training.loop.state.samples + training.batch
        told[used] = training.optimizer.param_groups[0]["lr"]
    assert schedule.last_epoch == total
    return told


@pytest.mark.parametrize("batch", [128, 8])
def test_a_schedule_reaches_the_same_rate_at_the_same_sample(batch: int) -> None:
    at_base, told = rates_by_samples(BASE), rates_by_samples(batch)
    common = at_base.keys() & told.keys()
    assert len(common) >= 7
    assert {used: told[used] for used in common} == pytest.approx({u: at_base[u] for u in common})


@pytest.mark.parametrize("limit", [None, 16], ids=["successive steps", "micro-batches"])
def test_a_lone_worker_measures_the_noise_of_its_gradients(limit: int | None) -> None:
    training = Training(batch=64, max_per_gpu=limit)
    for _ in training.steps():
        training.optimizer.step()
    average = training.loop.state.noise
    assert average.measurements >= 15
    assert average.scale == pytest.approx(NOISE / SIGNAL, rel=0.35)


def test_under_adascale_a_training_lasts_until_its_worth_is_done() -> None:
    training = Training(batch=256, lr_scaling="adascale", max_per_gpu=64)
    for _ in training.steps():
        training.optimizer.step()
    state = training.loop.state
    assert EPOCHS <= state.schedule.epochs < EPOCHS + 1
    efficiency = (15 + BASE) / (15 + 256)
    assert state.samples / SAMPLES == pytest.approx(EPOCHS / efficiency, rel=0.3)
    assert training.loop.rates.total_samples(EPOCHS, SAMPLES) == pytest.approx(state.samples)


def test_a_stream_of_unknown_length_is_trained_in_its_own_epochs() -> None:
    training = Training(batch=256, lr_scaling="adascale", max_per_gpu=64)
    told = []
    for _ in training.steps(Stream):
        training.optimizer.step()
        told.append(training.loop.state.schedule.epochs)
    assert training.loop.state.samples == EPOCHS * SAMPLES
    assert sorted({*told}) == [*range(EPOCHS)]
    assert training.loop.state.schedule.epochs == EPOCHS
    assert training.loop.epoch_data.found_length == SAMPLES


def test_epochs_of_large_batches_are_not_worth_as_many_of_the_base_batch() -> None:
    training = Training(batch=256, lr_scaling="adascale", max_per_gpu=64)
    short = []
    for _ in training.steps():
        training.optimizer.step()
        short.append(training.loop.rates.falls_short(EPOCHS))
    assert not short[0]
    assert short[len(short) // 2]
    assert not training.loop.rates.falls_short(EPOCHS)


def test_the_rate_of_a_step_belongs_to_its_batch_and_the_scripts_own_stays() -> None:
    training = Training(batch=64, lr_scaling="linear")
    before = training.model.weight.detach().clone()
    steps = training.steps()
    x = next(steps)
    training.optimizer.step()
    moved = before - training.model.weight
    torch.testing.assert_close(moved, 2e-3 * x.mean(0, keepdim=True))
    assert training.optimizer.param_groups[0]["lr"] == 1e-3
    steps.close()
