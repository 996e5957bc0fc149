"""What does the planner get to know of a job's speed? Step times as its workers would report them.

A configuration counts as measured after a few undisturbed steps. The error of its mean step time
is drawn once per job and configuration, from a seed made of their names: it does not depend on
what else happens in the simulation.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from autoscaler.planning.batch import feasible_batches
from autoscaler.planning.cluster_state import Allocation, Measurement
from autoscaler.simulation.profiles import Profile, step_seconds
from autoscaler.simulation.settings import Knowledge, Settings

if TYPE_CHECKING:
    from autoscaler.planning.cluster_state import BatchRange
    from autoscaler.simulation.simulated_job import SimulatedJob

_SMALLEST_ERROR = 0.05  # no drawn step time is below this fraction of the true one
_ORACLE_STEPS = 1000
_ORACLE_SIZES = ((1, False), (2, False), (4, False), (4, True), (16, True), (64, True))


@dataclass(slots=True, kw_only=True)
class Measuring:
    """The measurements of one job, in the order they were made."""

    settings: Settings
    found: tuple[Measurement, ...] = ()
    _known: set[tuple[int, bool, int]] = field(default_factory=set)

    def note(self, job: SimulatedJob) -> None:
        """Take down the present configuration if it has run for long enough, up to `updated_at`."""
        allocation = job.trains_with
        if job.ready_at is not None or allocation is None:
            return
        crosses = len(allocation.workers_by_node) > 1
        key = (allocation.workers, crosses, allocation.global_batch_size)
        if key in self._known:
            return
        seconds = step_seconds(
            job.profile,
            job.submission.batch,
            workers=allocation.workers,
            crosses_nodes=crosses,
            batch=allocation.global_batch_size,
        )
        steps = self.settings.measured_after_steps
        if job.updated_at - job.steady_since < steps * seconds:
            return
        self._known.add(key)
        seconds *= self._error(job.submission.job_id, key)
        self.found = (*self.found, _measurement(allocation, steps, seconds))

    def _error(self, name: str, key: tuple[int, bool, int]) -> float:
        if not self.settings.measurement_noise:
            return 1.0
        source = random.Random(f"{self.settings.seed} {name} {key}")  # noqa: S311 - no secret
        return max(1 + source.gauss(0, self.settings.measurement_noise), _SMALLEST_ERROR)


def measuring_of(
    settings: Settings, profile: Profile, rules: BatchRange, found: tuple[Measurement, ...] = ()
) -> Measuring:
    """What is known of a job that arrives; everything, with an oracle."""
    if settings.knowledge is Knowledge.ORACLE:
        return Measuring(settings=settings, found=exact_measurements(profile, rules))
    known = {(m.workers, m.nodes > 1, m.global_batch_size) for m in found}
    return Measuring(settings=settings, found=found, _known=known)


@lru_cache(maxsize=4096)
def exact_measurements(profile: Profile, rules: BatchRange) -> tuple[Measurement, ...]:
    """True step times on a grid of sizes, with the smallest, a middle and the largest batch."""
    return tuple(
        Measurement(
            workers=workers,
            nodes=1 + crosses,
            global_batch_size=batch,
            steps=_ORACLE_STEPS,
            step_seconds=step_seconds(
                profile, rules, workers=workers, crosses_nodes=crosses, batch=batch
            ),
        )
        for workers, crosses in _ORACLE_SIZES
        for batch in _spread(feasible_batches(rules, workers=workers, at_most=rules.maximum))
    )


def _spread(batches: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({batches[0], batches[len(batches) // 2], batches[-1]})) if batches else ()


def _measurement(allocation: Allocation, steps: int, seconds: float) -> Measurement:
    return Measurement(
        workers=allocation.workers,
        nodes=len(allocation.workers_by_node),
        global_batch_size=allocation.global_batch_size,
        steps=steps,
        step_seconds=seconds,
    )
