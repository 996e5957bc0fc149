"""Which micro-batches will be needed next? All that is known ahead, in order.

This is the batch sampler of the DataLoader that loads: it is asked for one more request whenever
an answer was taken, and for as many as can wait at the beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from concertina_worker.samples.loading.reading import Request
from concertina_worker.samples.order import SampleOrder
from concertina_worker.samples.share import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """The batch of a step that is still to come, as far as it is known."""

    batch_size: int
    division: Division


BatchPlan = Callable[[int], PlannedBatch]
"""Tells the batch of the step before which so many were made."""


class Requests:
    """The requests of an epoch, one per micro-batch of each step."""

    def __init__(self, planned_batch: BatchPlan, *, drops_last: bool) -> None:
        self.unanswered: deque[Request] = deque()
        self._planned_batch = planned_batch
        self._drops_last = drops_last
        self._order: SampleOrder | None = None  # of a stream: none
        self._epoch = self._step = self._position = self._oldest = 0
        self._of_this_step: deque[Request] = deque()
        self._idle_request: Request | None = None
        self._is_over = False

    def begin_epoch(self, epoch: int, order: SampleOrder | None) -> None:
        self._epoch = epoch
        self._order = order
        self._of_this_step.clear()

    def idle(self, samples: int) -> None:
        """Ask for the same few samples again and again, until it is known what is needed."""
        self._idle_request = self._anything(samples)

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        request = self._idle_request or self._next_of_step()
        self.unanswered.append(request)
        return request

    def first(self, step: int, position: int) -> Request | None:
        """The first request of the step that begins now; None where the epoch ends.

        When it has not been asked for, whatever has is not needed any more.
        """
        self._idle_request = None
        self._oldest = position
        wanted = self._first_of(step, position)
        if wanted is not None and wanted not in self.unanswered:
            self._step, self._position = step, position
            self._of_this_step.clear()
            self._is_over = False
        return wanted

    def anything(self, samples: int) -> Request:
        """About this many samples, and then nothing more."""
        wanted = self._anything(samples)
        self._idle_request = None
        self._of_this_step = deque([wanted])
        self._is_over = True
        return wanted

    def _anything(self, samples: int) -> Request:
        length = self._order.length if self._order else samples
        batch = range(max(0, length - samples), length)
        self._oldest = 0
        return self._request(Division(parts=1, index=0, limit=None), batch, 0)

    def _next_of_step(self) -> Request:
        if not self._of_this_step:
            self._look_at_next_step()
        return self._of_this_step.popleft()

    def _look_at_next_step(self) -> None:
        first = None if self._is_over else self._first_of(self._step, self._position)
        if first is None:
            raise StopIteration
        division, batch = first.division, first.batch
        is_stream = self._order is None  # whose last batch nobody knows yet
        own = len(division.share(batch).micro_batches)
        count = division.most_micro_batches(batch) if is_stream else own
        rest = (self._request(division, batch, number) for number in range(1, count))
        self._of_this_step.extend((first, *rest))
        self._step += 1
        self._position = batch.stop

    def _first_of(self, step: int, position: int) -> Request | None:
        planned = self._planned_batch(step)
        stop = position + planned.batch_size
        if self._order is not None:
            is_short = stop > self._order.length
            if position >= self._order.length or (is_short and self._drops_last):
                return None
            stop = min(stop, self._order.length)
        return self._request(planned.division.up_to(planned.batch_size), range(position, stop), 0)

    def _request(self, division: Division, batch: range, number: int) -> Request:
        indices: tuple[int, ...] = ()
        if self._order is not None:
            indices = tuple(self._order.at(division.share(batch).micro_batches[number]))
        return Request(
            epoch=self._epoch,
            division=division,
            batch=batch,
            number=number,
            indices=indices,
            oldest=self._oldest,
        )
