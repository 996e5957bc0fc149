"""How samples are loaded: in other processes or here, at random or not, ahead and in order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    IterableDataset,
    TensorDataset,
    _utils,
    get_worker_info,
)

from concertina_worker.samples.loading.prefetch import Prefetch
from concertina_worker.samples.loading.requests import PlannedBatch
from concertina_worker.samples.share import Division
from concertina_worker.samples.source import source_of

SAMPLES = 23
BATCH = 6


class Dice:
    """Each sample throws dice of every kind, and says in which process."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        thrown = (torch.rand(()).item(), random.random(), np.random.random())  # noqa: NPY002, S311
        return index, *thrown, os.getpid()


class Lazy(IterableDataset[int]):
    """Counts how often it is begun, and can begin further on."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.begun: list[int] = []

    def __iter__(self) -> Iterator[int]:
        self.begun.append(self.start)
        return iter(range(self.start, SAMPLES))


class Skipping(Lazy):
    def skip(self, count: int) -> Skipping:
        further = Skipping(self.start + count)
        further.begun = self.begun
        return further


class Telling(Lazy):
    """A stream that can tell where it stands, with a random part."""

    read = 0

    def __iter__(self) -> Iterator[int]:
        self.begun.append(self.read)
        while self.read < SAMPLES:
            self.read += 1
            yield self.read - 1 + 100 * random.randrange(9)  # noqa: S311 - no secret

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


class Sharding(IterableDataset[int]):
    """A stream that would leave a part to each loading process."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter(range(info.id if info else 0, SAMPLES, info.num_workers if info else 1))


def prefetch_of(data: Any, *, parts: int = 1, index: int = 0, limit: int | None = 4) -> Prefetch:
    division = Division(parts=parts, index=index, limit=limit)
    return Prefetch(
        source_of(data),
        seed=5,
        planned_batch=lambda _: PlannedBatch(batch_size=BATCH, division=division),
    )


def read(prefetch: Prefetch, *, epoch: int = 0, position: int = 0, steps: int = 100) -> list[Any]:
    """The micro-batches of an epoch from a position on."""
    prefetch.begin_epoch(epoch)
    found: list[Any] = []
    for step in range(steps):
        if (
            prefetch.has_ended_at(position)
            or (share := prefetch.begin_step(step, position)) is None
        ):
            break
        loaded = [prefetch.load(number) for number in range(len(share.micro_batches))]
        found += loaded if share.own else []
        position = share.batch.stop
    prefetch.end_epoch()
    return found


def columns(batches: list[Any]) -> dict[int, tuple[float, ...]]:
    """What each sample threw."""
    rows = [row for batch in batches for row in zip(*batch, strict=True)]
    return {int(row[0]): tuple(float(value) for value in row[1:4]) for row in rows}


def test_what_a_sample_draws_depends_on_seed_epoch_and_index_only() -> None:
    dice: Any = Dice()
    alone = columns(read(prefetch_of(dice)))
    assert len(alone) == SAMPLES
    assert len(set(alone.values())) == SAMPLES
    halves = [read(prefetch_of(dice, parts=2, index=index, limit=None)) for index in range(2)]
    assert columns(halves[0] + halves[1]) == alone
    assert columns(read(prefetch_of(dice), epoch=1)) != alone
    elsewhere = read(prefetch_of(DataLoader(dice, batch_size=4, shuffle=True, num_workers=2)))
    assert columns(elsewhere) == alone
    processes = {int(pid) for batch in elsewhere for pid in batch[4]}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_loading_processes_have_seeds_of_their_own_by_epoch_and_rank() -> None:
    class Seeds(Dice):
        def __getitem__(self, index: int) -> tuple[Any, ...]:
            info = get_worker_info()
            return (info.seed if info else 0,)

    def seed_of(epoch: int, rank: int) -> int:
        prefetch = prefetch_of(DataLoader(Seeds(), batch_size=4, num_workers=1))  # type: ignore[arg-type]
        prefetch.begin_epoch(epoch, rank=rank)
        prefetch.begin_step(0, 0)
        return int(prefetch.load(0)[0][0])

    assert len({seed_of(0, 0), seed_of(1, 0), seed_of(0, 1)}) == 3
    assert seed_of(1, 1) == seed_of(1, 1)


def test_the_numbers_that_the_script_draws_are_not_touched_by_loading() -> None:
    torch.manual_seed(1)
    random.seed(1)
    before = torch.get_rng_state(), random.getstate()
    read(prefetch_of(Dice()))
    read(prefetch_of(DataLoader(Dice(), batch_size=4, num_workers=1)))  # type: ignore[arg-type]
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


def test_tensors_are_taken_out_as_wholes_and_collated_as_pytorch_does() -> None:
    x = torch.arange(SAMPLES * 2.0).view(SAMPLES, 2)
    (first, *_) = read(prefetch_of(TensorDataset(x, x[:, 0])))
    assert [tensor.shape for tensor in first] == [(3, 2), (3,)]
    assert torch.equal(first[0][:, 0], first[1])


def test_persistent_processes_go_on_from_epoch_to_epoch_and_others_end() -> None:
    dice: Any = Dice()

    def processes(*, persistent: bool) -> set[int]:
        loader = DataLoader(dice, batch_size=4, num_workers=1, persistent_workers=persistent)
        prefetch = prefetch_of(loader)
        epochs = [read(prefetch, epoch=epoch) for epoch in range(2)]
        return {int(batch[4][0]) for batches in epochs for batch in batches}

    assert len(processes(persistent=True)) == 1
    assert len(processes(persistent=False)) == 2


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_every_process_reads_the_whole_of_a_stream(processes: int) -> None:
    loader = DataLoader(Sharding(), batch_size=4, num_workers=processes)
    shares = [read(prefetch_of(loader, parts=2, index=index)) for index in range(2)]
    numbers = [number for share in shares for batch in share for number in batch.tolist()]
    assert sorted(numbers) == list(range(SAMPLES))


def test_a_stream_resumes_where_it_stood_and_reads_nothing_twice() -> None:
    for stream, begun in ((Lazy(), [0, 0]), (Skipping(), [0, 12])):
        whole = read(prefetch_of(stream))
        rest = read(prefetch_of(stream), position=12)
        assert torch.equal(torch.cat(rest), torch.cat(whole)[12:])
        assert stream.begun == begun


def test_a_stream_that_can_tell_where_it_stands_goes_on_from_there() -> None:
    whole = torch.cat(read(prefetch_of(Telling())))
    half = prefetch_of(Telling())
    first = torch.cat(read(half, steps=2))
    assert half.stream is not None
    place = half.stream.place(epoch=0, position=12)
    assert place is not None
    assert len(place.samples) == 1  # read to know whether the epoch ends
    stream = Telling()
    rest = prefetch_of(stream)
    assert rest.stream is not None
    rest.stream.resumes_at = place
    assert torch.equal(torch.cat([first, *read(rest, position=12)]), whole)
    assert stream.begun == [13]


def test_a_repeated_step_gets_the_same_samples_again() -> None:
    for data in (Lazy(), DataLoader(Dice(), batch_size=4, num_workers=1)):  # type: ignore[arg-type]
        prefetch = prefetch_of(data)
        prefetch.begin_epoch(0)
        first = prefetch.begin_step(0, 0)
        one = prefetch.load(0)
        assert prefetch.begin_step(0, 0) == first
        other = prefetch.load(0)
        assert str(one) == str(other) or torch.equal(one[0], other[0])
        prefetch.end_epoch()


def test_warm_processes_load_the_first_epoch_wherever_it_begins() -> None:
    dice: Any = Dice()
    loader = DataLoader(dice, batch_size=4, shuffle=True, num_workers=1)
    prefetch = prefetch_of(loader)
    before = {child.pid for child in multiprocessing.active_children()}
    prefetch.warm_up()
    assert prefetch.serves(source_of(loader))
    assert not prefetch.serves(source_of(DataLoader(dice, batch_size=4, num_workers=1)))
    (warm,) = (c for c in multiprocessing.active_children() if c.pid not in before)
    batches = read(prefetch, epoch=3, position=12)
    assert {int(pid) for batch in batches for pid in batch[4]} == {warm.pid}
    assert columns(batches) == columns(read(prefetch_of(dice), epoch=3, position=12))


def test_an_epoch_that_was_broken_off_goes_on_where_it_was() -> None:
    loader = DataLoader(Dice(), batch_size=4, num_workers=1)  # type: ignore[arg-type]
    prefetch = prefetch_of(loader)
    first = columns(read(prefetch, steps=1))
    rest = columns(read(prefetch, position=BATCH))
    assert {**first, **rest} == columns(read(prefetch))
    assert len(first) + len(rest) == SAMPLES


def test_an_error_in_a_data_set_reaches_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty(Dice):
        def __getitem__(self, index: int) -> tuple[Any, ...]:
            raise ValueError(f"sample {index} is broken")

    # The error holds the loader, and its process does not hear of its end from what is garbage.
    monkeypatch.setattr(_utils, "MP_STATUS_CHECK_INTERVAL", 0.1)
    for processes in (0, 1):
        prefetch = prefetch_of(DataLoader(Faulty(), batch_size=4, num_workers=processes))  # type: ignore[arg-type]
        prefetch.begin_epoch(0)
        with pytest.raises(ValueError, match="sample 0 is broken"):
            prefetch.begin_step(0, 0)
        prefetch.end_epoch()
    del prefetch
    gc.collect()


def test_what_the_script_does_at_the_start_of_a_loading_process_is_done() -> None:
    def start(number: int) -> None:
        info: Any = get_worker_info()
        info.dataset.offset = 100 + number

    class Shifted(Dice):
        offset = 0

        def __getitem__(self, index: int) -> tuple[Any, ...]:
            return (index + self.offset,)

    loader = DataLoader(Shifted(), batch_size=4, num_workers=1, worker_init_fn=start)  # type: ignore[arg-type]
    numbers = torch.cat([batch[0] for batch in read(prefetch_of(loader))])
    assert numbers.tolist() == list(range(100, 100 + SAMPLES))


def test_a_limit_that_no_share_comes_to_throws_nothing_away_that_was_loaded_ahead() -> None:
    limits: list[int | None] = [None]

    def planned_batch(_: int) -> PlannedBatch:
        division = Division(parts=2, index=0, limit=limits[-1])
        return PlannedBatch(batch_size=BATCH, division=division)

    def thrown_away_by(limit: int) -> int:
        dice: Any = Dice()
        loader = DataLoader(dice, batch_size=4, num_workers=1, prefetch_factor=2)
        prefetch = Prefetch(source_of(loader), seed=5, planned_batch=planned_batch)
        prefetch.begin_epoch(0)
        prefetch.begin_step(0, 0)
        limits.append(limit)
        prefetch.begin_step(1, BATCH)
        prefetch.end_epoch()
        limits.pop()
        return prefetch.thrown_away

    assert thrown_away_by(BATCH // 2) == 0
    assert thrown_away_by(1) > 0
