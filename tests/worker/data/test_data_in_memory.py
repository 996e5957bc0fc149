"""What whole jobs do with their data: shares that are too small, epochs, streams that differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from concertina_worker.job import ElasticJob
from concertina_worker.samples.comparison import DataMismatchError
from concertina_worker.training.script_checks.pitfalls import ScriptError
from tests.worker.memory.job import MemoryJob
from tests.worker.running_job import wait_for

SAMPLES = 37


class Stream(IterableDataset[torch.Tensor]):
    """The rows of a table."""

    def __init__(self, length: int = SAMPLES) -> None:
        self.length = length

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(torch.arange(3.0 * self.length).view(-1, 3))


class Telling(Stream):
    """A stream that can tell where it stands, and where it began."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0
        self.began_at: list[int] = []

    def __iter__(self) -> Iterator[torch.Tensor]:
        rows = [*super().__iter__()]
        self.began_at.append(self.read)
        while self.read < self.length:
            self.read += 1
            yield rows[self.read - 1]

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


class Training:
    """A small model that normalises its batches, registered with its job."""

    def __init__(self, job: ElasticJob) -> None:
        self.model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        job.register(self.model, self.optimizer)

    def step(self, rows: torch.Tensor) -> None:
        self.model(rows).square().mean().backward()
        self.optimizer.step()


def data_of(*, is_stream: bool, drop_last: bool = False) -> DataLoader[Any]:
    """Micro-batches of it are tensors of rows."""
    data: Any = Stream() if is_stream else [*Stream()]
    return DataLoader(data, batch_size=8, drop_last=drop_last)


@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize("is_stream", [False, True], ids=["map", "stream"])
def test_no_share_of_a_larger_batch_is_too_small_to_be_normalised(
    *, is_stream: bool, limit: int | None, tmp_path: Path
) -> None:
    sizes: set[int] = set()

    def script(job: ElasticJob, worker: str) -> None:
        training = Training(job)
        for _ in job.epochs(2):
            for rows in job.batches(data_of(is_stream=is_stream)):
                sizes.add(len(rows))
                training.step(rows)

    job = MemoryJob(tmp_path, script, batch_size=34, limit=limit)
    job.run(3)
    assert [len(step.batch) for step in job.steps()] == [34, 3, 34, 3]
    assert min(sizes) == 2
    assert 3 in sizes


def test_a_second_loop_over_epochs_is_refused(tmp_path: Path) -> None:
    def script(job: ElasticJob, worker: str) -> None:
        training = Training(job)
        for total in (1, 2):
            for _ in job.epochs(total):
                for rows in job.batches(data_of(is_stream=False)):
                    training.step(rows)

    with pytest.raises(ScriptError, match=r"job\.epochs was called a second time"):
        MemoryJob(tmp_path, script, batch_size=8).run(1)


def test_a_second_loop_over_the_batches_of_an_epoch_is_refused(tmp_path: Path) -> None:
    def script(job: ElasticJob, worker: str) -> None:
        training = Training(job)
        for _ in job.epochs(2):
            for _ in range(2):
                for rows in job.batches(data_of(is_stream=False)):
                    training.step(rows)

    with pytest.raises(ScriptError, match=r"job\.batches was called again in an epoch"):
        MemoryJob(tmp_path, script, batch_size=8).run(1)


def test_an_epoch_that_the_script_broke_off_can_go_on(tmp_path: Path) -> None:
    def script(job: ElasticJob, worker: str) -> None:
        training = Training(job)
        for _ in job.epochs(2):
            for most in (2, 99):
                for number, rows in enumerate(job.batches(data_of(is_stream=False)), 1):
                    training.step(rows)
                    if number == most:
                        break

    job = MemoryJob(tmp_path, script, batch_size=8)
    job.run(2)
    assert [step.batch.start for step in job.steps()] == 2 * [0, 8, 16, 24, 32]


@pytest.mark.parametrize("is_stream", [False, True], ids=["map", "stream"])
def test_samples_that_are_dropped_at_the_end_of_an_epoch_count_for_its_progress(
    *, is_stream: bool, tmp_path: Path
) -> None:
    passed: list[float] = []

    def script(job: ElasticJob, worker: str) -> None:
        training = Training(job)
        for _ in job.epochs(3):
            for rows in job.batches(data_of(is_stream=is_stream, drop_last=True)):
                training.step(rows)
            if job.is_main:
                passed.append(job.progress)

    job = MemoryJob(tmp_path, script, batch_size=10)
    job.run(2)
    assert passed == [1.0, 2.0, 3.0]
    assert job.total_samples == 3 * 30 == sum(len(step.batch) for step in job.steps())


def test_a_newcomer_goes_on_in_a_stream_where_a_survivor_of_two_losses_stands(
    tmp_path: Path,
) -> None:
    streams = {f"w{number}": Telling() for number in (1, 2, 3, 4)}
    changes = iter([lambda: job.die("w1"), lambda: job.die("w2"), lambda: job.want(2)])

    def script(own: ElasticJob, worker: str) -> None:
        training = Training(own)
        for _ in own.epochs(1):
            for rows in own.batches(DataLoader(streams[worker], batch_size=8)):
                # Who has not would begin where another one stands who has read ahead.
                have_all_begun = all(streams[one].read >= 5 for one in job.training)
                if worker == job.training[0] and have_all_begun:
                    next(changes, lambda: None)()
                if job.happened["deaths"] == 2 and worker == "w3":
                    wait_for(lambda: job.can_switch("w3") or own.world_size == 2)
                training.step(rows)

    job = MemoryJob(tmp_path, script, batch_size=5)
    job.run(3)
    assert streams["w3"].began_at == [0]
    assert streams["w4"].began_at[0] > 5


@pytest.mark.parametrize("stranger", ["w1", "w2"])
@pytest.mark.parametrize("drop_last", [False, True])
def test_a_stream_of_another_length_is_found_where_it_ends(
    *, drop_last: bool, stranger: str, tmp_path: Path
) -> None:
    faults: dict[str, str] = {}

    def script(own: ElasticJob, worker: str) -> None:
        training = Training(own)
        data = Stream(24 if worker == stranger else 42)
        for _ in own.epochs(1):
            try:
                for rows in own.batches(DataLoader(data, drop_last=drop_last)):
                    training.step(rows)
            except DataMismatchError as mismatch:
                faults[worker] = str(mismatch)
                job.die(worker)

    job = MemoryJob(tmp_path, script, batch_size=10)
    job.run(3)
    assert [step.batch for step in job.steps()][-1].stop == {
        ("w1", True): 20,  # the first in rank says what holds
        ("w1", False): 24,
        ("w2", True): 40,
        ("w2", False): 42,
    }[stranger, drop_last]
    others = {"w2", "w3"} if stranger == "w1" else {"w2"}
    assert faults.keys() == others
    assert all("24" in fault for fault in faults.values())
