"""Samples that are drawn at random are the same on every worker, and cost no memory ahead."""

from __future__ import annotations

import random

import pytest

from concertina_worker.samples.drawn import DrawnSamples
from concertina_worker.samples.loading.reading import MapReader, Request
from concertina_worker.samples.order import counted
from concertina_worker.samples.share import Division
from concertina_worker.samples.source import source_of


def test_the_order_of_billions_of_samples_takes_no_memory() -> None:
    order = source_of(DrawnSamples(random.random, 10**12)).order(seed=1, epoch=0)
    assert order.length == 10**12
    assert order.at(range(10**12 - 2, 10**12)) == [10**12 - 2, 10**12 - 1]


def test_trainings_of_different_lengths_have_different_orders() -> None:
    assert counted(100).fingerprint == counted(100).fingerprint != counted(101).fingerprint


@pytest.mark.parametrize("index", [-1, 3])
def test_there_are_no_more_samples_than_were_asked_for(index: int) -> None:
    with pytest.raises(IndexError):
        DrawnSamples(random.random, 3)[index]


def test_a_sample_is_the_same_whoever_loads_it_and_however_batches_are_cut() -> None:
    def read(*indices: int) -> list[float]:
        reader = MapReader(source_of(DrawnSamples(random.random, 100)), seed=3)
        batch = range(len(indices))
        division = Division(parts=1, index=0, limit=None)
        request = Request(epoch=0, division=division, batch=batch, number=0, indices=indices)
        samples, _ = reader.__getitems__(request)
        found: list[float] = samples.tolist()
        return found

    assert read(4, 5, 6, 7) == [*read(4, 5), *read(6), *read(7)]
    assert len(set(read(*range(50)))) == 50
