"""An error of the script ends its worker, and is told: it never counts as the loss of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from concertina_worker.job import ElasticJob, Rescale
from concertina_worker.state import portions
from concertina_worker.state.description import OtherModelError
from concertina_worker.state.handover import Handover
from concertina_worker.training.script_checks.pitfalls import ScriptError
from tests.worker.memory.job import MemoryJob, Script

STEPS = 12  # of an epoch
MANY = 9  # times something fails again before a test calls that for ever


class TimesOverError(Exception):
    """It went on as if nothing had happened."""


def register(job: ElasticJob, width: int = 3) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(2, width), nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    job.register(model, optimizer)
    return model, optimizer


def data() -> TensorDataset:
    return TensorDataset(torch.ones(STEPS * 4, 2))


def steps(job: ElasticJob, model: nn.Module, optimizer: torch.optim.Optimizer) -> Iterator[int]:
    """One epoch; yields where each step has been made."""
    for number, (x,) in enumerate(job.batches(data())):
        model(x).mean().backward()
        optimizer.step()
        yield number


def a_job(folder: Path, script: Script) -> MemoryJob:
    return MemoryJob(folder, script, batch_size=4)


def test_all_workers_are_told_of_each_generation_as_it_begins(tmp_path: Path) -> None:
    told: dict[str, list[Rescale]] = {}

    def script(job: ElasticJob, worker: str) -> None:
        model, optimizer = register(job)
        job.on_rescale(told.setdefault(worker, []).append)
        for _ in job.epochs(2):
            for number in steps(job, model, optimizer):
                if worker == "w1" and number == 2 and job.world_size == 1:
                    memory_job.want_ready(2, seen_by="w1")

    memory_job = a_job(tmp_path, script)
    memory_job.run(1)
    two = [Rescale(rank=rank, world_size=2, global_batch_size=4) for rank in (0, 1)]
    assert told["w1"] == [Rescale(rank=0, world_size=1, global_batch_size=4), two[0]]
    assert told["w2"] == [two[1]]


@pytest.mark.parametrize("fails", ["at the beginning", "at a switch"])
def test_an_error_of_a_callback_ends_its_worker(tmp_path: Path, fails: str) -> None:
    calls: Counter[str] = Counter()

    def script(job: ElasticJob, worker: str) -> None:
        def on_rescale(now: Rescale) -> None:
            calls[worker] += 1
            if calls[worker] > MANY:
                raise TimesOverError
            if fails == "at the beginning" or now.world_size == 2:
                raise RuntimeError("of the callback")

        model, optimizer = register(job)
        job.on_rescale(on_rescale)
        for _ in job.epochs(1):
            for _ in steps(job, model, optimizer):
                if worker == "w1" and job.world_size == 1:
                    memory_job.want_ready(2, seen_by="w1")

    memory_job = a_job(tmp_path, script)
    with pytest.raises(RuntimeError, match="of the callback"):
        memory_job.run(1)


class Picky:
    """State that takes nobody else's."""

    def __init__(self) -> None:
        self.refused = 0

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, _: dict[str, Any]) -> None:
        self.refused += 1
        raise TimesOverError if self.refused > MANY else RuntimeError("it does not fit")


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_state_that_arrives_ends_its_worker(tmp_path: Path, workers: int) -> None:
    def script(job: ElasticJob, worker: str) -> None:
        model, optimizer = register(job)
        job.state("picky", Picky())
        for _ in job.epochs(1):
            for _ in steps(job, model, optimizer):
                if worker == "w1" and job.world_size == 1:
                    memory_job.want_ready(2, seen_by="w1")

    memory_job = a_job(tmp_path, script)
    with pytest.raises(RuntimeError, match="it does not fit"):
        memory_job.run(workers)


@pytest.mark.parametrize("who", ["w1", "w2"])
def test_an_error_while_state_is_on_its_way_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step

    def script(job: ElasticJob, worker: str) -> None:
        model, optimizer = register(job)
        steps_together = 0
        for _ in job.epochs(1):
            for number in steps(job, model, optimizer):
                steps_together += job.world_size > 1
                if worker == "w1" and number == 0:  # twice would be a second plan to join by
                    memory_job.want_ready(2, seen_by="w1")
                if worker == who and steps_together == 2:
                    raise ValueError("of the script")

    memory_job = a_job(tmp_path, script)
    with pytest.raises(ValueError, match="of the script"):
        memory_job.run(1)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_with_another_model_leaves_and_says_what_differs_and_the_other_trains_on(
    tmp_path: Path, workers: int
) -> None:
    def script(job: ElasticJob, worker: str) -> None:
        model, optimizer = register(job, width=5 if worker == "w2" else 3)
        if worker == "w2":
            with pytest.raises(OtherModelError, match=r"0\.weight is \(5, 2\) .* \(3, 2\)"):
                next(job.epochs(1))
            return
        for _ in job.epochs(1):
            for number in steps(job, model, optimizer):
                if number == 0 and workers == 1:
                    memory_job.want_ready(2, seen_by="w1")

    memory_job = a_job(tmp_path, script)
    memory_job.run(workers)
    assert memory_job.results.keys() == {"w1", "w2"}
    assert len(memory_job.committed["w1"]) == STEPS
    assert memory_job.happened["attempts"] == 1


def test_state_that_comes_too_late_or_twice_is_refused(tmp_path: Path) -> None:
    def script(job: ElasticJob, _: str) -> None:
        model, optimizer = register(job)
        job.state("mine", nn.Linear(1, 1))
        with pytest.raises(ScriptError, match="twice"):
            job.state("mine", nn.Linear(1, 1))
        for _ in job.epochs(1):
            for _ in steps(job, model, optimizer):
                with pytest.raises(ScriptError, match="before"):
                    job.state("another", nn.Linear(1, 1))

    a_job(tmp_path, script).run(1)
