"""How often do outcomes fall into the predicted 10 to 90 % ranges? For each kind of job, by seeds.

    python benchmarks/prediction_calibration.py [--seeds 3] [--first 0] [--kinds wrong,unknown]

Jobs of the six applications on 8 GPUs, predicted at six moments of each workload. About half a
minute of one core for each seed and kind.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool
from autoscaler.simulation.engine.prediction.calibration import (
    ScoredPrediction,
    hold_against,
    share_held,
)
from autoscaler.simulation.engine.prediction.prediction import Effort
from autoscaler.simulation.engine.replay.settings import (
    CheckpointRestart,
    HotRescale,
    Knowledge,
    RescaleCost,
    Settings,
)
from autoscaler.simulation.engine.workload.arrivals import Poisson, rate_for_load
from autoscaler.simulation.engine.workload.generators import (
    SIX_APPLICATIONS,
    WorkloadRecipe,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import Uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.trace import Trace

GPUS: Final = 8
LOAD: Final = 0.9
JOBS: Final = 40
LENGTHS: Final = Uniform(shortest=300, longest=3600)
EFFORT: Final = Effort(horizon_seconds=24 * 3600)
MOMENTS: Final = 6


_HOT: Final = HotRescale()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How jobs change their size, and how much is known of them."""

    title: str
    undeclared: float = 0.0  # this share declares no length
    factors: tuple[float, float] = (1.0, 1.0)  # declared over true lengths
    rescale: RescaleCost = _HOT
    knowledge: Knowledge = Knowledge.MEASURED
    keeps_batch: bool = False  # the profile's base batch, by which lengths count, too


KINDS: Final = {
    "known": Kind(title="declared truly"),
    "wrong": Kind(title="declared wrong by up to 25 %", factors=(0.8, 1.25)),
    "unknown": Kind(title="none declared", undeclared=1.0),
    "restart": Kind(
        title="declared truly, scale by restart", rescale=CheckpointRestart(first_start=30.0)
    ),
    "restart-wrong": Kind(
        title="declared wrong by up to 25 %, scale by restart",
        factors=(0.8, 1.25),
        rescale=CheckpointRestart(first_start=30.0),
    ),
    "restart-unknown": Kind(
        title="none declared, scale by restart",
        undeclared=1.0,
        rescale=CheckpointRestart(first_start=30.0),
    ),
    "silent": Kind(
        title="report nothing, scale by restart",
        undeclared=1.0,
        rescale=CheckpointRestart(first_start=30.0),
        knowledge=Knowledge.NOTHING,
        keeps_batch=True,
    ),
}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    for name in chosen.kinds.split(","):
        kind = KINDS[name]
        found = [one for seed in seeds for one in predicted(kind, seed=seed)]
        report(f"{kind.title}, ends", [one for one in found if not one.is_start])
        report(f"{kind.title}, starts", [one for one in found if one.is_start])


def predicted(kind: Kind, *, seed: int) -> tuple[ScoredPrediction, ...]:
    trace = workload(kind, seed=seed)
    nodes = tuple(PlannedNode(name=f"n{number}", gpus=4) for number in range(GPUS // 4))
    settings = Settings(
        pools=(PlannedPool(name="default", policy="completion_time", nodes=nodes),),
        tick_seconds=5,
        plans_at_events=True,
        rescale=kind.rescale,
        knowledge=kind.knowledge,
        measurement_noise=0.05,
        seed=seed,
    )
    last = max(job.submitted_at for job in trace.jobs)
    moments = [last * (number + 1) / (MOMENTS + 1) for number in range(MOMENTS)]
    return hold_against(trace, settings, moments=moments, effort=EFFORT, seed=1000 * seed)


def workload(kind: Kind, *, seed: int) -> Trace:
    mean = mean_length_seconds(SIX_APPLICATIONS, LENGTHS)
    recipe = WorkloadRecipe(
        name="calibration",
        arrivals=Poisson(per_second=rate_for_load(LOAD, gpus=GPUS, mean_length_seconds=mean)),
        jobs=JOBS,
        mix=tuple(map(_keeping_batch, SIX_APPLICATIONS)) if kind.keeps_batch else SIX_APPLICATIONS,
        lengths=LENGTHS,
        max_workers=8,
        undeclared=kind.undeclared,
        declared_factors=kind.factors,
    )
    return generate(recipe, seed=seed)


def _keeping_batch(weighted: tuple[Profile, float]) -> tuple[Profile, float]:
    profile, weight = weighted
    only = replace(profile.batch, minimum=profile.batch.base, maximum=profile.batch.base)
    return replace(profile, batch=only), weight


def report(name: str, found: Sequence[ScoredPrediction]) -> None:
    if not found:
        sys.stdout.write(f"{name:54} nothing was predicted\n")
        return
    held = sum(one.is_held for one in found)
    early = sum(one.is_early for one in found)
    sys.stdout.write(
        f"{name:54} {held:4} of {len(found):4} held: {share_held(found):4.0%}, "
        f"{early} early, {len(found) - held - early} late\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
