"""What may be given to `job.batches`, what is kept of it, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from concertina_worker.samples.source import DataError, source_of

NUMBERS = list(range(50))


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(NUMBERS)


def positions(data: Any, *, epoch: int = 0) -> list[int]:
    return source_of(data).order(seed=3, epoch=epoch).at(range(50))


def loader(**options: Any) -> DataLoader[Any]:
    return DataLoader(NUMBERS, batch_size=8, **options)  # type: ignore[arg-type]


def test_a_data_set_alone_is_shuffled_as_a_loader_that_shuffles() -> None:
    assert positions(NUMBERS) == positions(loader(shuffle=True))
    assert sorted(positions(NUMBERS)) == NUMBERS
    assert positions(NUMBERS) != NUMBERS


def test_a_loader_that_does_not_shuffle_keeps_the_order() -> None:
    assert positions(loader()) == NUMBERS
    assert positions(loader(), epoch=1) == NUMBERS


@pytest.mark.parametrize(
    "make",
    [
        lambda: WeightedRandomSampler([1.0, *([0.1] * 49)], 50),
        lambda: WeightedRandomSampler([1.0] * 50, 50, generator=torch.Generator()),
        lambda: SubsetRandomSampler(range(10, 30)),
        lambda: RandomSampler(NUMBERS, replacement=True, num_samples=50),
    ],
)
def test_a_random_sampler_gives_every_worker_the_same_order_and_each_epoch_another(
    make: Any,
) -> None:
    before = torch.get_rng_state()
    first = positions(loader(sampler=make()))
    torch.rand(1)  # another worker has drawn other numbers before
    assert positions(loader(sampler=make())) == first
    assert positions(loader(sampler=make()), epoch=1) != first
    torch.set_rng_state(before)
    positions(loader(sampler=make()))
    assert torch.equal(torch.get_rng_state(), before)  # the script's own numbers stay


def test_the_length_of_an_epoch_is_that_of_the_sampler() -> None:
    source = source_of(loader(sampler=SubsetRandomSampler(range(10, 30))))
    assert source.length == 20
    assert source.order(seed=0, epoch=0).length == 20


def test_what_a_loader_says_about_loading_is_kept() -> None:
    given = loader(
        num_workers=2, prefetch_factor=4, persistent_workers=True, timeout=7, drop_last=True,
        collate_fn=tuple, worker_init_fn=print, multiprocessing_context="spawn",
    )  # fmt: skip
    source = source_of(given)
    assert source.collate is tuple
    assert source.drops_last
    assert source.loading.init is print
    assert source.loading.batches_ahead == 8
    kept = source.loading.arguments
    assert kept["multiprocessing_context"].get_start_method() == "spawn"
    assert (kept["num_workers"], kept["timeout"], kept["persistent_workers"]) == (2, 7, True)


def test_a_stream_is_told_from_a_data_set() -> None:
    assert source_of(Stream()).is_stream
    assert source_of(DataLoader(Stream(), batch_size=4)).is_stream
    assert source_of({1, 2, 3}).is_stream
    assert not source_of(TensorDataset(torch.zeros(3))).is_stream
    assert source_of(Stream()).length is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (loader(sampler=DistributedSampler(NUMBERS, 2, 0)), "shuffle=True instead"),  # type: ignore[arg-type]
        (DataLoader(NUMBERS, batch_size=None), "the platform chooses the batches"),  # type: ignore[arg-type]
        (iter(NUMBERS), "a stream that can begin again"),
        (17, "not int"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_what_to_do(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        source_of(data)


def test_batches_of_the_script_are_refused() -> None:
    class Buckets(BatchSampler):
        """Batches of samples of like length."""

    own = Buckets(SequentialSampler(NUMBERS), 8, drop_last=False)
    with pytest.raises(DataError, match="without a batch_sampler"):
        source_of(DataLoader(NUMBERS, batch_sampler=own))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="belong to the DataLoader"):
        source_of(loader(), batch_size=16)
