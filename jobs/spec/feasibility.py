"""Do a spec's ranges fit together? Which worker counts can train with which global batch?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jobs.errors import Problem


class WorkerRange(Protocol):
    """What these checks read of the spec's `elastic` part."""

    @property
    def min_workers(self) -> int: ...
    @property
    def max_workers(self) -> int: ...
    @property
    def worker_step(self) -> int: ...
    @property
    def allowed_workers(self) -> list[int] | None: ...
    @property
    def requested_workers(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchBounds:
    """Allowed global batches: `minimum <= b <= maximum`, b a multiple of `multiple_of`."""

    base: int
    minimum: int
    maximum: int
    multiple_of: int
    max_per_worker: int | None
    has_accumulation: bool

    def smallest_for(self, workers: int) -> int | None:
        """Return the smallest batch that gives each worker a sample; None if there is none.

        Without accumulation a worker's share, ceil(b / workers), must fit in its memory.
        """
        batch = _round_up(max(self.minimum, workers), self.multiple_of)
        if batch > self.maximum:
            return None
        share = -(-batch // workers)
        is_too_large = self.max_per_worker is not None and share > self.max_per_worker
        return None if is_too_large and not self.has_accumulation else batch


def worker_counts(elastic: WorkerRange) -> Sequence[int]:
    """Return every number of workers that the job says it can run with."""
    if elastic.allowed_workers is not None:
        return sorted(set(elastic.allowed_workers))
    return range(elastic.min_workers, elastic.max_workers + 1, elastic.worker_step)


def check_elastic(elastic: WorkerRange) -> Iterator[Problem]:
    """Find problems of the worker range by itself."""
    low, high = elastic.min_workers, elastic.max_workers
    if low > high:
        yield Problem(
            field="elastic.min_workers",
            value=low,
            problem=f"is greater than max_workers ({high})",
            remedy=f"Use at most {high}, or raise max_workers.",
        )
        return
    outside = [count for count in elastic.allowed_workers or () if not low <= count <= high]
    if outside:
        yield Problem(
            field="elastic.allowed_workers",
            value=elastic.allowed_workers,
            problem=f"has {outside[0]}, which is outside min_workers to max_workers"
            f" ({low} to {high})",
            remedy=f"Use counts from {low} to {high}, or widen the range.",
        )
    if elastic.allowed_workers is not None and elastic.worker_step != 1:
        yield Problem(
            field="elastic.worker_step",
            value=elastic.worker_step,
            problem="is given together with allowed_workers",
            remedy="Keep one of the two.",
        )
    requested, counts = elastic.requested_workers, worker_counts(elastic)
    if requested is not None and requested not in counts:
        nearest = min(counts, key=lambda count: (abs(count - requested), count))
        yield Problem(
            field="elastic.requested_workers",
            value=requested,
            problem="is not a number of workers that the job allows",
            remedy=f"Use {nearest}, or allow {requested}.",
        )


def check_batch(elastic: WorkerRange, bounds: BatchBounds) -> Iterator[Problem]:
    """Find problems of the batch range, by itself and with the worker range."""
    own = _check_range(bounds)
    if own is not None:
        yield own
        return
    counts = worker_counts(elastic)
    if counts and all(bounds.smallest_for(count) is None for count in counts):
        yield _fits_no_count(counts, bounds)


def counts_without_batch(counts: Iterable[int], bounds: BatchBounds) -> list[int]:
    """Return numbers of workers that will never be used because no allowed batch fits them."""
    return [count for count in counts if bounds.smallest_for(count) is None]


def _check_range(bounds: BatchBounds) -> Problem | None:
    low, high, multiple = bounds.minimum, bounds.maximum, bounds.multiple_of
    field = "batch.global_batch_size"
    if low > high:
        return Problem(
            field=f"{field}.min",
            value=low,
            problem=f"is greater than max ({high})",
            remedy=f"Use at most {high}, or raise max.",
        )
    if not low <= bounds.base <= high:
        return Problem(
            field=f"{field}.base",
            value=bounds.base,
            problem=f"is outside min to max ({low} to {high})",
            remedy="Use a base within the range, or widen the range.",
        )
    if _round_up(low, multiple) > high:
        return Problem(
            field=f"{field}.multiple_of",
            value=multiple,
            problem=f"has no multiple from {low} to {high}",
            remedy="Widen the range, or use a smaller multiple.",
        )
    return None


def _fits_no_count(counts: Sequence[int], bounds: BatchBounds) -> Problem:
    least, most = counts[0], counts[-1]
    field = "batch.global_batch_size"
    if _round_up(max(bounds.minimum, least), bounds.multiple_of) > bounds.maximum:
        return Problem(
            field=f"{field}.max",
            value=bounds.maximum,
            problem=f"fits no worker count: {least} workers need at least one sample each",
            remedy=f"Use at least {_round_up(least, bounds.multiple_of)}, or fewer workers.",
        )
    smallest = _round_up(bounds.minimum, bounds.multiple_of)
    limit = bounds.max_per_worker or smallest
    return Problem(
        field=f"{field}.min",
        value=bounds.minimum,
        problem=(
            f"fits no worker count: the smallest batch, {smallest}, is {-(-smallest // most)}"
            f" samples for each of {most} workers, but per_gpu_batch_size.max is {limit}"
        ),
        remedy=(
            f"Use a min of at most {limit * most}, at least {-(-smallest // limit)} workers,"
            " or gradient_accumulation: true."
        ),
    )


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
