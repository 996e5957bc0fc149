"""How often does what comes fall into the range that was predicted? Found out by simulation.

A trace is replayed, and at some moments its present is predicted: from what the planner sees then,
from the jobs that have ended by then, and without a look at the trace. What comes of the trace
is held against it. Well calibrated is a share of 80 % within the 10 to 90 % range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.simulation.engine.prediction.correction import (
    Basis,
    Correction,
    ReplayOutcome,
    basis_of,
    corrected,
    corrections,
)
from autoscaler.simulation.engine.prediction.past import JobProgress, PastJob, RecentPast
from autoscaler.simulation.engine.prediction.prediction import Effort, predict
from autoscaler.simulation.engine.replay.simulator import Replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autoscaler.planning.snapshot.cluster_state import ClusterState
    from autoscaler.simulation.engine.prediction.prediction import JobPrediction
    from autoscaler.simulation.engine.prediction.ranges import Range
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob
    from autoscaler.simulation.engine.workload.trace import Trace

ARRIVALS_WINDOW_SECONDS = 3600.0
PAST_JOBS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPrediction:
    """A range of one moment of a job, and the moment that came. Seconds on the trace's clock."""

    job_id: str
    is_start: bool  # else it is the finish
    made_at: float
    looked_until: float  # a percentile that is None lies later
    span: Range
    replayed: Range  # before it was corrected by what came of earlier ones
    happened_at: float

    @property
    def ahead_seconds(self) -> float:
        return self.happened_at - self.made_at

    @property
    def is_early(self) -> bool:
        """It came before the range."""
        return self.happened_at < (self.looked_until if self.span.p10 is None else self.span.p10)

    @property
    def is_late(self) -> bool:
        """It came after the range."""
        return not self.is_early and self.span.p90 is not None and self.happened_at > self.span.p90

    @property
    def says_nothing(self) -> bool:
        """All that was said is that it is far away, which it was."""
        return self.span.p10 is None and not self.is_early

    @property
    def is_held(self) -> bool:
        return not self.is_early and not self.is_late


def share_held(predicted: Sequence[ScoredPrediction]) -> float:
    return sum(one.is_held for one in predicted) / len(predicted)


def hold_against(
    trace: Trace,
    settings: Settings,
    *,
    moments: Iterable[float],
    effort: Effort | None = None,
    seed: int = 0,
) -> tuple[ScoredPrediction, ...]:
    """Predict the trace at these moments, ascending, and tell all that came to pass afterwards.

    Left out is what came later than was looked ahead, as it was said to: that is no range.
    """
    simulation, effort = Replay.from_trace(trace, settings), effort or Effort()
    made: list[_PastPrediction] = []
    for number, moment in enumerate(moments):
        simulation.run_until(moment)
        known = corrections(one.by(moment) for one in made)
        made += _made(simulation, effort, seed + number, known)
    simulation.run()
    scored = (
        ScoredPrediction(
            job_id=one.job.submission.job_id,
            is_start=one.basis is Basis.START,
            made_at=one.made_at,
            looked_until=one.made_at + effort.horizon_seconds,
            span=one.published,
            replayed=one.replayed,
            happened_at=happened_at,
        )
        for one in made
        if (happened_at := one.happened_at) is not None
    )
    return tuple(one for one in scored if not one.says_nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PastPrediction:
    """What was predicted of one moment of a job, before and after it was corrected."""

    job: ReplayedJob
    basis: Basis
    made_at: float
    replayed: Range
    published: Range

    @property
    def happened_at(self) -> float | None:
        return self.job.first_started_at if self.basis is Basis.START else self.job.finished_at

    def by(self, now: float) -> ReplayOutcome:
        """What has come of it by now."""
        happened_at = self.happened_at
        return ReplayOutcome(
            job_id=self.job.submission.job_id,
            basis=self.basis,
            made_at=self.made_at,
            replayed=self.replayed,
            until=now if happened_at is None else happened_at,
            has_happened=happened_at is not None,
        )


def _made(
    simulation: Replay, effort: Effort, seed: int, known: Mapping[Basis, Correction]
) -> Iterator[_PastPrediction]:
    state = simulation.present()
    replayed = _replayed(simulation, state, effort, seed)
    jobs = {job.submission.job_id: job for job in simulation.world.jobs}
    for job in state.jobs:
        for basis, span in (
            (Basis.START, replayed[job.job_id].start),
            (basis_of(job), replayed[job.job_id].finish),
        ):
            if span is not None:
                yield _PastPrediction(
                    job=jobs[job.job_id],
                    basis=basis,
                    made_at=state.now,
                    replayed=span,
                    published=corrected(span, known.get(basis), state.now),
                )


def _replayed(
    simulation: Replay, state: ClusterState, effort: Effort, seed: int
) -> Mapping[str, JobPrediction]:
    settings = simulation.settings
    return predict(
        state,
        past=_past(simulation, state.now),
        rescale=settings.rescale,
        effort=effort,
        policies=settings.policies,
        seed=seed,
    )


def _past(simulation: Replay, now: float) -> RecentPast:
    """Return what a control loop would know: the jobs that ended last, and how often some came."""
    jobs = [job for job in simulation.world.jobs if job.submission.submitted_at <= now]
    ended = sorted(
        (job for job in jobs if job.finished_at is not None and job.finished_at <= now),
        key=lambda job: job.finished_at or 0.0,
    )
    window = min(max(now, 1.0), ARRIVALS_WINDOW_SECONDS)
    came = sum(job.submission.submitted_at > now - window for job in jobs)
    return RecentPast(
        ended=tuple(map(_past_job, ended[-PAST_JOBS:])),
        arrivals_per_second=came / window,
        arrivals_seen=came,
        live={job.submission.job_id: _progress(job) for job in jobs},
    )


def _progress(job: ReplayedJob) -> JobProgress:
    if not job.submission.is_measurable:
        return JobProgress()
    return JobProgress(samples=job.done, declared_samples=job.submission.remaining_samples)


def _past_job(job: ReplayedJob) -> PastJob:
    took = (job.finished_at or 0.0) - (job.first_started_at or 0.0)
    return PastJob(
        job=replace(job.submission, scaling=job.measuring.scaling),
        samples=job.samples if job.submission.is_measurable else 0.0,
        run_seconds=max(took, 1.0),
        declared_samples=job.submission.remaining_samples,
    )
