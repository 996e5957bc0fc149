"""Which samples does a worker compute next? The whole state of the data is one `Cursor`.

Every worker knows the same permutation of the same epoch, takes the same batch at the cursor and
computes its own part of an even split. So any number of workers can go on from any cursor, and
each sample is used exactly once per epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """`position` samples of the permutation of `epoch` are used."""

    epoch: int = 0
    position: int = 0

    def batch(self, size: int, length: int) -> range:
        """Positions of the next global batch; the last one of an epoch may be smaller."""
        return range(self.position, min(self.position + size, length))

    def after(self, batch: range) -> Cursor:
        return replace(self, position=batch.stop)

    def next_epoch(self) -> Cursor:
        return Cursor(epoch=self.epoch + 1)


def permutation(*, seed: int, epoch: int, length: int) -> torch.Tensor:
    """The order in which an epoch goes through a data set of this length."""
    generator = torch.Generator().manual_seed((seed * 1_000_003 + epoch) % 2**63)
    return torch.randperm(length, generator=generator)


def split(positions: range, *, parts: int, index: int) -> range:
    """Part `index` of an even split; sizes differ by at most one, the larger ones come first."""
    size, larger = divmod(len(positions), parts)
    start = positions.start + index * size + min(index, larger)
    return range(start, start + size + (index < larger))


def micro_batches(positions: range, *, limit: int | None) -> tuple[range, ...]:
    """The same positions in as few even pieces of at most `limit` as possible."""
    if not positions:
        return ()
    parts = 1 if limit is None else -(-len(positions) // limit)
    return tuple(split(positions, parts=parts, index=index) for index in range(parts))
