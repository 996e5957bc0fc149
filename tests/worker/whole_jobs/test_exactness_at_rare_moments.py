"""Elastic equals static at moments that chance seldom finds; see `test_exactness`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from concertina_worker.job import ElasticJob
from concertina_worker.state import portions
from concertina_worker.state.handover import Handover
from tests.worker.memory.job import MemoryJob
from tests.worker.running_job import wait_for
from tests.worker.whole_jobs.exact_training import (
    EPOCHS,
    SAMPLES,
    TOLERANCE,
    Recipe,
    Stream,
    Trainer,
    assert_every_sample_once,
    momentum,
    registered,
    shuffled_order,
    the_samples,
    trained_alone,
)


@pytest.fixture(autouse=True, scope="module")
def state_in_many_portions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "PORTION_BYTES", 1)
        yield


def test_a_stream_is_set_back_within_its_epoch_where_the_only_holder_of_state_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    recipe, dtype = Recipe(optimizers=momentum), torch.float64

    def script(job: ElasticJob, worker: str) -> torch.Tensor:
        trainer = registered(job, recipe, dtype)
        steps_beside_the_newcomer = 0
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(Stream(*the_samples(dtype))):
                used = job.progress * SAMPLES
                if worker == "w1" and 6 <= used < 9:
                    memory_job.want_stop()
                if worker == "w2" and 15 <= used < 18:
                    memory_job.want_ready(2, seen_by="w2")
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

    def script(job: ElasticJob, worker: str) -> torch.Tensor:
        trainer = registered(job, recipe, dtype)
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

    def script(job: ElasticJob, worker: str) -> torch.Tensor:
        trainer = registered(job, recipe, dtype)
        for epoch in job.epochs(4):
            for x, y in job.batches(TensorDataset(*the_samples(dtype))):
                trainer.backward(x, y)
                trainer.step()
                if job.world_size == 1 and epoch == 0:
                    memory_job.want_ready(2, seen_by=worker)
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

    def script(job: ElasticJob, worker: str) -> None:
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


def test_newcomers_that_lose_their_source_behind_the_very_last_step_get_the_state_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, dtype = Recipe(optimizers=momentum), torch.float64
    go_on = Handover.go_on

    def die_behind_the_last_step(handover: Handover) -> None:
        if handover._is_source and threading.current_thread().name == "w1":  # noqa: SLF001
            sent.append(len(handover._left))  # noqa: SLF001
            if memory_job.steps_of("w1")[-1].step == steps_in_all:
                memory_job.die("w1")
        go_on(handover)

    def script(job: ElasticJob, worker: str) -> torch.Tensor:
        trainer = registered(job, recipe, dtype)
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(TensorDataset(*the_samples(dtype))):
                if worker != "w3" and job._epochs.loop.state.step == steps_in_all - 3:  # noqa: SLF001
                    if worker == "w1":
                        memory_job.want(3)
                    wait_for(lambda: memory_job.can_switch(worker))
                trainer.backward(x, y)
                trainer.step()
            trainer.scheduler.step()
        return trainer.numbers()

    sent: list[int] = []
    steps_in_all = 2 * 8  # of 5 samples, at most
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    monkeypatch.setattr(Handover, "go_on", die_behind_the_last_step)
    memory_job = MemoryJob(tmp_path, script, batch_size=5)
    memory_job.run(2)
    assert sent[-1] > 0, "some of the state was missing"
    assert memory_job.happened["deaths"] == 1
    steps = memory_job.steps()
    assert_every_sample_once(steps)
    alone = trained_alone(recipe, dtype, steps, shuffled_order)
    assert set(memory_job.results) == {"w2", "w3"}
    for numbers in memory_job.results.values():
        assert (numbers - alone).abs().max() <= TOLERANCE[dtype]
