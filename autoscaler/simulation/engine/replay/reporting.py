"""What is written down of a job when the simulation is over?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.simulation.engine.results.records import JobRecord
from autoscaler.simulation.engine.truth.isolation import isolated_seconds

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob
    from autoscaler.simulation.engine.replay.world import ReplayedCluster


def record_of(job: ReplayedJob, world: ReplayedCluster) -> JobRecord:
    job.advance(world.now)
    seen, settings = job.submission, world.settings
    pool = next(pool for pool in settings.pools if pool.name == seen.pool)
    contention = world.recorder.mean_contention(job, world.now)
    gpus = sum(node.gpus for node in pool.nodes)
    return JobRecord(
        name=seen.name,
        job_id=seen.job_id,
        team=seen.team,
        pool=seen.pool,
        profile=job.profile.name,
        submitted_at=seen.submitted_at,
        first_started_at=job.first_started_at,
        finished_at=job.finished_at,
        dropped_at=job.dropped_at,
        rescales=job.rescales,
        pauses=job.pauses,
        losses=job.losses,
        stall_seconds=job.stall_seconds,
        gpu_seconds=job.gpu_seconds,
        samples=job.samples,
        samples_done=job.done,
        deadline=seen.deadline,
        mean_contention=contention,
        isolated_seconds=isolated_seconds(
            seen,
            job.profile,
            pool,
            samples=job.samples,
            gpus=gpus / contention,
            counts_noise=settings.statistical_efficiency,
        ),
        history=tuple(job.history),
    )
