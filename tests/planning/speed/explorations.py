"""Where jobs get measured while the planner tries out sizes, with true models to compare with."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.demand.curve_inputs import CurveInputs
from autoscaler.planning.demand.curves import curve_of
from autoscaler.planning.demand.sizes import PoolShape, WorkerRules
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.speed.throughput import Configurations
from autoscaler.simulation.engine.workload import applications

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.scaling import ScalingModel
    from autoscaler.planning.speed.throughput import ThroughputModel
    from autoscaler.simulation.engine.truth.profiles import Profile

    Column = np.typing.NDArray[np.float64]

SIX: Final = applications.APPLICATIONS
PER_NODE: Final = 4  # GPUs, as where the six were measured
WORKERS: Final = (1, 2, 3, 4, 6, 8, 12, 16)
NOISE: Final = 0.07  # standard deviation of the logarithm of a measured step time
BATCHES: Final = 12  # so many of a range are compared, geometrically spaced

Point = tuple[int, int]  # global batch, workers


def feasible(rules: BatchRange, workers: int) -> tuple[int, ...]:
    """Batches of the range that fit into the memory of so many workers at once."""
    lowest = max(rules.minimum, workers)
    highest = min(rules.maximum, (rules.max_per_gpu or rules.maximum) * workers)
    if lowest > highest:
        return ()
    grid = np.geomspace(lowest, highest, BATCHES).round().astype(int)
    return tuple(sorted(set(grid.tolist())))


@cache
def explored(profile: Profile, points: int, seed: int) -> tuple[StepTime, ...]:
    """What is measured of a job at distinct (local batch, workers) while it comes to know itself.

    It starts alone with the base batch. Then, again and again, it is given a size of at most twice
    the workers that it had, as in a pool that comes free piece by piece, mostly the largest. It
    takes the batch the planner thinks best there or, where that was measured already, half or twice
    of it.
    """
    rng = random.Random(f"{profile.name} {seed}")  # noqa: S311 - chance, no secret
    found: dict[tuple[int, int], StepTime] = {}
    batch, workers = profile.batch.base, 1
    while len(found) < points:
        key = math.ceil(batch / workers), workers
        if key in found:
            wanted = batch * rng.choice((0.5, 2.0))
            batch = min(feasible(profile.batch, workers), key=lambda b: abs(b - wanted))
            key = math.ceil(batch / workers), workers
        if key not in found:
            found[key] = measured_at(profile, batch, workers, rng)
        curve = curve_of(_curve_inputs(profile, tuple(found.values()), batch, seed))
        most = 2 * max(point.workers for point in found.values())
        within = [size for size in curve.sizes if size.workers <= most]
        size = within[-1] if rng.random() < 0.75 else rng.choice(within)
        batch, workers = size.global_batch_size, size.workers
    return tuple(found.values())


def _curve_inputs(
    profile: Profile, found: tuple[StepTime, ...], batch: int, seed: int
) -> CurveInputs:
    """Every other job reports its gradient noise, of a quarter of its training."""
    return CurveInputs(
        fit(found, batch=profile.batch),
        replace(profile.batch, accumulation=False),
        WorkerRules(1, WORKERS[-1], 1, WORKERS, 1),
        PoolShape(((PER_NODE, WORKERS[-1] // PER_NODE),)),
        batch,
        profile.noise_at(0.25) if seed % 2 else None,
    )


def unseen(profile: Profile, seen: Iterable[StepTime]) -> tuple[Point, ...]:
    """Every other feasible (b, k) that is compared."""
    met = {(math.ceil(m.global_batch_size / m.workers), m.workers) for m in seen}
    return tuple(
        (b, k)
        for k in WORKERS
        for b in feasible(profile.batch, k)
        if (math.ceil(b / k), k) not in met
    )


def measured_at(profile: Profile, batch: int, workers: int, rng: random.Random) -> StepTime:
    """What the workers report there: the true step time with log-normal noise."""
    (true,) = step_seconds(profile.model, ((batch, workers),)).tolist()
    return StepTime(
        workers=workers,
        nodes=math.ceil(workers / PER_NODE),
        global_batch_size=batch,
        steps=100,
        step_seconds=true * math.exp(rng.gauss(0, NOISE)),
    )


def at(points: tuple[Point, ...]) -> Configurations:
    batches, workers = np.array(points).T
    return Configurations.of(
        workers=workers, crosses_nodes=workers > PER_NODE, global_batch=batches
    )


def step_seconds(model: ThroughputModel, points: tuple[Point, ...]) -> Column:
    return model.step_seconds(at(points))


def relative_errors(scaling: ScalingModel, profile: Profile, points: tuple[Point, ...]) -> Column:
    """Of the predicted throughput, by point."""
    predicted = step_seconds(scaling.throughput, points)
    return np.asarray(np.abs(step_seconds(profile.model, points) / predicted - 1))
