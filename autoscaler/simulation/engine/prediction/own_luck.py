"""When would a job end on the course that it took in a replay, had it other luck of its own?

Its course is what it held and when, and how far it came with that. A job that turns out twice as
long, or half as fast as in the replay, comes as far in the same time as its speed allows there, and
ends where its own work is done. What that would have changed for others is left out: so it serves
where jobs are so many that the luck of each hardly moves the rest, and a replay is dear.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from autoscaler.planning.speed.throughput import Configurations, log_step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autoscaler.planning.speed.throughput import Column, ThroughputModel
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob
    from autoscaler.simulation.engine.results.records import AllocationSpan


@dataclass(frozen=True, slots=True)
class _Leg:
    """One stretch of the course, as it went in the replay."""

    held: AllocationSpan
    seconds: float
    samples: float

    @property
    def ended_at(self) -> float:
        return self.held.since + self.seconds


def ends_with(
    job: ReplayedJob, models: Sequence[ThroughputModel], samples: Sequence[float]
) -> list[float | None]:
    """Return when it has made so many samples at the speed of each model; None: not in sight.

    `job` has come to its end, or was advanced to where the replay ended, and kept its history.
    Beyond that it goes on as it went last.
    """
    legs = list(_legs(job))
    ratios = _speed_ratios(job, legs, models).tolist()
    return [_end(job, legs, *luck) for luck in zip(ratios, samples, strict=True)]


def _legs(job: ReplayedJob) -> Iterator[_Leg]:
    """Those on which it held workers and got anywhere."""
    until = job.updated_at if job.finished_at is None else job.finished_at
    for span, after in pairwise((*job.history, None)):
        if span is None or not span.workers:
            continue
        end, done = (until, job.done) if after is None else (after.since, after.done)
        if end > span.since and done > span.done:
            yield _Leg(span, end - span.since, done - span.done)


def _speed_ratios(
    job: ReplayedJob, legs: Sequence[_Leg], models: Sequence[ThroughputModel]
) -> Column:
    """Return how many times as fast as the replayed job each model goes: a row each, by leg."""
    at = Configurations.of(
        workers=[leg.held.workers for leg in legs],
        crosses_nodes=[leg.held.nodes > 1 for leg in legs],
        global_batch=[leg.held.global_batch_size for leg in legs],
        micro_batch=job.submission.batch.max_per_gpu,
    )
    numbers = np.array([model.logarithms() for model in (job.profile.model, *models)])
    replayed, *others = log_step_seconds(numbers, at)
    ratios = np.exp(replayed - np.reshape(others, (len(models), len(legs))))
    return np.asarray(ratios, dtype=float)


def _end(
    job: ReplayedJob, legs: Sequence[_Leg], ratios: Sequence[float], wanted: float
) -> float | None:
    made = 0.0
    for leg, ratio in zip(legs, ratios, strict=True):
        made = ratio * leg.samples
        if made >= wanted:
            return leg.ended_at - leg.seconds * (1 - wanted / made)
        wanted -= made
    goes_on = job.holds_gpus or job.finished_at is not None
    if not legs or not goes_on:
        return None
    return legs[-1].ended_at + wanted * legs[-1].seconds / made
