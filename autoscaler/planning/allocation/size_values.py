"""What is each size worth to a job? The demand, valued by the policy's objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.demand.application_metric import last_asked_for
from autoscaler.planning.demand.change_cost import MIN_GAIN, change_factor
from autoscaler.planning.demand.usefulness import useful_size
from autoscaler.planning.optimizer import SizeChoice
from autoscaler.planning.policies import NOT_WANTED, Sizes, up_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from autoscaler.planning.demand import Demand, Size
    from autoscaler.planning.policies import Objective

LAST_RESORT: Final = 1e6  # what a size that is not wanted is worth less than any other


@dataclass(frozen=True, kw_only=True)
class SizeValues:
    """The sizes a job may choose from, and what each is worth to it under the policy.

    `values` go with `sizes`; a size that the policy does not want is worth `NOT_WANTED` and chosen
    only where nothing else is left. `value_by_workers` also knows sizes not to be tried yet.
    Without slots, so that what each round of a plan asks for is reckoned once.
    """

    demand: Demand
    sizes: tuple[Size, ...]
    values: tuple[float, ...]
    value_by_workers: Mapping[int, float]

    def value_of(self, size: Size) -> float:
        return self.value_by_workers.get(size.workers, NOT_WANTED)

    def restricted(self, may_take: Callable[[Size], bool]) -> SizeValues:
        kept = [(s, v) for s, v in zip(self.sizes, self.values, strict=True) if may_take(s)]
        if not kept:
            return self
        sizes, values = zip(*kept, strict=True)
        return replace(self, sizes=sizes, values=values)

    @cached_property
    def claim(self) -> SizeChoice:
        per_worker = self.demand.job.gpus_per_worker
        return SizeChoice(
            job_id=self.demand.job.job_id,
            team=self.demand.job.team,
            gpus=tuple(size.workers * per_worker for size in self.sizes),
            values=self.values,
        )

    @cached_property
    def steps(self) -> Sequence[int]:
        """The GPUs beyond its smallest size that it may take and has a use for."""
        smallest, *larger = self.claim.gpus
        return [gpus - smallest for gpus in larger if gpus <= self.useful_gpus]

    @cached_property
    def useful_gpus(self) -> int:
        """The GPUs up to which each step up makes it any faster."""
        return self._useful_gpus(1.0)

    @cached_property
    def clearly_useful_gpus(self) -> int:
        """The GPUs up to which each step up makes it clearly faster."""
        return self._useful_gpus(1 + MIN_GAIN)

    def _useful_gpus(self, gain: float) -> int:
        """A job that would not change on its own account has a use for what it holds.

        Such as one that has just started, or was rescaled too often.
        """
        best, present = useful_size(self.demand.sizes, gain=gain), self.demand.present
        if (
            present is not None
            and self.value_of(best) <= self.value_of(present)
            and index_of(present, self.sizes) is not None
        ):
            best = present
        return best.workers * self.demand.job.gpus_per_worker

    @cached_property
    def wanted(self) -> SizeValues:
        """Leave out sizes that the policy does not want; where it wants none, all count the same.

        The smallest size stays as a last resort, as all that admission promised is the sum of
        the smallest sizes.
        """
        if NOT_WANTED not in self.values:
            return self
        finite = [value for value in self.values if value != NOT_WANTED]
        if not finite:
            return replace(self, values=(0.0,) * len(self.values))
        smallest = max(self.values[0], min(finite) - LAST_RESORT)
        kept = [
            (size, value)
            for size, value in zip(self.sizes, (smallest, *self.values[1:]), strict=True)
            if value != NOT_WANTED
        ]
        sizes, values = zip(*kept, strict=True)
        return replace(self, sizes=sizes, values=values)


def size_values_for(demand: Demand, objective: Objective, now: float) -> SizeValues:
    """Staying is worth the present speed; other workers are worth theirs times the change factor.

    At the present number of workers the present batch counts, unless the best one is clearly
    faster: then it will train with that one, and needs no other workers to do so.
    """
    factor = 1.0
    if demand.held:
        factor = change_factor(demand.job, now, seconds_left=demand.seconds_left)
    sizes = _with_faster_present(demand, (*demand.sizes, *demand.larger), factor)
    values = _values(demand, sizes, objective, factor)
    within = len(demand.sizes)
    return SizeValues(
        demand=demand,
        sizes=sizes[:within],
        values=tuple(values[:within]),
        value_by_workers={s.workers: v for s, v in zip(sizes, values, strict=True)},
    )


def index_of(wanted: Size, sizes: Sequence[Size]) -> int | None:
    """Return where the size stands among these; their workers tell most of them apart."""
    for index, size in enumerate(sizes):
        if size.workers == wanted.workers and size == wanted:
            return index
    return None


def _with_faster_present(
    demand: Demand, sizes: tuple[Size, ...], factor: float
) -> tuple[Size, ...]:
    present, batch = demand.present, demand.job.batch
    if present is None or not batch.minimum <= present.global_batch_size <= batch.maximum:
        return sizes
    for index, size in enumerate(sizes):
        if size.workers == present.workers and present.speedup >= size.speedup * factor:
            sizes = (*sizes[:index], present, *sizes[index + 1 :])
    return sizes


def _values(
    demand: Demand, sizes: Sequence[Size], objective: Objective, factor: float
) -> list[float]:
    if not sizes:
        return []
    # A job that is being stopped, and will hold no worker, has no other size to choose.
    workers = np.array([size.workers or 1 for size in sizes])
    if demand.job.scale_on is not None:
        return _values_by_metric(demand, workers, objective, factor)
    felt = np.array([s.speedup * (1.0 if s.workers == demand.held else factor) for s in sizes])
    values: list[float] = objective(demand, Sizes(workers=workers, speedups=felt)).tolist()
    return values


def _values_by_metric(
    demand: Demand, workers: NDArray[np.int_], objective: Objective, factor: float
) -> list[float]:
    """Value it as if it scaled perfectly up to the size its application asks for, and no further.

    A change that the application asks for costs nothing, or noise would be louder than its wish.
    """
    last = last_asked_for(demand, workers)
    is_right = workers[last] == demand.held
    felt = workers / workers[0] * np.where(is_right & (workers != demand.held), factor, 1.0)
    values = objective(demand, Sizes(workers=workers, speedups=felt))
    wanted: list[float] = up_to(values, last).tolist()
    return wanted
