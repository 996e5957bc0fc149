"""How are the buckets of one step summed over all workers? While the backward pass fills others.

Every worker launches the same buckets in the same order, or sums would mix. The last one waits
for the end of the backward pass: its piggyback is written as late as possible.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from concertina_worker.device.kernels import await_kernels
from concertina_worker.samples.comparison import PendingCollective, StartSum
from concertina_worker.training.gradients.layout import GradientBucket


class Exchange:
    """One step's sum. A lost worker raises nothing here: see `has_failed`."""

    def __init__(self, buckets: Sequence[GradientBucket], start_sum: StartSum) -> None:
        self.has_failed = False
        self.waited_seconds = 0.0  # after this worker's own backward pass
        self._buckets = buckets
        self._missing = [len(bucket.slots) for bucket in buckets]
        self._launched = 0
        self._start_sum: StartSum | None = start_sum
        self._works: list[PendingCollective] = []

    def note_complete(self, bucket: int) -> None:
        """One more slot of this bucket has its last gradient."""
        self._missing[bucket] -= 1
        last = len(self._buckets) - 1
        while self._launched < last and not self._missing[self._launched]:
            self._launch_next()

    def finish(self) -> None:
        """Launch what is left, and wait; afterwards the buckets hold the sums."""
        while self._launched < len(self._buckets):
            self._launch_next()
        self._await_own_kernels()
        began = time.monotonic()
        try:
            for work in self._works:
                work.wait()
        except RuntimeError:  # holds on to nothing: the group must become unreferenced
            self.has_failed = True
        self.drop_references()
        self.waited_seconds = time.monotonic() - began

    def _await_own_kernels(self) -> None:
        """A GPU may still be at the backward pass: that is no waiting for the others."""
        for device in {bucket.exchanged.device for bucket in self._buckets}:
            await_kernels(device)

    def drop_references(self) -> None:
        """Forget the group: its sockets close when nobody refers to it."""
        self._works.clear()
        self._start_sum = None

    def _launch_next(self) -> None:
        bucket = self._buckets[self._launched]
        self._launched += 1
        bucket.clear_unfilled()
        if self.has_failed or self._start_sum is None:
            return
        try:
            work = self._start_sum(bucket.exchanged)
        except RuntimeError:
            self.has_failed = True
            return
        if work is not None:
            self._works.append(work)
