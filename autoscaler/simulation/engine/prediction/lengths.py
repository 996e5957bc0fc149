"""How much work does a job have left? Drawn from what it declares and from how long others were.

A declared length is wrong by as much as those of jobs that ended lately were. A length that nobody
knows is that of another job, and so is a number of samples of which nobody has timed any: one of
them may take a thousand times as long as one of another training. Jobs that still run count there
as well: each is longer than what it has done (Kaplan and Meier 1958). Without them short jobs,
which end first, would speak for all. Of either length only what is more than the job has done
already: one that trains on has not ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.simulation.engine.prediction.past import JobProgress
from autoscaler.simulation.engine.truth.profiles import Profile, step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
    from autoscaler.planning.speed.throughput import Column
    from autoscaler.simulation.engine.prediction.past import PastJob, RecentPast

_DECLARED_ERROR: Final = 0.05  # guessed: a script that counts its samples may still stop early
_SILVERMAN: Final = 1.06
_OTHER_JOB_ERROR: Final = 0.3  # guessed: one job says so much about another, in logarithms
_BEYOND_DECLARED: Final = (
    0.05  # guessed: of what it has done, left to a job longer than it declared
)
_BEYOND_ALL: Final = 1.0  # the same of one longer than any other: as much again, as a usual guess
_TRIES: Final = 100  # lengths are drawn, to find one that is more than what is done
_NONE_YET: Final = JobProgress()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Possible values and how likely each is."""

    values: Column
    shares: Column

    def draw(self, rng: np.random.Generator) -> Column:
        return rng.choice(self.values, _TRIES, p=self.shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLengths:
    """What is known of lengths, of all jobs together: made once, asked for each job."""

    past: RecentPast
    now: float
    factors: tuple[float, ...] = ()  # true lengths over declared ones
    seconds: dict[bool, Spread] = field(default_factory=dict)  # by whether a job reports steps

    @classmethod
    def of(cls, state: ClusterState, past: RecentPast) -> KnownLengths:
        declared = [one for one in past.ended if one.declared_samples and one.samples]
        return cls(
            past=past,
            now=state.now,
            factors=tuple(one.samples / (one.declared_samples or 1) for one in declared),
            seconds={reports: _seconds(state, past, reports=reports) for reports in (True, False)}
            if past.ended
            else {},
        )

    def left(self, job: PlannedJob, profile: Profile, rng: np.random.Generator) -> float:
        """The work left, in samples at the base batch."""
        progress = self.past.live.get(job.job_id, _NONE_YET)
        done = progress.samples
        if not job.is_measurable:
            done = _seconds_of(job, self.now) * smallest_speed(job, profile)
        declared = progress.declared_samples
        if declared is None and job.remaining_samples is not None:
            declared = job.remaining_samples + round(done)
        says_nothing = job.scaling is None and bool(self.seconds)  # samples of unknown speed
        if declared is not None and not says_nothing:
            totals, beyond = declared * self._declared_factors(rng), _BEYOND_DECLARED
        elif self.seconds:
            totals, beyond = self._like_others(job, profile, rng), _BEYOND_ALL
        else:
            return 1.0
        longer = totals[totals > done]
        left = float(longer[0]) - done if len(longer) else done * rng.exponential(beyond)
        return max(left, 1.0)

    def _declared_factors(self, rng: np.random.Generator) -> Column:
        """True lengths over declared ones: those of ended jobs, the fewer the more smoothed.

        By the usual width (Silverman 1986), so that a few true ones are no proof of all others.
        """
        known = np.log(self.factors or (1.0,))
        width = _SILVERMAN * max(known.std(), _DECLARED_ERROR) * len(known) ** -0.2
        return np.exp(rng.choice(known, _TRIES) + rng.normal(0.0, width, _TRIES))

    def _like_others(self, job: PlannedJob, profile: Profile, rng: np.random.Generator) -> Column:
        seconds = self.seconds[job.is_measurable].draw(rng)
        seconds = seconds * np.exp(rng.normal(0.0, _OTHER_JOB_ERROR, _TRIES))
        return np.asarray(seconds * smallest_speed(job, profile))


def samples_in_all(one: PastJob, profile: Profile) -> float:
    """The work of a job that came lately; if it reported none, so much that it takes as long."""
    return max(one.samples or one.run_seconds * smallest_speed(one.job, profile), 1.0)


def smallest_speed(job: PlannedJob, profile: Profile) -> float:
    """Samples per second at its smallest size and base batch."""
    base = job.batch.base
    return base / step_seconds(
        profile, job.batch, workers=job.min_workers, crosses_nodes=False, batch=base
    )


def spread_of(ended: Sequence[float], unfinished: Iterable[float]) -> Spread:
    """Return how likely each length is; of some it is only known that they are longer than so much.

    If the longest of all is unfinished, it is taken for half of what it will be.
    """
    known = sorted([(value, False) for value in ended] + [(value, True) for value in unfinished])
    values, shares, left = [], [], 1.0
    for place, (value, is_unfinished) in enumerate(known):
        if not is_unfinished:
            values.append(value)
            shares.append(left / (len(known) - place))
            left -= shares[-1]
    if known and known[-1][1]:
        values.append(2 * known[-1][0])
        shares.append(max(left, 0.0))
    weights = np.array(shares)
    return Spread(values=np.array(values), shares=weights / weights.sum())


def _seconds(state: ClusterState, past: RecentPast, *, reports: bool) -> Spread:
    """Return seconds at the smallest size; of scripts that report nothing only time is known."""
    alike = [one for one in past.ended if one.job.is_measurable == reports] or past.ended
    live = [_done_seconds(job, past, state.now) for job in state.jobs]
    longer = [
        seconds
        for job, seconds in zip(state.jobs, live, strict=True)
        if job.is_measurable == reports and seconds > 0
    ]
    return spread_of([_smallest_seconds(one) for one in alike], longer)


def _done_seconds(job: PlannedJob, past: RecentPast, now: float) -> float:
    if not job.is_measurable:
        return _seconds_of(job, now)
    samples = past.live.get(job.job_id, _NONE_YET).samples
    return _at_smallest_size(job, samples) if samples and job.scaling else 0.0


def _seconds_of(job: PlannedJob, now: float) -> float:
    """Return how long a job that reports nothing has been there since it started."""
    return 0.0 if job.started_at is None else max(now - job.started_at, 0.0)


def _smallest_seconds(one: PastJob) -> float:
    """Return the time it would have run at its smallest size; if unknown, the time it took."""
    if one.job.scaling is None or not one.samples:
        return one.run_seconds
    return _at_smallest_size(one.job, one.samples)


def _at_smallest_size(job: PlannedJob, samples: float) -> float:
    assert job.scaling is not None  # noqa: S101 - asked before
    model = job.scaling.throughput
    profile = Profile(name=job.name, model=model, batch=job.batch, samples=1.0)
    return samples / smallest_speed(job, profile)
