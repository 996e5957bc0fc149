"""What is not known of the present, and how far off may it be? Drawn anew for each replay.

- how fast each job truly is: the throughput model's numbers from their fitted distribution, so
  that a job that was measured little is uncertain by much;
- how much work it has left: its own count, wrong by as much as those of jobs that ended lately
  were; where the length is unknown, that of a job that ended lately. Of both only what is more than
  it has done already: a job that trains on has not ended;
- who else will come: copies of jobs that came lately, at a rate they make likely.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.truth.profiles import Profile, step_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.snapshot.cluster_state import ClusterState, Job
    from autoscaler.planning.speed.scaling import ScalingModel
    from autoscaler.planning.speed.throughput import Column

_LENGTH_ERROR: Final = 0.05  # guessed: a script that counts its samples may still stop early
_SMOOTHING: Final = 0.03  # guessed: between the errors of the jobs that ended
_OTHER_JOB_ERROR: Final = 0.3  # guessed: one job says so much about another, in logarithms
_BEYOND: Final = 0.05  # guessed: of what it has done, left to a job longer than was expected
_TRIES: Final = 100  # lengths are drawn, to find one that is more than what is done
_LARGEST_ERROR: Final = 1.5  # drawn logarithms move no further than a factor of 4.5
_MOST_ARRIVALS: Final = 100  # guessed: who comes after them hardly delays a job that is here now
_ARRIVALS_PER_JOB: Final = 2  # as many at least, where many are here


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJob:
    """A job that came lately, as it was submitted, and the work it turned out to be."""

    job: Job  # waiting, with its fitted model
    samples: float
    run_seconds: float  # from its first step to its end
    declared_samples: int | None = None  # how long it was said to be


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the near past says about the near future."""

    ended: tuple[PastJob, ...] = ()
    arrivals_per_second: float = 0.0
    arrivals_seen: int | None = None  # what the rate is counted from; None: it is known exactly
    done: Mapping[str, float] = field(default_factory=dict)  # samples of live jobs, by job id


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One way things may be: a profile and the work left of every job, and who will come."""

    profiles: dict[str, Profile]
    samples: dict[str, float]
    arrivals: tuple[Job, ...]


def draw(
    state: ClusterState, past: Past, rng: np.random.Generator, *, horizon_seconds: float
) -> Draw:
    """One possible world. Jobs of which nothing at all is known are taken for like others."""
    arrivals = _arrivals(state, past, rng, horizon_seconds)
    known = [job.scaling for job in (*state.jobs, *(one.job for one in past.ended)) if job.scaling]
    jobs = (*state.jobs, *(job for job, _ in arrivals))
    profiles = {job.job_id: _profile(job, known, rng) for job in jobs}
    present = {job.job_id: _samples(job, profiles[job.job_id], past, rng) for job in state.jobs}
    return Draw(
        profiles=profiles,
        samples=present | {job.job_id: samples for job, samples in arrivals},
        arrivals=tuple(job for job, _ in arrivals),
    )


def expected_arrivals(past: Past, *, jobs: int, horizon_seconds: float) -> float:
    """Return how many will come within the horizon; bounded, however often they do."""
    if not past.ended:
        return 0.0
    most = max(_MOST_ARRIVALS, _ARRIVALS_PER_JOB * jobs)
    return min(past.arrivals_per_second * horizon_seconds, most)


def is_predictable(job: Job, past: Past) -> bool:
    """True if anything is known of how long the job takes."""
    return bool(past.ended) or (job.scaling is not None and job.remaining_samples is not None)


def _arrivals(
    state: ClusterState, past: Past, rng: np.random.Generator, horizon_seconds: float
) -> tuple[tuple[Job, float], ...]:
    """Return who comes until the horizon, or until so many came, with the work it brings."""
    number = expected_arrivals(past, jobs=len(state.jobs), horizon_seconds=horizon_seconds)
    if number <= 0:
        return ()
    seconds = min(number / past.arrivals_per_second, horizon_seconds)
    if past.arrivals_seen:  # what is counted varies by its square root
        number *= rng.gamma(past.arrivals_seen) / past.arrivals_seen
    times = rng.uniform(0.0, seconds, rng.poisson(number))
    copied = [past.ended[index] for index in rng.integers(len(past.ended), size=len(times))]
    return tuple(
        (_copy(one.job, number, state.now + float(time)), max(one.samples, 1.0))
        for number, (time, one) in enumerate(zip(np.sort(times), copied, strict=True))
    )


def _copy(job: Job, number: int, submitted_at: float) -> Job:
    name = f"arrival {number}"  # no job is called so: names have no spaces
    return replace(job, job_id=name, name=name, phase=JobPhase.WAITING, submitted_at=submitted_at)


def _profile(job: Job, known: Sequence[ScalingModel], rng: np.random.Generator) -> Profile:
    """The truth about a job's speed, drawn around what is believed of it."""
    if job.scaling is not None:
        model = _drawn(job.scaling, rng, more=0.0)
    elif known:
        model = _drawn(known[int(rng.integers(len(known)))], rng, more=_OTHER_JOB_ERROR)
    else:
        model = _UNKNOWN
    return Profile(
        name=job.name, model=model, batch=job.batch, samples=1.0, model_bytes=job.model_bytes
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


def _drawn(scaling: ScalingModel, rng: np.random.Generator, *, more: float) -> ThroughputModel:
    """`more` is an error common to all step times, for a model that is another job's."""
    theta = scaling.throughput.logarithms()
    error = scaling.error(rng.standard_normal(len(theta)))
    theta = theta + np.clip(error, -_LARGEST_ERROR, _LARGEST_ERROR)
    scale = np.full(len(theta), rng.normal(0.0, more) if more else 0.0)
    scale[-1] = 0.0  # the overlap has no unit
    return ThroughputModel.from_logarithms(theta + scale)


def _samples(job: Job, profile: Profile, past: Past, rng: np.random.Generator) -> float:
    """The work left, in samples at the base batch."""
    done = past.done.get(job.job_id, 0.0)
    if job.remaining_samples is not None and job.remaining_samples <= 1 < done:
        return max(done * rng.exponential(_BEYOND), 1.0)
    if job.remaining_samples is not None:
        totals = (job.remaining_samples + done) * _length_factors(past, rng)
    elif past.ended:
        totals = _lengths(job, profile, past, rng)
    else:
        return 1.0
    longer = totals[totals > done]
    left = float(longer[0]) - done if len(longer) else done * rng.exponential(_BEYOND)
    return max(left, 1.0)


def _length_factors(past: Past, rng: np.random.Generator) -> Column:
    """True lengths over declared ones, many of them, as they were of the jobs that ended."""
    found = [one.samples / one.declared_samples for one in past.ended if one.declared_samples]
    if not found:
        return np.exp(rng.normal(0.0, _LENGTH_ERROR, _TRIES))
    return np.asarray(rng.choice(found, _TRIES) * np.exp(rng.normal(0.0, _SMOOTHING, _TRIES)))


def _lengths(job: Job, profile: Profile, past: Past, rng: np.random.Generator) -> Column:
    """Draw lengths for this job, in samples: as long as ended jobs took at smallest size."""
    seconds = rng.choice([_smallest_seconds(one) for one in past.ended], _TRIES)
    seconds = seconds * np.exp(rng.normal(0.0, _OTHER_JOB_ERROR, _TRIES))
    return np.asarray(seconds * _smallest_speed(job, profile))


def _smallest_seconds(one: PastJob) -> float:
    """Return the time it would have run at its smallest size; if unknown, the time it took."""
    if one.job.scaling is None:
        return one.run_seconds
    profile = Profile(
        name=one.job.name, model=one.job.scaling.throughput, batch=one.job.batch, samples=1.0
    )
    return one.samples / _smallest_speed(one.job, profile)


def _smallest_speed(job: Job, profile: Profile) -> float:
    """Samples per second at its smallest size and base batch."""
    base = job.batch.base
    return base / step_seconds(
        profile, job.batch, workers=job.min_workers, crosses_nodes=False, batch=base
    )
