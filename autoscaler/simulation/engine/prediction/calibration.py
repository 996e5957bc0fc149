"""How often does what comes fall into the range that was predicted? Found out by simulation.

A trace is replayed, and at some moments its present is predicted: from what the planner sees then,
from the jobs that have ended by then, and without a look at the trace. What comes of the trace
is held against it. Well calibrated is a share of 80 % within the 10 to 90 % range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.simulation.engine.prediction.prediction import Effort, predict
from autoscaler.simulation.engine.prediction.uncertainty import Past, PastJob
from autoscaler.simulation.engine.replay.simulator import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autoscaler.simulation.engine.prediction.prediction import Prediction, Range
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.replay.simulated_job import SimulatedJob
    from autoscaler.simulation.engine.workload.trace import Trace

ARRIVALS_WINDOW_SECONDS = 3600.0
PAST_JOBS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPrediction:
    """A range of one moment of a job, and the moment that came. Seconds on the trace's clock."""

    job_id: str
    is_start: bool  # else it is the finish
    made_at: float
    span: Range
    happened_at: float

    @property
    def ahead_seconds(self) -> float:
        return self.happened_at - self.made_at

    @property
    def is_early(self) -> bool:
        """It came before the range."""
        return self.span.p10 is None or self.happened_at < self.span.p10

    @property
    def is_late(self) -> bool:
        """It came after the range."""
        return not self.is_early and self.span.p90 is not None and self.happened_at > self.span.p90

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
    """Predict the trace at these moments, ascending, and tell all that came to pass afterwards."""
    simulation = Simulation.from_trace(trace, settings)
    made: list[tuple[float, Mapping[str, Prediction]]] = []
    for number, moment in enumerate(moments):
        simulation.run_until(moment)
        made.append((moment, _predicted(simulation, moment, effort or Effort(), seed + number)))
    simulation.run()
    jobs = {job.submission.job_id: job for job in simulation.world.jobs}
    return tuple(
        outcome
        for moment, predictions in made
        for prediction in predictions.values()
        for outcome in _outcomes(prediction, jobs[prediction.job_id], moment)
    )


def _predicted(
    simulation: Simulation, now: float, effort: Effort, seed: int
) -> Mapping[str, Prediction]:
    settings = simulation.settings
    return predict(
        simulation.present(),
        past=_past(simulation, now),
        rescale=settings.rescale,
        effort=effort,
        policies=settings.policies,
        seed=seed,
    )


def _past(simulation: Simulation, now: float) -> Past:
    """Return what a control loop would know: the jobs that ended last, and how often some came."""
    jobs = [job for job in simulation.world.jobs if job.submission.submitted_at <= now]
    ended = sorted(
        (job for job in jobs if job.finished_at is not None and job.finished_at <= now),
        key=lambda job: job.finished_at or 0.0,
    )
    window = min(max(now, 1.0), ARRIVALS_WINDOW_SECONDS)
    came = sum(job.submission.submitted_at > now - window for job in jobs)
    return Past(
        ended=tuple(map(_past_job, ended[-PAST_JOBS:])),
        arrivals_per_second=came / window,
        arrivals_seen=came,
        done={job.submission.job_id: job.done for job in jobs},
    )


def _past_job(job: SimulatedJob) -> PastJob:
    took = (job.finished_at or 0.0) - (job.first_started_at or 0.0)
    return PastJob(
        job=replace(job.submission, scaling=job.measuring.scaling),
        samples=job.samples,
        run_seconds=max(took, 1.0),
        declared_samples=job.submission.remaining_samples,
    )


def _outcomes(
    prediction: Prediction, job: SimulatedJob, moment: float
) -> Iterator[ScoredPrediction]:
    for is_start, span, happened_at in (
        (True, prediction.start, job.first_started_at),
        (False, prediction.finish, job.finished_at),
    ):
        if span is not None and happened_at is not None:
            yield ScoredPrediction(
                job_id=prediction.job_id,
                is_start=is_start,
                made_at=moment,
                span=span,
                happened_at=happened_at,
            )
