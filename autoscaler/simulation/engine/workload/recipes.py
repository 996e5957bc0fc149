"""Which synthetic workload does somebody mean with few words? A recipe, sized by its load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from autoscaler.simulation.engine.workload.arrivals import (
    Bursty,
    DailyCycle,
    Poisson,
    rate_for_load,
)
from autoscaler.simulation.engine.workload.generators import (
    BY_GPU_TIME,
    SIX_APPLICATIONS,
    THREE_KINDS,
    Mix,
    WorkloadRecipe,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import FullRuns, LengthDistribution, LogNormal

if TYPE_CHECKING:
    from autoscaler.simulation.engine.workload.arrivals import ArrivalProcess
    from autoscaler.simulation.engine.workload.trace import Trace


class Pattern(StrEnum):
    """How jobs arrive."""

    POISSON = "poisson"
    BURSTY = "bursty"
    DAILY = "daily"


class MixName(StrEnum):
    """What the jobs are."""

    PRODUCTION = "production"  # full runs of the six applications, by how common their GPU time is
    APPLICATIONS = "applications"  # the six in equal numbers, half an hour long in the median
    KINDS = "kinds"  # bound by computation, by communication, and in between


_MIXES: Final[dict[MixName, tuple[Mix, LengthDistribution]]] = {
    MixName.PRODUCTION: (BY_GPU_TIME, FullRuns()),
    MixName.APPLICATIONS: (SIX_APPLICATIONS, LogNormal()),
    MixName.KINDS: (THREE_KINDS, LogNormal()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A number of jobs at a load: arriving work over what the GPUs can do at one GPU per job."""

    pattern: Pattern = Pattern.POISSON
    mix: MixName = MixName.PRODUCTION
    jobs: int = 160
    load: float = 0.8
    teams: tuple[str, ...] = ("research",)
    pool: str = "default"


def trace_of(recipe: Recipe, *, gpus: int, seed: int) -> Trace:
    """The recipe's trace for a cluster of so many GPUs."""
    mix, lengths = _MIXES[recipe.mix]
    rate = rate_for_load(
        recipe.load, gpus=gpus, mean_length_seconds=mean_length_seconds(mix, lengths)
    )
    workload = WorkloadRecipe(
        name=f"{recipe.pattern}-{recipe.mix}",
        arrivals=_arrivals(recipe.pattern, rate),
        jobs=recipe.jobs,
        mix=mix,
        lengths=lengths,
        teams=tuple((team, 1.0) for team in recipe.teams),
        pool=recipe.pool,
        max_workers=min(gpus, 64),
    )
    return generate(workload, seed=seed)


def _arrivals(pattern: Pattern, rate: float) -> ArrivalProcess:
    match pattern:
        case Pattern.POISSON:
            return Poisson(per_second=rate)
        case Pattern.BURSTY:
            return Bursty(per_second=rate)
        case Pattern.DAILY:
            return DailyCycle(per_second=rate)
