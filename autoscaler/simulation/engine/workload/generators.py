"""A workload nobody recorded: which jobs, how long, how often, drawn from a seed."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from autoscaler.simulation.engine.workload.applications import (
    APPLICATIONS,
    BERT,
    CIFAR10,
    DEEPSPEECH2,
    IMAGENET,
    KINDS,
    NCF,
    YOLOV3,
)
from autoscaler.simulation.engine.workload.lengths import Uniform, seconds_on_one_gpu
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.arrivals import ArrivalProcess
    from autoscaler.simulation.engine.workload.lengths import LengthDistribution

Thing = TypeVar("Thing")
Mix = tuple[tuple["Profile", float], ...]  # kinds of jobs with their weights

SIX_APPLICATIONS: Final[Mix] = tuple((profile, 1.0) for profile in APPLICATIONS)
THREE_KINDS: Final[Mix] = tuple((profile, 1.0) for profile in KINDS)
# Full runs of the six, about as often as a production trace has jobs of their GPU time.
BY_GPU_TIME: Final[Mix] = (
    (CIFAR10, 0.36),
    (NCF, 0.36),
    (DEEPSPEECH2, 0.10),
    (BERT, 0.10),
    (YOLOV3, 0.06),
    (IMAGENET, 0.02),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRecipe:
    """A recipe for traces. It ends after `jobs` jobs or `seconds`, whichever is given or first.

    Users declare the true length times a factor drawn log-uniformly from `declared_factors`, and
    nothing at all with probability `undeclared`. `deadline_slack`: the deadline is the arrival
    plus a factor drawn from this range times the length on one GPU; None: no deadlines.
    """

    name: str = "synthetic"
    arrivals: ArrivalProcess
    jobs: int | None = None
    seconds: float | None = None
    mix: Mix = SIX_APPLICATIONS
    lengths: LengthDistribution = field(default_factory=Uniform)
    teams: tuple[tuple[str, float], ...] = (("research", 1.0),)
    pool: str = "default"
    min_workers: int = 1
    max_workers: int = 16
    requested_workers: tuple[int, ...] = (1, 2, 4)  # one of these, whatever users asked for
    declared_factors: tuple[float, float] = (1.0, 1.0)
    undeclared: float = 0.0
    deadline_slack: tuple[float, float] | None = None


def mean_length_seconds(mix: Mix, lengths: LengthDistribution) -> float:
    """E[length] over the mix, as the load is reckoned with."""
    total = sum(weight for _, weight in mix)
    return sum(weight * lengths.mean_seconds(profile) for profile, weight in mix) / total


def generate(workload: WorkloadRecipe, *, seed: int) -> Trace:
    """The trace of one seed. Job by job, so that a longer trace begins like a shorter one."""
    if workload.jobs is None and workload.seconds is None:
        raise ValueError("say how many jobs, or for how many seconds")
    chance = random.Random(f"{workload.name} {seed} arrivals")
    end = math.inf if workload.seconds is None else workload.seconds
    times = itertools.takewhile(lambda time: time < end, workload.arrivals.times(chance))
    return Trace(
        name=f"{workload.name}-{seed}",
        jobs=tuple(
            _job(workload, number, time, random.Random(f"{workload.name} {seed} {number}"))
            for number, time in enumerate(itertools.islice(times, workload.jobs))
        ),
    )


def _job(workload: WorkloadRecipe, number: int, time: float, chance: random.Random) -> TraceJob:
    profile = _drawn(workload.mix, chance)
    seconds = workload.lengths.draw(profile, chance)
    samples = max(seconds / seconds_on_one_gpu(profile), profile.batch.base)
    low, high = map(math.log, workload.declared_factors)
    factor = math.exp(chance.uniform(low, high))
    is_declared = chance.random() >= workload.undeclared
    slack = workload.deadline_slack
    return TraceJob(
        name=f"{profile.name}-{number:05}",
        team=_drawn(workload.teams, chance),
        pool=workload.pool,
        submitted_at=time,
        profile=profile,
        samples=samples,
        batch=profile.batch,
        declared_samples=max(round(samples * factor), 1) if is_declared else None,
        min_workers=workload.min_workers,
        max_workers=workload.max_workers,
        requested_workers=min(chance.choice(workload.requested_workers), workload.max_workers),
        deadline=None if slack is None else time + seconds * chance.uniform(*slack),
    )


def _drawn(weighted: Sequence[tuple[Thing, float]], chance: random.Random) -> Thing:
    things = [thing for thing, _ in weighted]
    return chance.choices(things, [weight for _, weight in weighted])[0]
