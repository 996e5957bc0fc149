"""What is not known of the present, and how far off may it be? Drawn anew for each replay.

- how fast each job truly is: the throughput model's numbers from their fitted distribution, so
  that a job that was measured little is uncertain by much;
- how much work it has left (`lengths`);
- how long it stands still when it changes;
- who else will come: copies of jobs that came lately, at a rate they make likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.prediction.lengths import KnownLengths, samples_in_all
from autoscaler.simulation.engine.truth.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
    from autoscaler.planning.speed.scaling import ScalingModel
    from autoscaler.simulation.engine.prediction.past import PastJob, RecentPast

_OTHER_JOB_ERROR: Final = 0.3  # guessed: one job says so much about another, in logarithms
_STALL_ERROR: Final = 0.3  # guessed: of a change, in logarithms
_LARGEST_ERROR: Final = 1.5  # drawn logarithms move no further than a factor of 4.5
_MOST_ARRIVALS: Final = 100  # guessed: who comes after them hardly delays a job that is here now
_ARRIVALS_PER_JOB: Final = 2  # as many at least, where many are here


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One way things may be: a profile and the work left of every job, and who will come."""

    profiles: dict[str, Profile]
    samples: dict[str, float]
    arrivals: tuple[PlannedJob, ...]


def draw(
    state: ClusterState, past: RecentPast, rng: np.random.Generator, *, horizon_seconds: float
) -> Draw:
    """One possible world. Jobs of which nothing at all is known are taken for like others."""
    coming = _arrivals(state, past, rng, horizon_seconds)
    known = _known(state, past)
    jobs = (*state.jobs, *(job for job, _ in coming))
    profiles = {job.job_id: _profile(job, known, rng) for job in jobs}
    lengths = KnownLengths.of(state, past)
    present = {job.job_id: lengths.left(job, profiles[job.job_id], rng) for job in state.jobs}
    return Draw(
        profiles=profiles,
        samples=present
        | {job.job_id: samples_in_all(one, profiles[job.job_id]) for job, one in coming},
        arrivals=tuple(job for job, _ in coming),
    )


def draw_own(
    state: ClusterState, past: RecentPast, rng: np.random.Generator, *, times: int
) -> list[Draw]:
    """Draw so many possible worlds, to which nobody else comes."""
    known, lengths = _known(state, past), KnownLengths.of(state, past)
    drawn = []
    for _ in range(times):
        profiles = {job.job_id: _profile(job, known, rng) for job in state.jobs}
        samples = {job.job_id: lengths.left(job, profiles[job.job_id], rng) for job in state.jobs}
        drawn.append(Draw(profiles=profiles, samples=samples, arrivals=()))
    return drawn


def expected_arrivals(past: RecentPast, *, jobs: int, horizon_seconds: float) -> float:
    """Return how many will come within the horizon; bounded, however often they do."""
    if not past.ended:
        return 0.0
    most = max(_MOST_ARRIVALS, _ARRIVALS_PER_JOB * jobs)
    return min(past.arrivals_per_second * horizon_seconds, most)


def is_predictable(job: PlannedJob, past: RecentPast) -> bool:
    """True if anything is known of how long the job takes."""
    return bool(past.ended) or (job.scaling is not None and job.remaining_samples is not None)


def _arrivals(
    state: ClusterState, past: RecentPast, rng: np.random.Generator, horizon_seconds: float
) -> tuple[tuple[PlannedJob, PastJob], ...]:
    """Return who comes until the horizon, or until so many came, and whose copy it is."""
    number = expected_arrivals(past, jobs=len(state.jobs), horizon_seconds=horizon_seconds)
    if number <= 0:
        return ()
    seconds = min(number / past.arrivals_per_second, horizon_seconds)
    if past.arrivals_seen:  # what is counted varies by its square root
        number *= rng.gamma(past.arrivals_seen) / past.arrivals_seen
    times = rng.uniform(0.0, seconds, rng.poisson(number))
    copied = [past.ended[index] for index in rng.integers(len(past.ended), size=len(times))]
    return tuple(
        (_copy(one.job, number, state.now + float(time)), one)
        for number, (time, one) in enumerate(zip(np.sort(times), copied, strict=True))
    )


def _copy(job: PlannedJob, number: int, submitted_at: float) -> PlannedJob:
    name = f"arrival {number}"  # no job is called so: names have no spaces
    return replace(
        job,
        job_id=name,
        name=name,
        phase=JobPhase.WAITING,
        submitted_at=submitted_at,
        ready_at=None,
    )


def _known(state: ClusterState, past: RecentPast) -> list[ScalingModel]:
    return [job.scaling for job in (*state.jobs, *(one.job for one in past.ended)) if job.scaling]


def _profile(job: PlannedJob, known: Sequence[ScalingModel], rng: np.random.Generator) -> Profile:
    """The truth about a job's speed, drawn around what is believed of it."""
    if not job.is_measurable:
        model = _UNREPORTED
    elif job.scaling is not None:
        model = _drawn(job.scaling, rng, more=0.0)
    elif known:
        model = _drawn(known[int(rng.integers(len(known)))], rng, more=_OTHER_JOB_ERROR)
    else:
        model = _UNKNOWN
    return Profile(
        name=job.name,
        model=model,
        batch=job.batch,
        samples=1.0,
        model_bytes=job.model_bytes,
        restart_seconds=job.stall_seconds * float(np.exp(rng.normal(0.0, _STALL_ERROR))),
    )


_UNKNOWN: Final = ThroughputModel(  # any will do: only the time it takes counts
    compute_fixed=0.0,
    compute_per_sample=1e-3,
    in_node_fixed=0.0,
    in_node_per_worker=0.0,
    cross_node_fixed=0.0,
    cross_node_per_worker=0.0,
    overlap=1.0,
)
_UNREPORTED: Final = replace(  # it takes as long as those before it, whatever sizes they had
    _UNKNOWN, compute_fixed=1.0, compute_per_sample=0.0
)


def _drawn(scaling: ScalingModel, rng: np.random.Generator, *, more: float) -> ThroughputModel:
    """`more` is an error common to all step times, for a model that is another job's."""
    theta = scaling.throughput.logarithms()
    error = scaling.error(rng.standard_normal(len(theta)))
    theta = theta + np.clip(error, -_LARGEST_ERROR, _LARGEST_ERROR)
    scale = np.full(len(theta), rng.normal(0.0, more) if more else 0.0)
    scale[-1] = 0.0  # the overlap has no unit
    return ThroughputModel.from_logarithms(theta + scale)
