"""What does the planner see of a simulated job? Never more than the control loop would tell it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import JobPhase, PlannedJob
from autoscaler.planning.snapshot.job_terms import terms_of
from autoscaler.planning.snapshot.remaining_work import remaining_samples
from autoscaler.simulation.engine.replay.settings import Knowledge
from autoscaler.simulation.engine.replay.simulated_job import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob
    from autoscaler.simulation.engine.workload.trace import TraceJob


def submission_of(job: TraceJob, knowledge: Knowledge = Knowledge.MEASURED) -> PlannedJob:
    """The planner's first sight of a submission."""
    reports = knowledge is not Knowledge.NOTHING
    return PlannedJob(
        **terms_of(job),
        job_id=job.name,
        phase=JobPhase.WAITING,
        remaining_samples=job.declared_samples if reports else None,
        model_bytes=job.profile.model_bytes if reports else 0,
        is_measurable=reports,
    )


@dataclass(slots=True)
class Views:
    """The views of all jobs present. A waiting job looks the same until something happens to it."""

    # with the job's version
    _waiting: dict[str, tuple[int, PlannedJob]] = field(default_factory=dict)

    def of(self, jobs: Iterable[ReplayedJob], now: float) -> tuple[PlannedJob, ...]:
        return tuple(self._of(job, now) for job in jobs)

    def _of(self, job: ReplayedJob, now: float) -> PlannedJob:
        if job.holds_gpus:
            job.advance(now)
            job.measure()
            return view_of(job)
        name = job.submission.job_id
        version, view = self._waiting.get(name, (-1, job.submission))
        if version != job.version:
            view = view_of(job)
            self._waiting[name] = (job.version, view)
        return view


def view_of(job: ReplayedJob) -> PlannedJob:
    """The job as it stands after `advance(now)`."""
    seen = job.submission
    return replace(
        seen,
        phase=JobPhase.ACTIVE if job.holds_gpus else JobPhase.WAITING,
        allocation=job.allocation,
        target=None,
        started_at=seen.started_at if seen.started_at is not None else job.first_started_at,
        last_rescaled_at=(
            seen.last_rescaled_at if job.last_rescaled_at is None else job.last_rescaled_at
        ),
        waiting_since=job.waiting_since,
        rescales=seen.rescales + job.rescales,
        stall_seconds=job.settings.rescale.stall_seconds(job.profile),
        attained_gpu_seconds=seen.attained_gpu_seconds + job.gpu_seconds,
        remaining_samples=remaining_samples(seen.remaining_samples, job.done),
        can_rescale=job.stage in {Stage.RUNNING, Stage.WAITING} and not seen.can_pause,
        scaling=job.measuring.scaling,
        noise_scale=_noise_of(job),
    )


def _noise_of(job: ReplayedJob) -> float | None:
    if not job.settings.statistical_efficiency:
        return job.submission.noise_scale
    knows = (
        job.first_started_at is not None
        or job.settings.knowledge is Knowledge.ORACLE
        or bool(job.measuring.earlier)
    )
    return job.profile.noise_at(job.done / job.samples) if knows else None
