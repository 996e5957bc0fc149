"""Which part of a global batch does one worker compute, and in which pieces?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

REHEARSED_SAMPLES: Final = 2  # batch normalisation cannot do with one


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """One worker's place among those who share a batch."""

    parts: int
    index: int | None  # None: it computes nothing
    limit: int | None  # the most samples it can compute at once
    fewest: int = 1  # samples in a share, as far as the batch has them
    in_step: bool = False  # all make equally many micro-batches, some of them of others' samples

    def share(self, batch: range) -> BatchShare:
        """Return the share; where all cannot get `fewest`, the first in rank share the batch."""
        parts = max(1, min(self.parts, len(batch) // self.fewest))
        is_idle = self.index is None or self.index >= parts
        own = batch[:0] if is_idle else split(batch, parts=parts, index=self.index or 0)
        largest = split(batch, parts=parts, index=0)
        count = len(micro_batches(largest if self.in_step else own, limit=self.limit))
        return BatchShare(
            batch=batch,
            own=own,
            largest=len(largest),
            micro_batches=tuple(
                split(own, parts=max(count, 1), index=number) or batch[:REHEARSED_SAMPLES]
                for number in range(max(count, 1))
            ),
        )

    def up_to(self, samples: int) -> Division:
        """The division of batches of at most so many samples, without a limit out of reach."""
        most = max(self.share(range(samples)).largest, 2 * self.fewest - 1)
        return self if self.limit is None or most > self.limit else replace(self, limit=None)

    def most_micro_batches(self, batch: range) -> int:
        """The most micro-batches of this worker's share, if the batch may turn out to be shorter.

        A shorter batch, shared by fewer, can make a larger share: of up to twice `fewest` less one.
        """
        share = self.share(batch)
        most = max(share.largest if self.in_step else len(share.own), 2 * self.fewest - 1)
        return len(micro_batches(range(most), limit=self.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchShare:
    """One worker's part of a global batch, as positions in the epoch's order.

    A worker whose part is empty, because the batch is small or its state is still on the way,
    rehearses: it gets a few samples that others compute, and its gradient goes nowhere. So the
    script's code runs in every step on every worker.
    """

    batch: range
    own: range
    largest: int  # the most samples any worker has
    micro_batches: tuple[range, ...]  # never none

    def weight(self, number: int) -> float:
        """Part of the global mean that this micro-batch makes up."""
        positions = self.micro_batches[number]
        is_own = self.own.start <= positions.start and positions.stop <= self.own.stop
        return len(positions) / len(self.batch) if self.own and is_own else 0.0


def nobodys(position: int) -> BatchShare:
    """The share of a step that will not count: what was loaded, to keep up with the others."""
    some = range(position, position + 1)
    return BatchShare(batch=some[:0], own=some[:0], largest=0, micro_batches=(some,))


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
