"""How often do outcomes fall into the predicted 10 to 90 % ranges? Four synthetic workloads.

    python benchmarks/prediction_calibration.py [SEEDS]

About two minutes of one core for each seed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.cluster_state import Node, Pool
from autoscaler.simulation.engine.prediction.calibration import (
    ScoredPrediction,
    hold_against,
    share_held,
)
from autoscaler.simulation.engine.prediction.prediction import Effort
from autoscaler.simulation.engine.replay.settings import HotRescale, Settings
from autoscaler.simulation.engine.workload.arrivals import Poisson, rate_for_load
from autoscaler.simulation.engine.workload.generators import (
    THREE_KINDS,
    Workload,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import Uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

GPUS: Final = 16
LOAD: Final = 0.9
LENGTHS: Final = Uniform(shortest=300, longest=3600)
EFFORT: Final = Effort(horizon_seconds=3 * 3600, planned_jobs=4_000)
MOMENTS: Final = 4
# How much users know: the share that declares no length, and the range of true over declared.
USERS: Final[dict[str, tuple[float, tuple[float, float]]]] = {
    "declared truly": (0.0, (1.0, 1.0)),
    "declared wrong by up to 25 %": (0.0, (0.8, 1.25)),
    "40 % undeclared": (0.4, (1.0, 1.0)),
    "none declared": (1.0, (1.0, 1.0)),
}


def main(seeds: int) -> None:
    everything: list[ScoredPrediction] = []
    for name, (undeclared, factors) in USERS.items():
        found = [
            one for seed in range(seeds) for one in predicted(name, undeclared, factors, seed=seed)
        ]
        report(name, found)
        everything += found
    report("all", everything)


def predicted(
    name: str, undeclared: float, factors: tuple[float, float], *, seed: int
) -> tuple[ScoredPrediction, ...]:
    mean = mean_length_seconds(THREE_KINDS, LENGTHS)
    workload = Workload(
        name=name,
        arrivals=Poisson(per_second=rate_for_load(LOAD, gpus=GPUS, mean_length_seconds=mean)),
        jobs=80,
        mix=THREE_KINDS,
        lengths=LENGTHS,
        max_workers=8,
        undeclared=undeclared,
        declared_factors=factors,
    )
    trace = generate(workload, seed=seed)
    nodes = tuple(Node(name=f"n{number}", gpus=4) for number in range(GPUS // 4))
    settings = Settings(
        pools=(Pool(name="default", policy="completion_time", nodes=nodes),),
        tick_seconds=5,
        plans_at_events=True,
        rescale=HotRescale(),
        measurement_noise=0.05,
        seed=seed,
    )
    last = max(job.submitted_at for job in trace.jobs)
    moments = [last * (number + 1) / (MOMENTS + 1) for number in range(MOMENTS)]
    return hold_against(trace, settings, moments=moments, effort=EFFORT, seed=1000 * seed)


def report(name: str, found: Sequence[ScoredPrediction]) -> None:
    held = sum(one.is_held for one in found)
    early = sum(one.is_early for one in found)
    sys.stdout.write(
        f"{name:30} {held:4} of {len(found):4} held: {share_held(found):4.0%}, "
        f"{early} early, {len(found) - held - early} late\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
