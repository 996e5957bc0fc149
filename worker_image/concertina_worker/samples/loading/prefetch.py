"""From where does each step get its micro-batches? They are loaded ahead, as far as is known.

PyTorch's DataLoader loads; its batch sampler is ours and asks for what the step plan says will be
needed. Each answer is kept with its request, so that one which is not needed any more, because a
worker was lost, is recognised and thrown away: a step plan makes loading fast, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.utils.data import DataLoader

from concertina_worker.samples.loading.loader_process import LoaderProcessStart
from concertina_worker.samples.loading.reading import (
    Answer,
    Reader,
    Request,
    StreamExtent,
    StreamReader,
    reader_of,
)
from concertina_worker.samples.loading.requests import BatchPlan, Requests
from concertina_worker.samples.order import SampleOrder
from concertina_worker.samples.share import REHEARSED_SAMPLES, BatchShare
from concertina_worker.samples.source import DataError, SampleSource

LoaderOf = Callable[[Reader, SampleSource, Requests, torch.Generator], Iterable[Any]]


class Prefetch:
    """The samples of a source, epoch after epoch, for one worker."""

    def __init__(
        self,
        source: SampleSource,
        *,
        seed: int,
        planned_batch: BatchPlan,
        loader_of: LoaderOf | None = None,
    ) -> None:
        """`loader_of`: what answers the requests; by default PyTorch's DataLoader."""
        self.source = source
        self.length: int | None = None  # samples of this epoch; of a stream: once it has ended
        self.fingerprint: int | None = None
        self.thrown_away = 0  # micro-batches loaded for nothing
        self._seed = seed
        self._requests = Requests(planned_batch, drops_last=source.drops_last)
        self._reader = reader_of(source, seed=seed)
        self._generator = torch.Generator()
        loader_of = loader_of or _data_loader
        self._loader = loader_of(self._reader, source, self._requests, self._generator)
        self._answers: Iterator[Any] | None = None
        self._first: Answer = (None, None)
        self._request: Request | None = None

    @property
    def stream(self) -> StreamReader | None:
        return self._reader if isinstance(self._reader, StreamReader) else None

    @property
    def steps_ahead(self) -> int:
        """The number of steps for which micro-batches may be loaded before they are needed."""
        return self.source.loading.batches_ahead

    def warm_up(self) -> None:
        """Start the loading processes before it is known what to load."""
        if self.source.loading.processes:
            self.begin_epoch(0)
            self._requests.idle(REHEARSED_SAMPLES)
            self._start()

    def serves(self, source: SampleSource) -> bool:
        """True if the processes of this one, warm or persistent, can load these samples too."""
        own = self.source
        is_same = (source.loading, source.drops_last) == (own.loading, own.drops_last) and all(
            one is other
            for one, other in (
                (source.dataset, own.dataset),
                (source.collate, own.collate),
                (source.sampler, own.sampler),
            )
        )
        is_persistent = bool(own.loading.arguments.get("persistent_workers"))
        return is_same and (is_persistent or self._answers is not None)

    def has_ended_at(self, position: int) -> bool:
        return self.length is not None and position >= self.length

    def part_of_epoch(self, position: int) -> float:
        """0 in a stream of which nobody knows the length."""
        length = self.length or self.source.length
        return position / length if length else 0.0

    def begin_epoch(self, epoch: int, *, rank: int = 0) -> None:
        """The seeds of loading processes differ by rank, those of samples do not: see `randomness`.

        Raises:
            DataError: the data set is empty.
        """
        order = None if self.source.is_stream else self._order(epoch)
        self.length = order.length if order else None
        self.fingerprint = order.fingerprint if order else None
        self._requests.begin_epoch(epoch, order)
        self._generator.manual_seed(hash((self._seed, epoch, rank)) % 2**63)

    def begin_step(self, step: int, position: int) -> BatchShare | None:
        """This worker's share of the batch at this position; None at the end of the epoch.

        Blocks until the first micro-batch is loaded.

        Raises:
            DataError: a stream has no sample at all.
        """
        wanted = self._requests.first(step, position)
        self._request = wanted
        if wanted is None:
            return None
        self._first = self._receive(wanted)
        extent = self._first[1]
        if extent is None:
            return wanted.division.share(wanted.batch)
        return self._share_of_stream(wanted, extent)

    @property
    def has_loaded(self) -> bool:
        """Something for the first micro-batch, be it dropped."""
        return self._request is not None and self._first[0] is not None

    def load(self, number: int) -> Any:
        """A micro-batch of the step, in order; blocks until it is loaded."""
        if number == 0 or self._request is None:
            return self._first[0]
        return self._receive(replace(self._request, number=number))[0]

    def rehearsal(self) -> Any:
        """Some micro-batch, for a worker that got none in the whole epoch."""
        return self._receive(self._requests.anything(REHEARSED_SAMPLES))[0]

    def end_epoch(self) -> None:
        """Ends the loading processes, unless they are persistent."""
        self._answers = None
        self._requests.unanswered.clear()

    def _order(self, epoch: int) -> SampleOrder:
        return self.source.order(seed=self._seed, epoch=epoch)

    def _share_of_stream(self, wanted: Request, extent: StreamExtent) -> BatchShare | None:
        if not extent.batch.stop:
            raise DataError("the stream is empty on this worker")
        if extent.is_last:
            self.length = extent.batch.stop
        is_short = len(extent.batch) < len(wanted.batch)
        if is_short and (self.source.drops_last or not extent.batch):
            return None
        return wanted.division.share(extent.batch)

    def _receive(self, wanted: Request) -> Answer:
        """Skips answers that nobody needs any more."""
        while True:
            answer = self._next_answer()
            if self._requests.unanswered.popleft() == wanted:
                return answer
            self.thrown_away += 1

    def _next_answer(self) -> Answer:
        answers = self._start() if self._answers is None else self._answers
        try:
            answer: Answer = next(answers)
        except StopIteration:  # all was asked for and answered; then a failure came
            answer = next(self._start())
        return answer

    def _start(self) -> Iterator[Any]:
        """Start loading; from here on answers come in the order of the requests."""
        self._requests.unanswered.clear()
        self._answers = iter(self._loader)
        return self._answers


def _data_loader(
    reader: Reader, source: SampleSource, requests: Requests, generator: torch.Generator
) -> DataLoader[Any]:
    loading = source.loading
    init = LoaderProcessStart(loading.init, reads_stream=source.is_stream)
    dataset: Any = reader  # both are asked for whole micro-batches: PyTorch passes on what it gets
    sampler: Any = requests
    return DataLoader(
        dataset,
        batch_sampler=sampler,
        collate_fn=_as_it_is,
        worker_init_fn=init if loading.processes else None,
        generator=generator,
        **loading.arguments,
    )


def _as_it_is(answer: Any) -> Any:
    return answer
