"""How many workers, and which batch, does each admitted job get? Values in, optimum out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.planning.allocation.size_values import SizeValues
from autoscaler.planning.optimizer import AllocationProblem, Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from autoscaler.planning.allocation.guarantees import TeamBounds
    from autoscaler.planning.demand import Demand, Size


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The optimum: a size per job. `solution` None: nothing fits, so everything stays."""

    sizes: Mapping[str, Size]
    size_values: Mapping[str, SizeValues]
    solution: Solution | None


def split(
    values_of_jobs: Sequence[SizeValues],
    *,
    bounds: Callable[[Sequence[SizeValues]], TeamBounds],
    now: float,
) -> Split:
    """The best sizes. Jobs changed a short while ago stay, unless a guarantee needs their GPUs."""
    calm = [_calm(job_values, _stays, now) for job_values in values_of_jobs]
    solution, is_met = _solve(calm, bounds)
    if solution is None or not is_met:
        calm = [_calm(job_values, _does_not_grow, now) for job_values in values_of_jobs]
        solution, _ = _solve(calm, bounds)
    chosen = solution.chosen[: len(calm)].tolist() if solution else []
    return Split(
        sizes={
            job_values.demand.job.job_id: job_values.sizes[index]
            for job_values, index in zip(calm, chosen, strict=False)
        },
        size_values={job_values.demand.job.job_id: job_values for job_values in values_of_jobs},
        solution=solution,
    )


def _solve(
    values_of_jobs: Sequence[SizeValues], bounds: Callable[[Sequence[SizeValues]], TeamBounds]
) -> tuple[Solution | None, bool]:
    within = bounds(values_of_jobs)
    claims = [job_values.claim for job_values in values_of_jobs]
    if within.users:
        claims = [replace(one, team=within.users.get(one.job_id, one.team)) for one in claims]
    claims += within.kept
    problem = AllocationProblem.of(
        claims, gpus=within.gpus, bounds=within.by_team, parents=within.parents
    )
    return solve(problem), within.are_met


def is_cooling(demand: Demand, now: float) -> bool:
    changed_at = demand.job.last_rescaled_at
    return (
        demand.held > 0
        and changed_at is not None
        and now - changed_at < demand.job.min_interval_seconds
    )


def _calm(job_values: SizeValues, rule: Callable[[Demand, Size], bool], now: float) -> SizeValues:
    """Return what the policy wants of the job; of one that was changed a short while ago less."""
    if is_cooling(job_values.demand, now):
        job_values = job_values.restricted(lambda size: rule(job_values.demand, size))
    return job_values.wanted


def _stays(demand: Demand, size: Size) -> bool:
    return size == demand.present


def _does_not_grow(demand: Demand, size: Size) -> bool:
    return size.workers <= demand.held
