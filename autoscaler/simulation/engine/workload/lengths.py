"""How long are jobs? Distributions of the seconds they take on one GPU with the fastest batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from autoscaler.simulation.engine.truth.isolation import seconds_per_sample

if TYPE_CHECKING:
    import random

    from autoscaler.simulation.engine.truth.profiles import Profile


class LengthDistribution(Protocol):
    """A distribution of lengths, which may depend on the kind of job."""

    def mean_seconds(self, profile: Profile) -> float: ...

    def draw(self, profile: Profile, chance: random.Random) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """Anything between two lengths, equally likely."""

    shortest: float = 600.0
    longest: float = 3600.0

    def mean_seconds(self, profile: Profile) -> float:  # noqa: ARG002 - the same for all
        return (self.shortest + self.longest) / 2

    def draw(self, profile: Profile, chance: random.Random) -> float:  # noqa: ARG002
        return chance.uniform(self.shortest, self.longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormal:
    """Many short jobs and a few very long ones, as production traces have."""

    median: float = 1800.0
    sigma: float = 1.2  # of the natural logarithm

    def mean_seconds(self, profile: Profile) -> float:  # noqa: ARG002 - the same for all
        return self.median * math.exp(self.sigma**2 / 2)

    def draw(self, profile: Profile, chance: random.Random) -> float:  # noqa: ARG002
        return self.median * math.exp(chance.gauss(0, self.sigma))


@dataclass(frozen=True, slots=True, kw_only=True)
class FullRuns:
    """Every job trains as long as the measured application did, times a factor."""

    factor: float = 1.0

    def mean_seconds(self, profile: Profile) -> float:
        return self.factor * profile.samples * seconds_on_one_gpu(profile)

    def draw(self, profile: Profile, chance: random.Random) -> float:  # noqa: ARG002
        return self.mean_seconds(profile)


def seconds_on_one_gpu(profile: Profile) -> float:
    """Per sample of work, with the fastest batch, every sample counting."""
    return seconds_per_sample(
        profile, profile.batch, workers=1, crosses_nodes=False, counts_noise=False
    )
