"""What does it cost to predict all jobs of a cluster? Run `python benchmarks/prediction_cost.py`.

Prints how many replays of how many plans a prediction is made of, where a day is looked ahead,
processor seconds of it and of its correction by 2,000 past outcomes, how long is rested afterwards,
the share of a core that this makes, and how old what is told is at the end of the rest.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Final

from autoscaler.predictions.pace import rest_seconds
from autoscaler.simulation.engine.prediction.correction import Basis, ReplayOutcome, corrections
from autoscaler.simulation.engine.prediction.past import PastJob, RecentPast
from autoscaler.simulation.engine.prediction.prediction import Effort, affordable, predict
from autoscaler.simulation.engine.prediction.ranges import Range
from benchmarks.decision_time import cluster

SIZES: Final = (10, 100, 1000)  # jobs, four GPUs each
EVERY_SECONDS: Final = 15.0
OUTCOMES: Final = 2000
EFFORT: Final = Effort(horizon_seconds=24 * 3600)


def main(sizes: tuple[int, ...]) -> None:
    for jobs in sizes:
        state = cluster(jobs, 4 * jobs)
        ended = PastJob(job=state.jobs[0], samples=1e6, run_seconds=1000.0)
        past = RecentPast(ended=(ended,) * 30, arrivals_per_second=jobs / 3600, arrivals_seen=jobs)
        replays, plans = affordable(state, past, EFFORT)
        began = process_time()
        predict(state, past=past, effort=EFFORT)
        predicted = process_time()
        corrections(outcome(number) for number in range(OUTCOMES))
        corrected = process_time()
        worked, rest = corrected - began, rest_seconds(corrected - began)
        share = worked / (worked + max(rest, EVERY_SECONDS))
        sys.stdout.write(
            f"{jobs:5} jobs: {replays} replays of {plans} plans in {predicted - began:.1f} s,"
            f" correction {corrected - predicted:.3f} s, then {rest:.0f} s of rest:"
            f" {share:.0%} of a core, predictions up to {2 * worked + rest:.0f} s old\n"
        )
        sys.stdout.flush()


def outcome(number: int) -> ReplayOutcome:
    return ReplayOutcome(
        job_id=f"job{number // 4}",
        basis=list(Basis)[number % 4],
        made_at=0.0,
        replayed=Range(p10=80.0, p50=100.0, p90=120.0),
        until=50.0 + number % 100,
    )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
