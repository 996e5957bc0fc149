"""Elastic equals static: the same training comes out, whoever computed which part of it.

Random schedules run through the runtime's own loop, in one process; the parameters they end with
are compared with those of a plain loop over the same batches. In float64 within 1e-12, in float32
within 1e-5. Real processes: see `test_data_jobs`.
"""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import IterableDataset, TensorDataset

from concertina_worker.data.order import shuffled
from concertina_worker.job import Job
from concertina_worker.state import portions
from concertina_worker.state.handover import Handover
from tests.worker.memory_job import FOREVER, SEED, AuditedStep, MemoryJob
from tests.worker.running_job import wait_for

SAMPLES: Final = 37
EPOCHS: Final = 2
OVERFLOWING: Final = 13  # the sample whose loss a scaler has to cope with
TOLERANCE: Final = {torch.float64: 1e-12, torch.float32: 1e-5}
MOMENTS: Final = ("forward", "backward", "step", "between epochs")

Optimizers = Sequence[torch.optim.Optimizer]


# -- what is trained -------------------------------------------------------------------------------


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


# -- what happens to it ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens once a job has used so many samples, over all its epochs."""

    at: int
    workers: int | None = None
    batch_size: int | None = None
    death: str = ""  # the moment
    victim: int = 0
    too_many: int | None = None  # samples at once, for the memory of some worker
    stops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    workers: int
    batch_size: int
    limit: int | None
    checkpoint_seconds: float
    changes: list[Change]


SIZES = st.integers(3, 20) | st.sampled_from([2, 37, 50])
CHANGES = st.builds(
    Change,
    at=st.integers(0, EPOCHS * SAMPLES - 1),
    workers=st.none() | st.integers(1, 5),
    batch_size=st.none() | SIZES,
    death=st.sampled_from(["", "", *MOMENTS]),
    victim=st.integers(0, 4),
    too_many=st.sampled_from([None, None, 4, 9]),
    stops=st.sampled_from([False, False, False, True]),
)
SCHEDULES = st.builds(
    Schedule,
    workers=st.integers(1, 5),
    batch_size=SIZES,
    limit=st.none() | st.integers(1, 12),
    checkpoint_seconds=st.sampled_from([0.0, FOREVER]),
    changes=st.lists(CHANGES, max_size=6),
)
RECIPES = st.sampled_from(
    [
        Recipe(optimizers=momentum),
        Recipe(optimizers=adam),
        Recipe(optimizers=momentum, clip=0.3, is_scaled=True),
        Recipe(optimizers=two, clip=0.5),
        Recipe(optimizers=two, is_scaled=True),
    ]
)


class Fate:
    """Lets the changes of a schedule happen, each once, when the first worker comes to it."""

    def __init__(self, job: MemoryJob, changes: Sequence[Change]) -> None:
        self._job = job
        self._to_come = sorted(changes, key=lambda change: change.at, reverse=True)
        self._doomed: dict[str, str] = {}
        self._lock = threading.Lock()

    def come_to(self, samples: float, worker: str, moment: str) -> None:
        """Does not return when it is this worker's fate to die here."""
        with self._lock:
            while self._to_come and self._to_come[-1].at <= samples:
                self._happen(self._to_come.pop())
        if self._doomed.get(worker) == moment:
            self._job.die(worker)

    def _happen(self, change: Change) -> None:
        job = self._job
        if change.death and job.training and not job.is_stopping:
            victims = job.training
            self._doomed[victims[change.victim % len(victims)]] = change.death
        if change.too_many:
            job.run_out_of_memory(change.too_many)
        if change.stops:
            job.want_stop()
        elif change.workers or change.batch_size:
            job.want(change.workers, change.batch_size)


def trained_elastically(
    folder: Path, recipe: Recipe, dtype: torch.dtype, schedule: Schedule, *, is_stream: bool
) -> MemoryJob:
    samples = the_samples(dtype)

    def script(job: Job, worker: str) -> torch.Tensor:
        def pass_by(moment: str) -> None:
            fate.come_to(job.progress * SAMPLES, worker, moment)

        data: Any = Stream(*samples) if is_stream else TensorDataset(*samples)
        trainer = Trainer(recipe, dtype)
        job.register(trainer.model, trainer.optimizers, trainer.scheduler)
        job.state("scaler", trainer.scaler)
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(data):
                pass_by("forward")
                trainer.backward(x, y)
                pass_by("backward")
                trainer.step()
                pass_by("step")
            pass_by("between epochs")
            trainer.scheduler.step()
        return trainer.numbers()

    job = MemoryJob(
        folder,
        script,
        batch_size=schedule.batch_size,
        limit=schedule.limit,
        checkpoint_seconds=schedule.checkpoint_seconds,
    )
    fate = Fate(job, schedule.changes)
    job.run(schedule.workers)
    return job


@pytest.fixture(autouse=True, scope="module")
def state_in_many_portions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "PORTION_BYTES", 1)
        yield


def assert_every_sample_once(steps: list[AuditedStep]) -> None:
    assert [step.step for step in steps] == [*range(1, len(steps) + 1)]
    used = [(step.epoch, position) for step in steps for position in step.batch]
    assert used == [(epoch, position) for epoch in range(EPOCHS) for position in range(SAMPLES)]


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")  # overflow at once
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@settings(max_examples=25, deadline=None)
@given(recipe=RECIPES, schedule=SCHEDULES, is_stream=st.booleans())
def test_any_schedule_trains_like_one_worker(
    recipe: Recipe,
    schedule: Schedule,
    is_stream: bool,  # noqa: FBT001 - hypothesis gives it by name
    dtype: torch.dtype,
) -> None:
    def order(epoch: int) -> list[int]:
        return [*range(SAMPLES)] if is_stream else shuffled_order(epoch)

    with tempfile.TemporaryDirectory() as folder:
        job = trained_elastically(Path(folder), recipe, dtype, schedule, is_stream=is_stream)
        steps = job.steps()
    assert_every_sample_once(steps)
    alone = trained_alone(recipe, dtype, steps, order)
    assert job.results  # of workers that end: one that missed the last sum makes that step alone
    for ours in job.results.values():
        assert (ours - alone).abs().max() <= TOLERANCE[dtype]


# -- moments that chance seldom finds --------------------------------------------------------------


def test_a_stream_is_set_back_within_its_epoch_where_the_only_holder_of_state_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    recipe, dtype = Recipe(optimizers=momentum), torch.float64

    def script(job: Job, worker: str) -> torch.Tensor:
        trainer = Trainer(recipe, dtype)
        job.register(trainer.model, trainer.optimizers, trainer.scheduler)
        job.state("scaler", trainer.scaler)
        steps_beside_the_newcomer = 0
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(Stream(*the_samples(dtype))):
                used = job.progress * SAMPLES
                if worker == "w1" and 6 <= used < 9:
                    memory_job.want_stop()
                if worker == "w2" and 15 <= used < 18:
                    memory_job.want(2)
                    wait_for(lambda: memory_job.can_switch("w2"))
                if worker == "w2" and job.world_size > 1:
                    steps_beside_the_newcomer += 1
                    if steps_beside_the_newcomer > 2:
                        memory_job.die(worker)
                trainer.backward(x, y)
                trainer.step()
            trainer.scheduler.step()
        return trainer.numbers()

    memory_job = MemoryJob(tmp_path, script, batch_size=3)
    memory_job.run(1)
    starts = [step.batch.start for step in memory_job.steps_of("w3") if step.epoch == 0]
    turns = [before for before, after in pairwise(starts) if after < before]
    assert len(turns) == 1, "it was set back once"
    assert_every_sample_once(memory_job.steps())
    alone = trained_alone(recipe, dtype, memory_job.steps(), lambda _: [*range(SAMPLES)])
    assert (memory_job.results["w3"] - alone).abs().max() <= TOLERANCE[dtype]


def test_what_was_reached_is_kept_when_the_main_worker_dies_in_the_last_step_before_a_pause(
    tmp_path: Path,
) -> None:
    recipe, dtype = Recipe(optimizers=momentum), torch.float64

    def stop_at_once() -> None:
        """The step under way is the last one of this attempt."""
        memory_job.want_stop()
        for worker in ("w1", "w2"):
            wait_for(lambda worker=worker: memory_job.can_switch(worker))

    def script(job: Job, worker: str) -> torch.Tensor:
        trainer = Trainer(recipe, dtype)
        job.register(trainer.model, trainer.optimizers, trainer.scheduler)
        job.state("scaler", trainer.scaler)
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(TensorDataset(*the_samples(dtype))):
                is_last = worker in ("w1", "w2") and job.progress * SAMPLES >= 9
                if is_last and worker == "w1":
                    stop_at_once()
                elif is_last:
                    wait_for(lambda: memory_job.can_switch("w2"))
                trainer.backward(x, y)
                trainer.step()
                if is_last and worker == "w1":
                    wait_for(lambda: not memory_job.training)  # the other one has left
                    memory_job.die("w1")
            trainer.scheduler.step()
        return trainer.numbers()

    memory_job = MemoryJob(tmp_path, script, batch_size=9)
    memory_job.run(2)
    assert memory_job.happened["attempts"] == 2
    assert len({step.step for step in memory_job.steps_of("w2")}) == 2
    assert memory_job.steps_of("w3")[0].step == 3, "nothing is made again"
    assert_every_sample_once(memory_job.steps())


def test_epochs_may_be_broken_off_while_state_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    recipe, dtype = Recipe(optimizers=momentum), torch.float64

    def script(job: Job, worker: str) -> torch.Tensor:
        trainer = Trainer(recipe, dtype)
        job.register(trainer.model, trainer.optimizers, trainer.scheduler)
        job.state("scaler", trainer.scaler)
        for epoch in job.epochs(4):
            for x, y in job.batches(TensorDataset(*the_samples(dtype))):
                trainer.backward(x, y)
                trainer.step()
                if job.world_size == 1 and epoch == 0:
                    memory_job.want(2)
                    wait_for(lambda: memory_job.can_switch(worker))
                if job._epochs.loop.state.step % 3 == 2:  # noqa: SLF001 - the same on all
                    break
        return trainer.numbers()

    memory_job = MemoryJob(tmp_path, script, batch_size=4)
    memory_job.run(1)
    steps = memory_job.steps()
    assert [step.epoch for step in steps] == [epoch for epoch in range(4) for _ in range(3)]
    assert len(memory_job.committed["w2"]) > 4  # so many portions there are
    alone = trained_alone(recipe, dtype, steps, shuffled_order)
    for worker in ("w1", "w2"):
        assert (memory_job.results[worker] - alone).abs().max() <= TOLERANCE[dtype]


def test_between_epochs_all_workers_have_the_running_averages_of_the_main_one(
    tmp_path: Path,
) -> None:
    seen: dict[str, list[tuple[torch.Tensor, ...]]] = {}
    own: list[tuple[torch.Tensor, ...]] = []  # of the main worker, behind the last step

    def averages(model: nn.Sequential) -> tuple[torch.Tensor, ...]:
        return tuple(buffer.clone() for buffer in model.buffers())

    def script(job: Job, worker: str) -> None:
        trainer = Trainer(Recipe(optimizers=momentum), torch.float64)
        trainer.model.train()
        job.register(trainer.model, trainer.optimizers, trainer.scheduler)
        for _ in job.epochs(EPOCHS):
            last = averages(trainer.model)
            for x, y in job.batches(TensorDataset(*the_samples(torch.float64))):
                trainer.backward(x, y)
                trainer.step()
                last = averages(trainer.model)
            seen.setdefault(worker, []).append(averages(trainer.model))
            if job.is_main:
                own.append(last)

    MemoryJob(tmp_path, script, batch_size=31).run(3)  # then 6: batches of two and more
    assert len(seen) == 3
    for of_one in seen.values():
        torch.testing.assert_close(of_one, own, rtol=0.0, atol=0.0)
