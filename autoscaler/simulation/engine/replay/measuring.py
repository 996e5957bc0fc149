"""What does the planner get to know of a job's speed? Fits of what its workers would report.

A configuration counts as measured after a few undisturbed steps. The error of its mean step time
is drawn once per job and configuration, from a seed made of their names: it does not depend on
what else happens in the simulation.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.fitting.earlier_run import fit_with_earlier
from autoscaler.planning.fitting.handing_on import handed_on
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.simulation.engine.replay.settings import Knowledge
from autoscaler.simulation.engine.truth.profiles import step_seconds

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedJob, PlannedPool
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.truth.profiles import Profile

_SMALLEST_ERROR: Final = 0.05  # no drawn step time is below this fraction of the true one


@dataclass(slots=True, kw_only=True)
class Measuring:
    """What is known of one job: `scaling`, as the snapshot carries it.

    `is_given`: the numbers of the model are known from elsewhere; measuring only widens the range
    they are believed for. `earlier`: what an earlier run of the same training knew in the end.
    """

    job: PlannedJob
    profile: Profile
    pool: PlannedPool
    settings: Settings
    scaling: ScalingModel | None = None
    is_given: bool = False
    earlier: tuple[StepTime, ...] = ()
    _found: tuple[StepTime, ...] = ()
    _known: set[tuple[int, int, int]] = field(default_factory=set)

    def note(self, allocation: Allocation, undisturbed_seconds: float) -> None:
        """Take this configuration down, if it has run for long enough."""
        if not self.job.is_measurable:
            return
        workers, nodes = allocation.workers, len(allocation.workers_by_node)
        key = (workers, min(nodes, 2), allocation.global_batch_size)
        if key in self._known:
            return
        seconds = step_seconds(
            self.profile,
            self.job.batch,
            workers=workers,
            crosses_nodes=nodes > 1,
            batch=allocation.global_batch_size,
        )
        if undisturbed_seconds < self.settings.measured_after_steps * seconds:
            return
        self._known.add(key)
        self._learn(
            StepTime(
                workers=workers,
                nodes=nodes,
                global_batch_size=allocation.global_batch_size,
                steps=self.settings.measured_after_steps,
                step_seconds=seconds * self._error(key),
                gpu_type=self.pool.gpu_type,
            )
        )

    def _learn(self, new: StepTime) -> None:
        if self.is_given and self.scaling is not None:
            self.scaling = replace(
                self.scaling,
                measured_workers=max(self.scaling.measured_workers, new.workers),
                measured_batch=max(self.scaling.measured_batch, new.global_batch_size),
            )
            return
        self._found = (*self._found, new)
        self.scaling = self._fitted()

    @property
    def found(self) -> tuple[StepTime, ...]:
        """What it hands on to the next run of the same training, the newest last."""
        return tuple(handed_on(self._found, self.earlier))

    def follow(self, before: Measuring) -> None:
        """Begin with what an earlier run of the same training knows."""
        if self.scaling is None:
            self.earlier = before.found
            self.scaling = self._fitted()

    def _fitted(self) -> ScalingModel | None:
        return fit_with_earlier(
            self._found,
            self.earlier,
            gpu_type=self.pool.gpu_type,
            model_bytes=self.job.model_bytes,
            batch=self.job.batch,
            all_reduce=self.pool.all_reduce,
        )

    def _error(self, key: tuple[int, int, int]) -> float:
        if not self.settings.measurement_noise:
            return 1.0
        seed = f"{self.settings.seed} {self.job.job_id} {key}"
        drawn = random.Random(seed).gauss(0, self.settings.measurement_noise)
        return max(1 + drawn, _SMALLEST_ERROR)


def measuring_of(job: PlannedJob, profile: Profile, settings: Settings) -> Measuring:
    """Return what is known of a new job: what its snapshot says; everything, with an oracle."""
    pool = next(pool for pool in settings.pools if pool.name == job.pool)
    scaling = job.scaling
    if settings.knowledge is Knowledge.ORACLE:
        scaling = ScalingModel(
            throughput=profile.model,
            measured_workers=job.max_workers,
            measured_batch=job.batch.maximum,
        )
    return Measuring(
        job=job,
        profile=profile,
        pool=pool,
        settings=settings,
        scaling=scaling,
        is_given=scaling is not None,
    )
