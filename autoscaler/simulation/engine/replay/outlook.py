"""What is left of a simulation, as far as it is in sight? Jobs yet to come, and those present."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.simulation.engine.results.records import WorkAhead
from autoscaler.simulation.engine.truth.isolation import isolated_seconds

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob
    from autoscaler.simulation.engine.replay.world import ReplayedCluster


@dataclass(slots=True, kw_only=True)
class Outlook:
    """Looks at each job that is present. Nothing happens after `ends_by`."""

    world: ReplayedCluster
    last_arrival: float
    ends_by: float
    _paces: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, world: ReplayedCluster, *, ends_by: float) -> Outlook:
        arrivals = (job.submission.submitted_at for job in world.jobs)
        return cls(world=world, last_arrival=max(arrivals, default=world.now), ends_by=ends_by)

    def ahead(self) -> WorkAhead:
        now = self.world.now
        last_arrival = min(self.last_arrival, self.ends_by)
        after = max(last_arrival, now)
        ends = [
            min(now + (job.samples - job.done) * self._pace_alone(job), self.ends_by)
            for job in self.world.present.values()
        ]
        return WorkAhead(
            present=len(ends),
            last_arrival=last_arrival,
            end=max((after, *ends)),
            job_seconds=sum(max(end - after, 0.0) for end in ends),
        )

    def _pace_alone(self, job: ReplayedJob) -> float:
        """Seconds per sample where it has its pool to itself, as the last jobs have."""
        seen, settings = job.submission, self.world.settings
        if seen.job_id not in self._paces:
            pool = next(pool for pool in settings.pools if pool.name == seen.pool)
            self._paces[seen.job_id] = isolated_seconds(
                seen,
                job.profile,
                pool,
                samples=1.0,
                gpus=max(sum(node.gpus for node in pool.nodes), 1),
                counts_noise=settings.statistical_efficiency,
            )
        return self._paces[seen.job_id]
