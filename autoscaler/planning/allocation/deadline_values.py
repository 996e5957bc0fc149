"""How does a job with a deadline get what it needs to meet it? That comes first, the rest last.

Under every policy. A size is enough if the job is predicted to end in time with it:

    remaining time / S(k) * (1 + margin) <= time until the deadline

Reaching the smallest such size is worth more than all that the policy wants for all jobs together,
so as many deadlines are met as can be. Beyond it a job has nearly no wish left, and gets only what
is of no use to anybody else. So a deadline is a trade: whoever states an early one has precedence,
and ends no earlier than that while others need the GPUs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.policies import NOT_WANTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.allocation.size_values import SizeValues
    from autoscaler.planning.demand import Size

MARGIN: Final = 0.1  # guessed: of the remaining time, kept in reserve as predictions are not exact
SPARE: Final = 1e-3  # guessed: what more than enough is worth, of what the policy makes of it


def with_deadlines(values_of_jobs: list[SizeValues], now: float) -> list[SizeValues]:
    """The same values where no job has a deadline that can be met."""
    enough = [_smallest_enough(job_values, now) for job_values in values_of_jobs]
    if not any(enough):
        return values_of_jobs
    met = 1.0 + sum(_spread(job_values.value_by_workers.values()) for job_values in values_of_jobs)
    return [
        _steered(job_values, size, met) if size else job_values
        for job_values, size in zip(values_of_jobs, enough, strict=True)
    ]


def _smallest_enough(job_values: SizeValues, now: float) -> Size | None:
    """None: it has no deadline or an unknown length, follows its own metric, or will be late."""
    demand = job_values.demand
    deadline, left = demand.job.deadline, demand.remaining_seconds
    if deadline is None or left is None or demand.job.scale_on is not None or deadline <= now:
        return None
    speedup = left * (1 + MARGIN) / (deadline - now)
    return next((size for size in job_values.sizes if size.speedup >= speedup), None)


def _spread(values: Iterable[float]) -> float:
    wanted = [value for value in values if value != NOT_WANTED]
    return max(wanted) - min(wanted) if wanted else 0.0


def _steered(job_values: SizeValues, enough: Size, met: float) -> SizeValues:
    by_workers = job_values.value_by_workers
    wanted = [value for value in by_workers.values() if value != NOT_WANTED]
    own = by_workers[enough.workers]
    base = own if own != NOT_WANTED else max(wanted, default=0.0)

    def worth(workers: int, value: float) -> float:
        if workers < enough.workers:
            return value
        if workers == enough.workers:
            return base + met
        return value if value == NOT_WANTED else base + met + SPARE * (value - base)

    steered = {workers: worth(workers, value) for workers, value in by_workers.items()}
    return replace(
        job_values,
        values=tuple(steered[size.workers] for size in job_values.sizes),
        value_by_workers=steered,
    )
