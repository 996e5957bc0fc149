"""What did the script give to `job.batches`: which samples, in which order, loaded how?

Either a data set as it is or a `DataLoader` of PyTorch, of which everything is kept that a job can
keep whose platform chooses the batches; anything else is refused with a sentence on what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, field
from typing import Any, Final

from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    default_collate,
)

from concertina_worker.samples.drawn import DrawnSamples
from concertina_worker.samples.order import SampleOrder, as_it_is, counted, sampled, shuffled

DEFAULT_BATCH: Final = 32

Collate = Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """The number of processes and how far ahead they load: arguments of a DataLoader."""

    processes: int = 0
    batches_ahead: int = 0  # micro-batches loaded before they are asked for
    arguments: dict[str, Any] = field(default_factory=dict)
    init: Callable[[int], Any] | None = None  # the script's worker_init_fn


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSource:
    """Samples, and how they become batches."""

    dataset: Any
    batch_size: int  # counts only where no platform chooses it
    collate: Collate | None = None  # None: PyTorch's default
    sampler: Iterable[int] | None = None  # None: shuffled by the job's seed
    drops_last: bool = False
    loading: Loading = field(default_factory=Loading)

    @property
    def is_stream(self) -> bool:
        """Samples come one after the other, in an order of their own."""
        return isinstance(self.dataset, IterableDataset) or not hasattr(self.dataset, "__getitem__")

    @property
    def length(self) -> int | None:
        """Samples of an epoch; None when only the end of the stream will tell."""
        sized = self.dataset if self.sampler is None else self.sampler
        return len(sized) if isinstance(sized, Sized) else None

    def order(self, *, seed: int, epoch: int) -> SampleOrder:
        """The order of a data set that is no stream.

        Raises:
            DataError: the data set is empty.
        """
        length = len(self.dataset)
        if not length:
            raise DataError("the data set is empty on this worker")
        if isinstance(self.dataset, DrawnSamples):
            return counted(length)
        if self.sampler is None:
            return shuffled(seed=seed, epoch=epoch, length=length)
        if isinstance(self.sampler, SequentialSampler):
            return as_it_is(length)
        return sampled(self.sampler, seed=seed, epoch=epoch)


def source_of(
    data: Any, batch_size: int | None = None, collate: Collate | None = None
) -> SampleSource:
    """Raises DataError when `data` cannot be divided among a changing number of workers."""
    if not isinstance(data, DataLoader):
        _check_dataset(data)
        return SampleSource(dataset=data, batch_size=batch_size or DEFAULT_BATCH, collate=collate)
    if batch_size is not None or collate is not None:
        raise DataError("batch_size and collate belong to the DataLoader given to job.batches")
    _check_dataset(data.dataset)
    _check_batches(data)
    return SampleSource(
        dataset=data.dataset,
        batch_size=data.batch_size or DEFAULT_BATCH,
        collate=None if data.collate_fn is default_collate else data.collate_fn,
        sampler=None if isinstance(data.dataset, IterableDataset) else _sampler(data.sampler),
        drops_last=data.drop_last,
        loading=_loading(data),
    )


def _loading(loader: DataLoader[Any]) -> Loading:
    processes = loader.num_workers
    arguments: dict[str, Any] = {"pin_memory": loader.pin_memory, "num_workers": processes}
    if processes:
        arguments |= {
            "timeout": loader.timeout,
            "multiprocessing_context": loader.multiprocessing_context,
            "prefetch_factor": loader.prefetch_factor,
            "persistent_workers": loader.persistent_workers,
        }
    return Loading(
        processes=processes,
        batches_ahead=processes * (loader.prefetch_factor or 0),
        arguments=arguments,
        init=loader.worker_init_fn,
    )


def _sampler(sampler: Any) -> Iterable[int] | None:
    if isinstance(sampler, DistributedSampler):
        raise DataError(
            "job.batches divides each batch among the workers itself: give the DataLoader "
            "shuffle=True instead of a DistributedSampler"
        )
    is_plain = type(sampler) is RandomSampler and not sampler.replacement
    is_whole = is_plain and sampler.num_samples == len(sampler.data_source)
    return None if is_whole else sampler


def _check_batches(loader: DataLoader[Any]) -> None:
    is_own = loader.batch_sampler is not None and type(loader.batch_sampler) is not BatchSampler
    if loader.batch_size is None or is_own:
        raise DataError(
            "the platform chooses the batches: give job.batches a DataLoader with batch_size, "
            "and a sampler if the order matters, but without a batch_sampler of its own"
        )


def _check_dataset(dataset: Any) -> None:
    is_map = hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")
    if not is_map and not hasattr(dataset, "__iter__"):
        raise DataError(
            f"job.batches takes a data set (len() and [i]), a stream (iter()) or a DataLoader, "
            f"not {type(dataset).__name__}"
        )
    if not is_map and hasattr(dataset, "__next__"):
        raise DataError(
            "job.batches needs a stream that can begin again: give it an IterableDataset, "
            "not an iterator"
        )


class DataError(Exception):
    """The data cannot be divided exactly once among a changing number of workers."""
