"""In which order does an epoch go through a data set? Every worker comes to the same answer.

The fingerprint of an order is a number that almost surely differs when the order does: workers
compare it, and so does a job that resumes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from concertina_worker.samples.randomness import seeded


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOrder:
    """Sample `indices[position]` of the data set stands at `position` of the epoch."""

    indices: torch.Tensor | range  # int64
    fingerprint: int

    @classmethod
    def of(cls, indices: torch.Tensor) -> SampleOrder:
        return cls(indices=indices, fingerprint=zlib.crc32(indices.numpy().data))

    @property
    def length(self) -> int:
        return len(self.indices)

    def at(self, positions: range) -> list[int]:
        found = self.indices[positions.start : positions.stop]
        return list(found) if isinstance(found, range) else found.tolist()


def shuffled(*, seed: int, epoch: int, length: int) -> SampleOrder:
    """Another permutation for each seed and epoch."""
    generator = torch.Generator().manual_seed((seed * 1_000_003 + epoch) % 2**63)
    return SampleOrder.of(torch.randperm(length, generator=generator))


def as_it_is(length: int) -> SampleOrder:
    return SampleOrder.of(torch.arange(length))


def counted(length: int) -> SampleOrder:
    """One after the other, without a number in memory for each."""
    return SampleOrder(indices=range(length), fingerprint=zlib.crc32(b"%d" % length))


def sampled(sampler: Iterable[int], *, seed: int, epoch: int) -> SampleOrder:
    """The order of a sampler whose randomness, if any, comes from the usual generators."""
    remember_epoch: Any = getattr(sampler, "set_epoch", None)
    if remember_epoch is not None:
        remember_epoch(epoch)
    generator = getattr(sampler, "generator", None)
    if isinstance(generator, torch.Generator):
        generator.manual_seed((seed * 1_000_003 + epoch) % 2**63)
    with seeded(seed, epoch):
        return SampleOrder.of(torch.tensor(list(sampler), dtype=torch.int64))
