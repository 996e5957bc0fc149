"""How do positions of an epoch become one micro-batch? In the process that loads, by a reader.

A reader is what PyTorch's DataLoader sees as the data set: it is asked for a whole micro-batch by
a `Request`, and answers with the collated batch and, of a stream, with where the data ended.
"""

from __future__ import annotations

import contextlib
import copy
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from torch.utils.data import Subset, TensorDataset, default_collate

from concertina_worker.samples.randomness import get_state, kept, seed, seeded, set_state
from concertina_worker.samples.share import Division
from concertina_worker.samples.source import SampleSource
from concertina_worker.samples.stream_place import Bookmark

_WITHOUT_CHANCE: Final = (TensorDataset, list, tuple, range)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One micro-batch that will be needed; equal requests have equal answers."""

    epoch: int
    division: Division
    batch: range  # of a stream: if it goes on that far
    number: int  # of the micro-batch in the share
    indices: tuple[int, ...] = field(default=(), compare=False)  # of its samples; not of a stream
    oldest: int = field(default=0, compare=False)  # nothing before it will be asked for again


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamExtent:
    """What a reader of a stream found where a batch was to be."""

    batch: range  # shorter than asked for at the end
    is_last: bool  # nothing follows


Answer = tuple[Any, StreamExtent | None]
"""A micro-batch and, of a stream, where it ends; None for one that lies behind the end."""


class MapReader:
    """Reads samples by their number."""

    def __init__(self, source: SampleSource, *, seed: int) -> None:
        self.dataset = source.dataset
        self._collate = source.collate
        self._seed = seed
        self._epoch = -1

    def __getitems__(self, request: Request) -> Answer:
        if request.epoch != self._epoch:
            self._epoch = request.epoch
            _tell_epoch(self.dataset, request.epoch)
        return self._batch(request.indices), None

    def _batch(self, indices: Sequence[int]) -> Any:
        if isinstance(self.dataset, TensorDataset) and self._collate is None:
            return [tensor[list(indices)] for tensor in self.dataset.tensors]
        if _is_without_chance(self.dataset) and self._collate is None:
            return default_collate(self._samples(indices))
        with kept():
            seed(self._seed, self._epoch, indices[0])
            return (self._collate or default_collate)(self._samples(indices))

    def _samples(self, indices: Sequence[int]) -> list[Any]:
        many = getattr(self.dataset, "__getitems__", None)
        if many:
            found: list[Any] = many(list(indices))
            return found
        if _is_without_chance(self.dataset):
            return [self.dataset[index] for index in indices]
        return [self._seeded_sample(index) for index in indices]

    def _seeded_sample(self, index: int) -> Any:
        seed(self._seed, self._epoch, index)
        return self.dataset[index]


class StreamReader:
    """Reads a stream in its own order, keeps what may still be asked for, skips the rest.

    It reads one sample further than the batch, to know whether the epoch ends with it.
    """

    def __init__(self, source: SampleSource, *, seed: int) -> None:
        self.dataset = source.dataset
        self._collate = source.collate or default_collate
        self._seed = seed
        self._epoch = -1
        self._samples: deque[Any] = deque()
        self._start = 0  # position of the first sample kept
        self._rest: Iterator[Any] = iter(())
        self._random: tuple[Any, ...] = ()
        self.resumes_at: Bookmark | None = None

    def place(self, *, epoch: int, position: int) -> Bookmark | None:
        """The stream's place; None if it cannot tell, stands elsewhere, or is not read here."""
        is_here = self._epoch == epoch and self._start <= position <= self._stop
        if not (is_here and hasattr(self.dataset, "load_state_dict")):
            return None
        return Bookmark(
            epoch=self._epoch,
            position=position,
            samples=list(self._samples)[position - self._start :],
            rest=copy.deepcopy(self.dataset.state_dict()),
            random=self._random,
        )

    def __getitems__(self, request: Request) -> Answer:
        if request.epoch != self._epoch or request.batch.start < self._start:
            self._open(request.epoch, request.batch.start)
        with self._own_random():
            self._drop_before(request.oldest)
            extent = self._read_to(request.batch)
        share = request.division.share(extent.batch)
        if not extent.batch or request.number >= len(share.micro_batches):
            return None, extent
        return self._batch(share.micro_batches[request.number]), extent

    @property
    def _stop(self) -> int:
        return self._start + len(self._samples)

    @contextlib.contextmanager
    def _own_random(self) -> Iterator[None]:
        """The stream draws its own random numbers, whatever is drawn between two reads."""
        with kept():
            set_state(self._random)
            yield
            self._random = get_state()

    def _open(self, epoch: int, position: int) -> None:
        """Open the stream at this position, by its own means or by reading what comes before."""
        self._epoch = epoch
        self._samples.clear()
        _tell_epoch(self.dataset, epoch)
        place = self.resumes_at
        if place is not None and (place.epoch, place.position) == (epoch, position):
            self._resume(place)
            return
        can_skip = position and hasattr(self.dataset, "skip")
        self._start = position if can_skip else 0
        with seeded(self._seed, epoch):
            self._rest = iter(self.dataset.skip(position) if can_skip else self.dataset)
            self._drop_before(position)
            self._random = get_state()

    def _resume(self, place: Bookmark) -> None:
        self._start = place.position
        self._samples.extend(place.samples)
        self.dataset.load_state_dict(place.rest)
        self._rest = iter(self.dataset)
        self._random = place.random

    def _drop_before(self, position: int) -> None:
        while self._start < position and (self._samples or self._read_one()):
            self._samples.popleft()
            self._start += 1

    def _read_to(self, batch: range) -> StreamExtent:
        while self._stop <= batch.stop and self._read_one():
            pass
        found = range(batch.start, max(batch.start, min(batch.stop, self._stop)))
        return StreamExtent(batch=found, is_last=self._stop <= batch.stop)

    def _read_one(self) -> bool:
        try:
            self._samples.append(next(self._rest))
        except StopIteration:
            return False
        return True

    def _batch(self, positions: range) -> Any:
        samples = [self._samples[position - self._start] for position in positions]
        with seeded(self._seed, self._epoch, positions.start):
            return self._collate(samples)


Reader = MapReader | StreamReader


def reader_of(source: SampleSource, *, seed: int) -> Reader:
    return StreamReader(source, seed=seed) if source.is_stream else MapReader(source, seed=seed)


def _tell_epoch(dataset: Any, epoch: int) -> None:
    if hasattr(dataset, "set_epoch"):
        dataset.set_epoch(epoch)


def _is_without_chance(dataset: Any) -> bool:
    inner = dataset.dataset if type(dataset) is Subset else dataset
    return type(inner) in _WITHOUT_CHANCE
